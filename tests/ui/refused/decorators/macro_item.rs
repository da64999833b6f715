use retry_runtime::retry;

macro_rules! methods {
    () => {
        async fn embed(&self, text: &str) -> Result<u32, String>;
    };
}

#[retry(wrapper = Retrying, on = |_: &String| true)]
trait Model {
    async fn complete(&self, prompt: &str) -> Result<String, String>;

    methods!();
}

struct Client;

impl Model for Client {
    async fn complete(&self, prompt: &str) -> Result<String, String> {
        Ok(prompt.to_owned())
    }

    async fn embed(&self, _: &str) -> Result<u32, String> {
        Ok(3)
    }
}

fn main() {}
