use retry_runtime::retry;

#[retry(wrapper = Retrying<'a, C>, on = |_: &String| true)]
trait OneMore {
    async fn complete(&self, prompt: &str) -> Result<String, String>;
}

#[retry(wrapper = Retrying<T, C>, on = |_: &String| true)]
trait OfTheTrait<T> {
    async fn complete(&self, prompt: &str) -> Result<T, String>;
}

#[retry(wrapper = Retrying<C = Client>, on = |_: &String| true)]
trait WithDefault {
    async fn complete(&self, prompt: &str) -> Result<String, String>;
}

fn main() {}
