use retry_runtime::retry;

#[retry(wrapper = Retrying<C: Clone>, on = |_: &String| true)]
trait Model {
    fn complete(&self) -> Result<u32, String>;
}

struct Client;

impl Model for Client {
    fn complete(&self) -> Result<u32, String> {
        Ok(1)
    }
}

fn main() {
    let _ = Retrying::new(Client);
}
