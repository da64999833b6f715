use retry_runtime::retry;

mod other {
    pub trait Model {
        fn complete(&self) -> Result<String, String>;
    }
}

#[retry(wrapper = Retrying, of = other::Model, forward = [Box], on = |_: &String| true)]
trait Model {
    fn complete(&self) -> Result<String, String>;
}

fn main() {}
