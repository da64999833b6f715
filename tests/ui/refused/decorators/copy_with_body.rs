use retry_runtime::retry;

mod other {
    pub trait Store {
        fn get(&self, key: &str) -> Result<u32, String>;

        fn get_all(&self, keys: &[&str]) -> Result<Vec<u32>, String> {
            keys.iter().map(|key| self.get(key)).collect()
        }
    }
}

#[retry(wrapper = Retrying, of = other::Store, on = |_: &String| true)]
trait Store {
    fn get(&self, key: &str) -> Result<u32, String>;

    fn get_all(&self, keys: &[&str]) -> Result<Vec<u32>, String> {
        keys.iter().map(|key| self.get(key)).collect()
    }
}

fn main() {}
