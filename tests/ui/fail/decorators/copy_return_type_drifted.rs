use retry_runtime::retry;

mod other {
    pub trait Model {
        async fn complete(&self, prompt: &str) -> Result<String, String>;
    }
}

#[retry(wrapper = Retrying, of = other::Model, on = |_: &String| true)]
trait Model {
    async fn complete(&self, prompt: &str) -> Result<Vec<u8>, String>;
}

fn main() {}
