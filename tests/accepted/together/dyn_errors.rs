//! Boxed errors that are not `Send`. The future is `Send` nevertheless.

use std::error::Error;
use std::sync::atomic::{AtomicU32, Ordering};

use retry_runtime::retry;

#[retry(max = 2, base = "1ms", on = |error| error.to_string() == "overloaded")]
async fn complete(attempts: &AtomicU32) -> Result<u32, Box<dyn Error>> {
    attempts.fetch_add(1, Ordering::Relaxed);
    Err("overloaded")?;
    Ok(0)
}

#[retry(max = 2, base = "1ms", timeout = "1s", on = |error| error.to_string() == "overloaded")]
async fn complete_in_time(
    attempts: &AtomicU32,
) -> Result<Box<dyn Fn() -> u32>, Box<dyn Error + Send + Sync>> {
    if attempts.fetch_add(1, Ordering::Relaxed) < 2 {
        return Err("overloaded".into());
    }
    Ok(Box::new(|| 5))
}

#[retry(max = 2, backoff = "none", on = |error| error.downcast_ref::<std::fmt::Error>().is_some())]
fn blocking(attempts: &AtomicU32) -> Result<u32, anyhow::Error> {
    attempts.fetch_add(1, Ordering::Relaxed);
    Err(std::fmt::Error)?
}

#[tokio::main(flavor = "current_thread", start_paused = true)]
pub(crate) async fn main() {
    fn send<T: Send>(future: T) -> T {
        future
    }

    let attempts = AtomicU32::new(0);
    assert!(send(complete(&attempts)).await.is_err());
    assert_eq!(attempts.into_inner(), 3);

    let attempts = AtomicU32::new(0);
    assert_eq!(complete_in_time(&attempts).await.unwrap()(), 5);
    assert_eq!(attempts.into_inner(), 3);

    let attempts = AtomicU32::new(0);
    assert!(blocking(&attempts).is_err());
    assert_eq!(attempts.into_inner(), 3);
}
