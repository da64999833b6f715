use retry_runtime::retry;

struct Switch;

#[retry(breaker = &switch)]
async fn complete(switch: Switch) -> std::io::Result<String> {
    Ok(String::from("hello"))
}

fn main() {}
