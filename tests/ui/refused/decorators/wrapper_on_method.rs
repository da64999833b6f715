use retry_runtime::retry;

#[retry(wrapper = Retrying, on = |_: &String| true)]
trait Model {
    #[retry(wrapper = RetryingOnce)]
    fn complete(&self) -> Result<String, String>;
}

fn main() {}
