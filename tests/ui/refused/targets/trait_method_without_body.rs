use retry_runtime::retry;

trait Model {
    #[retry(on = |_| true)]
    async fn complete(&self) -> Result<String, String>;
}

fn main() {}
