use retry_runtime::retry;

#[retry(budget = 5 + 5, on = |_| true)]
async fn complete() -> Result<String, String> {
    Ok(String::from("hello"))
}

struct Turns;

#[retry(budget = &turns, on = |_| true)]
async fn shared(turns: Turns) -> Result<String, String> {
    Ok(String::from("hello"))
}

fn main() {}
