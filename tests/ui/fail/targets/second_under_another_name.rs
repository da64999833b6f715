use retry_runtime::retry;
use retry_runtime::retry as again;

#[retry(max = 3, on = |_: &String| true)]
#[again(max = 3, on = |_: &String| true)]
fn fetch() -> Result<String, String> {
    Ok(String::new())
}

struct Client;

#[retry(max = 3, on = |_: &String| true)]
impl Client {
    #[again(max = 3, on = |_: &String| true)]
    async fn method(&self) -> Result<String, String> {
        fetch()
    }
}

#[retry(max = 3, on = |_: &String| true)]
#[again(max = 3, on = |_: &String| true)]
impl Client {
    async fn block(&self) -> Result<String, String> {
        self.method().await
    }
}

#[retry(wrapper = Retrying, max = 3, on = |_: &String| true)]
trait Model {
    async fn required(&self) -> Result<String, String>;

    #[again(max = 3, on = |_: &String| true)]
    async fn provided(&self) -> Result<String, String> {
        self.required().await
    }

    #[must_use = "a result"]
    async fn marked(&self) -> Result<String, String> {
        self.required().await
    }

    #[retry(skip)]
    #[again(max = 3, on = |_: &String| true)]
    async fn once(&self) -> Result<String, String> {
        self.required().await
    }
}

fn main() {
    let _ = Client.block();
}
