use futures::stream::BoxStream;
use retry_runtime::{TimedOut, retry};

#[retry(hedge = "200ms")]
fn blocking() -> std::io::Result<String> {
    Ok(String::from("hello"))
}

#[retry(stream = "first", hedge = "200ms")]
async fn stream() -> BoxStream<'static, std::io::Result<String>> {
    todo!()
}

#[retry(hedge = "200ms", idempotent = false)]
async fn not_idempotent() -> std::io::Result<String> {
    Ok(String::from("hello"))
}

#[retry(max = 0, hedge = "200ms")]
async fn without_retries() -> std::io::Result<String> {
    Ok(String::from("hello"))
}

struct Client(u32);

impl Client {
    #[retry(hedge = "200ms")]
    async fn mutable_self(&mut self) -> std::io::Result<u32> {
        self.0 += 1;
        Ok(self.0)
    }
}

#[retry(hedge = "200ms")]
async fn mutable_reference(log: &mut Vec<u32>) -> std::io::Result<()> {
    log.push(1);
    Ok(())
}

#[retry(hedge = "200ms")]
async fn mutable_argument(mut count: u32) -> std::io::Result<u32> {
    count += 1;
    Ok(count)
}

#[retry(hedge = "200ms")]
async fn mutable_part((mut count, limit): (u32, u32)) -> std::io::Result<u32> {
    count += limit;
    Ok(count)
}

fn main() {}
