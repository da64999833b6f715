use retry_runtime::retry;
use std::rc::Rc;

#[retry(on = |_| true)]
async fn complete() -> Result<String, String> {
    let counter = Rc::new(());
    std::future::ready(()).await;
    drop(counter);
    Ok(String::from("hello"))
}

fn spawn(_: impl Send) {}

fn main() {
    spawn(complete());
}
