use retry_runtime::Policy;
use retry_runtime::retry;

const POLICY: Policy = Policy::new();

#[retry(policy = &POLICY, throttled(max = 5), on = |_| true)]
async fn complete() -> Result<String, String> {
    Ok(String::from("hello"))
}

fn main() {}
