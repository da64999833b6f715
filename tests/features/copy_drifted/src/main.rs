use retry_runtime::retry;

mod other {
    pub trait Store {
        fn get(&self, key: &str) -> Result<u32, String>;

        fn rename(&self, from: &str, to: &str) -> Result<u32, String> {
            self.get(from).and_then(|_| self.get(to))
        }
    }
}

#[retry(wrapper = RetryingStore, of = other::Store, on = |_: &String| true)]
trait Drifted {
    fn get(&self, key: &str) -> Result<u32, String>;
}

#[retry(wrapper = PartlyRetrying, of = other::Store, on = |_: &String| true)]
#[allow(clippy::missing_trait_methods)] // `rename` as the original has it
trait LeftOut {
    fn get(&self, key: &str) -> Result<u32, String>;
}

#[retry(wrapper = AllRetrying, of = other::Store, on = |_: &String| true)]
trait Whole {
    fn get(&self, key: &str) -> Result<u32, String>;
    fn rename(&self, from: &str, to: &str) -> Result<u32, String>;
}

impl other::Store for () {
    fn get(&self, key: &str) -> Result<u32, String> {
        key.parse().map_err(|_| key.to_owned())
    }
}

fn main() {
    use other::Store;

    let renamed = [
        RetryingStore::new(()).rename("1", "2"),
        PartlyRetrying::new(()).rename("1", "2"),
        AllRetrying::new(()).rename("1", "2"),
    ];
    assert!(renamed.iter().all(Result::is_ok));
}
