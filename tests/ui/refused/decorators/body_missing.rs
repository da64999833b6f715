use retry_runtime::retry;

mod other {
    pub trait Model {
        fn complete(&self) -> Result<String, String>;
        fn again(&self) -> Result<String, String>;
    }
}

#[retry(wrapper = Retrying, of = other::Model, on = |_: &String| true)]
trait Model {
    #[retry(body)]
    fn complete(&self) -> Result<String, String>;

    #[retry(body = "again")]
    fn again(&self) -> Result<String, String> {
        self.inner().again()
    }
}

fn main() {}
