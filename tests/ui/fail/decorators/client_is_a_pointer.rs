use std::io;
use std::sync::Arc;

use retry_runtime::{Policy, retry};

#[retry(wrapper = Retrying)]
trait Model {
    fn ask(&self) -> io::Result<String>;
}

mod other {
    use std::io;

    pub trait Store {
        fn get(&self) -> io::Result<u32>;
    }
}

#[retry(wrapper = RetryingStore, of = other::Store)]
trait Store {
    fn get(&self) -> io::Result<u32>;
}

fn boxed(model: Box<dyn Model>) -> Retrying<Box<dyn Model>> {
    Retrying::new(model)
}

fn shared(store: Arc<dyn other::Store>) -> RetryingStore<Arc<dyn other::Store>> {
    RetryingStore::with_policy(store, Policy::none())
}

fn main() {}
