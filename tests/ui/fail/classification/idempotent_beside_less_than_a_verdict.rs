use std::time::Duration;

use retry_work::plan::Validity;
use retry_runtime::{Kind, Policy, on, retry, retrying};
use retry_work::{Plan, retry_each_blocking};

fn is_retryable(_: &String) -> bool {
    true
}

fn kind(_: &String) -> Kind {
    Kind::Transient
}

fn wait(_: &String) -> Option<Duration> {
    None
}

#[retry(max = 4, idempotent = false, on = |_| true)]
fn closure() -> Result<(), String> {
    Ok(())
}

#[retry(idempotent = false, on = is_retryable)]
async fn path() -> Result<(), String> {
    Ok(())
}

#[retry(idempotent = false, on = kind)]
async fn of_kind() -> Result<(), String> {
    Ok(())
}

#[retry(idempotent = false, on = wait)]
async fn hinted() -> Result<(), String> {
    Ok(())
}

#[retry(idempotent = false, on = on::any)]
async fn any() -> Result<(), String> {
    Ok(())
}

#[retry(idempotent = is_safe, on = on::mentions("overloaded"))]
async fn computed(is_safe: bool) -> Result<(), String> {
    Ok(())
}

struct Client;

#[retry(idempotent = false)]
impl Client {
    #[retry(on = is_retryable)]
    fn method(&self) -> Result<(), String> {
        Ok(())
    }
}

#[retry(wrapper = Retrying, idempotent = false, on = is_retryable)]
trait Model {
    fn complete(&self) -> Result<(), String>;
}

fn main() {
    let _: Result<u32, String> = retrying!(idempotent = false, on = is_retryable, { Ok(1) });
    let operation = || Ok::<_, String>(1);
    let _ = Policy::new().on(|_: &String| true).idempotent(false).call_blocking(operation);
    let _ = Policy::new().idempotent(false).on(kind).call_blocking(operation);
    let each = |items: Vec<u32>| Ok(items.into_iter().map(Ok::<_, String>).collect());
    let _ = retry_each_blocking(Policy::new().on(is_retryable).idempotent(false), [1], each);
    let mut plan = Plan::<(), String>::new();
    let policy = Policy::new().on(is_retryable).idempotent(false);
    drop(plan.run_until(policy, async |_| Validity::Valid));
}
