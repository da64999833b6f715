use std::io;

use retry_runtime::retry;

#[retry(wrapper = Retrying, on = |_| true)]
trait Model {
    fn complete(&self) -> io::Result<u32>;

    fn last(&self) -> Option<io::Result<u32>>;

    fn provided(&self) -> Box<dyn Iterator<Item = io::Result<u32>>> {
        Box::new([Ok(3)].into_iter())
    }

    #[retry(skip)]
    fn skipped(&self) -> Option<io::Result<u32>>;
}

fn main() {}
