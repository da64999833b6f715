use retry_runtime::retry;

mod other {
    pub trait Model<T> {
        fn complete(&self, prompt: T) -> Result<String, String>;
    }
}

#[retry(wrapper = Retrying, of = other::Model<u32>, on = |_: &String| true)]
trait Model {
    fn complete(&self, prompt: u32) -> Result<String, String>;
}

fn main() {}
