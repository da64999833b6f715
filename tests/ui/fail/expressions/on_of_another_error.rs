use retry_runtime::retrying;

struct Refused;
struct Missing;

fn is_retryable(_: &Refused) -> bool {
    true
}

fn read() -> Result<String, Missing> {
    Err(Missing)
}

async fn complete() -> Result<String, Missing> {
    retrying!(on = is_retryable, async { read() }).await
}

fn main() {}
