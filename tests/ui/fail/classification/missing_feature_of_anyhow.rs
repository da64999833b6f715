use retry_runtime::retry;

#[retry]
async fn complete() -> anyhow::Result<String> {
    Ok(String::from("hello"))
}

fn main() {}
