use std::sync::Arc;

use retry_runtime::retry;

#[retry(wrapper = Retrying)]
trait Model {
    #[retry(skip)]
    fn share(self: Arc<Self>) -> u32;
}

fn main() {}
