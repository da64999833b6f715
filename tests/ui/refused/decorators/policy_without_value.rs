use retry_runtime::retry;

#[retry(wrapper = RetryClient, policy)]
trait Client {
    fn get(&self) -> std::io::Result<String>;
}

fn main() {}
