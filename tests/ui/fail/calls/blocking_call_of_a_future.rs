use std::io;

use retry_runtime::Policy;

async fn get(url: &str) -> io::Result<usize> {
    Ok(url.len())
}

fn main() {
    let _ = Policy::new().call_blocking(|| get("x"));
    let _ = Policy::new().name("get").call_blocking(|| get("x"));
    let _ = Policy::new().name("get").call_attempt_blocking(|_| get("x"));
}
