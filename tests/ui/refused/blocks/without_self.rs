use retry_runtime::{Kind, retry};

struct Client {
    retries: u32,
}

#[retry(max = self.retries, on = self::is_transient)]
impl Client {
    fn new(address: &str) -> Result<Self, String> {
        connect(address)
    }

    #[retry(max = 1)]
    fn with_key(address: &str, key: &str) -> Result<Self, String> {
        connect_with(address, key)
    }

    #[retry(skip)]
    fn local() -> Result<Self, String> {
        connect("localhost")
    }

    fn ask(&self) -> Result<String, String> {
        ask()
    }
}

fn main() {}
