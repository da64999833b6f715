use retry_runtime::retry;

#[retry(wrapper = Retrying, forward = Box, on = |_: &String| true)]
trait One {
    async fn complete(&self, prompt: &str) -> Result<String, String>;
}

#[retry(wrapper = RetryingOther, forward = [Box<T>], on = |_: &String| true)]
trait Other {
    async fn complete(&self, prompt: &str) -> Result<String, String>;
}

#[retry(wrapper = RetryingNone, forward = [], on = |_: &String| true)]
trait None {
    async fn complete(&self, prompt: &str) -> Result<String, String>;
}

#[retry(wrapper = RetryingGroup, forward = (Box), on = |_: &String| true)]
trait Group {
    async fn complete(&self, prompt: &str) -> Result<String, String>;
}

fn main() {}
