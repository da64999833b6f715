use retry_runtime::retry;

#[retry(enabled = "false", on = |_| true)]
async fn fetch() -> Result<u32, String> {
    Ok(0)
}

fn main() {}
