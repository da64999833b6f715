use retry_runtime::retry;

// Below, it turns what `#[retry]` has made into blocking code.
#[retry(max = 2, on = |_| true)]
#[maybe_async::maybe_async]
async fn fetch() -> Result<u32, String> {
    Err(String::from("busy"))
}

fn main() {
    let _ = fetch();
}
