use futures::stream::BoxStream;
use retry_runtime::{retry, retrying};

#[retry(first = |item| is_text(item), on = |_| true)]
async fn no_stream() -> Result<String, String> {
    Ok(String::from("hello"))
}

#[retry(stream = "resume", attempt = attempt, first = |item| is_text(item), on = |_| true)]
fn resumed() -> BoxStream<'static, Result<String, String>> {
    open(attempt.yielded())
}

#[retry(stream, first = async |item| is_text(item), on = |_| true)]
fn waits() -> BoxStream<'static, Result<String, String>> {
    open()
}

#[retry(idle_timeout = "3s")]
async fn idle() -> std::io::Result<String> {
    Ok(String::from("hello"))
}

fn main() {
    retrying!(idle_timeout = "3s", async { read().await });
}
