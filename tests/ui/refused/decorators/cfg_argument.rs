use retry_runtime::retry;

#[retry(wrapper = Retrying, on = |_: &String| true)]
trait Model {
    async fn complete(
        &self,
        prompt: &str,
        #[cfg(not(any()))] temperature: f64,
    ) -> Result<String, String>;
}

fn main() {}
