use retry_runtime::retry;

#[retry(wrapper = Retrying, on = |_: &String| true)]
trait Model {
    fn complete(&self, prompt: &str) -> Result<String, String>;
}

struct Client;

fn main() {
    let _ = Retrying::new(Client).complete("hello");
}
