use retry_runtime::retry;

struct Prompt(String);

#[retry(wrapper = Retrying, on = |_: &String| true)]
trait Model {
    async fn complete(&self, model: String, prompt: Prompt) -> Result<String, String>;
}

struct Client;

impl Model for Client {
    async fn complete(&self, model: String, prompt: Prompt) -> Result<String, String> {
        Ok(model + &prompt.0)
    }
}

fn main() {
    let _ = Retrying::new(Client);
}
