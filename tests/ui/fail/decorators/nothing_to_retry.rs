use retry_runtime::retry;

#[retry(wrapper = RetryingNamed)]
trait Named {
    fn name(&self) -> &str;
}

fn main() {}
