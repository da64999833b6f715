use std::sync::atomic::AtomicBool;

use retry_runtime::{Policy, retry};

#[retry(cancel = stop, on = |_| true)]
async fn flag_on_async(stop: &AtomicBool) -> Result<(), String> {
    Err(String::from("busy"))
}

#[retry(cancel = stop(), on = |_| true)]
fn future_on_blocking() -> Result<(), String> {
    Err(String::from("busy"))
}

async fn stop() {}

async fn by_policy(stop: &AtomicBool) -> std::io::Result<()> {
    Policy::new().cancel(stop).call(async || Ok(())).await
}

fn main() {}
