use retry_runtime::retry;

#[retry(on = async |error| is_retryable(error))]
async fn on() -> Result<String, String> {
    Ok(String::from("hello"))
}

#[retry(until = async |value| is_good(value), on = |_| true)]
async fn until() -> Result<String, String> {
    Ok(String::from("hello"))
}

#[retry(until = |value| async move { is_good(value) }, on = |_| true)]
async fn until_with_a_block() -> Result<String, String> {
    Ok(String::from("hello"))
}

#[retry(give_up = async |gave_up| gave_up.into_error(), on = |_| true)]
async fn give_up() -> Result<String, String> {
    Ok(String::from("hello"))
}

#[retry(observe = async |event| println!("{event}"), on = |_| true)]
async fn observe() -> Result<String, String> {
    Ok(String::from("hello"))
}

#[retry(backoff = async |retry| delay(retry), on = |_| true)]
async fn backoff() -> Result<String, String> {
    Ok(String::from("hello"))
}

fn main() {}
