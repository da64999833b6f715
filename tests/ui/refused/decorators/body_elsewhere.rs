use retry_runtime::retry;

#[retry(body, on = |_| true)]
fn function() -> Result<String, String> {
    Ok(String::new())
}

struct Client;

#[retry(max = 5, on = |_| true)]
impl Client {
    #[retry(body)]
    fn method(&self) -> Result<String, String> {
        Ok(String::new())
    }
}

#[retry(wrapper = Retrying, body, on = |_: &String| true)]
trait OnATrait {
    fn complete(&self) -> Result<String, String>;
}

#[retry(wrapper = RetryingOwn, on = |_: &String| true)]
trait NotACopy {
    #[retry(body)]
    fn complete(&self) -> Result<String, String> {
        Ok(String::new())
    }
}

fn main() {}
