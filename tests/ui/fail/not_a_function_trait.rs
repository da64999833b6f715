use retry_runtime::retry;

#[retry(on = |_| true)]
trait Model {
    fn complete(&self) -> Result<String, String>;
}

fn main() {}
