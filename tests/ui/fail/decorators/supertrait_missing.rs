use retry_runtime::retry;

trait Named {
    fn name(&self) -> String;
}

#[retry(wrapper = Retrying, on = |_: &String| true)]
trait Model: Named {
    fn complete(&self, prompt: &str) -> Result<String, String>;
}

struct Client;

impl Named for Client {
    fn name(&self) -> String {
        String::from("client")
    }
}

impl Model for Client {
    fn complete(&self, prompt: &str) -> Result<String, String> {
        Ok(prompt.to_owned())
    }
}

fn main() {
    let _ = Retrying::new(Client).complete("hello");
}
