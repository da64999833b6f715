use retry_runtime::retry;

#[retry(disabled, on = |_| true)]
async fn alone() -> Result<(), String> {
    Ok(())
}

#[retry(disabled = turned_off(), non_idempotent = true, on = |_| true)]
async fn with_values() -> Result<(), String> {
    Ok(())
}

fn main() {}
