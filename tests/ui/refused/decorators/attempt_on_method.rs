use retry_runtime::retry;

#[retry(wrapper = Retrying, on = |_: &String| true)]
trait Model {
    #[retry(attempt = attempt)]
    async fn complete(&self, prompt: &str) -> Result<String, String>;
}

fn main() {}
