use retry_runtime::retry;

#[retry(wrapper = Retrying, on = |_: &String| true)]
trait Model {
    async fn complete(&self, prompt: &str) -> Result<String, String>;

    async fn count(&self) -> u32;

    async fn shut_down(&self);
}

fn main() {}
