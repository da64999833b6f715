use retry_runtime::retry;

mod other {
    pub trait Model {
        async fn complete(&self, prompt: &str) -> Result<String, String>;
        async fn embed(&self, text: String, size: u64) -> Result<u32, String>;
    }
}

#[retry(wrapper = Retrying, of = other::Model, on = |_: &String| true)]
trait Model {
    async fn complete(&self, prompt: &str) -> Result<String, String>;
    async fn embed(&self, text: String, size: u32) -> Result<u32, String>;
}

fn main() {}
