use futures::Stream;
use retry_runtime::retry;

fn check(_: &String) -> Result<(), String> {
    Ok(())
}

#[retry(stream = "buffer", validate = check, on = |_| true)]
fn complete() -> impl Stream<Item = Result<String, String>> {
    futures::stream::empty()
}

fn main() {}
