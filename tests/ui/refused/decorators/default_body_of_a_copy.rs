use retry_runtime::retry;

mod other {
    pub trait Model {
        fn same(&self, other: &Self) -> Result<bool, String>;
    }
}

#[retry(wrapper = Retrying, of = other::Model, on = |_: &String| true)]
trait Model {
    #[retry(max = 5)]
    fn same(&self, other: &Self) -> Result<bool, String> {
        Ok(true)
    }
}

fn main() {}
