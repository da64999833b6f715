use retry_runtime::retry;

#[retry(wrapper = Retrying, on = |_: &String| true)]
trait Model {
    #[retry(skip, max = 3)]
    async fn complete(&self, prompt: &str) -> Result<String, String>;
}

fn main() {}
