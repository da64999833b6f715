use retry_runtime::retry;

enum Retrying {}

#[retry(wrapper = Retrying, on = |_| true)]
trait Model {
    fn ask(&self) -> Result<u32, String>;
}

fn main() {}
