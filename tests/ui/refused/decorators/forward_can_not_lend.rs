use retry_runtime::retry;

use std::sync::Arc;

#[retry(wrapper = Retrying, forward = [Box, Arc], on = |_: &String| true)]
trait Model {
    fn complete(&mut self) -> Result<String, String>;

    #[retry(skip)]
    fn close(self);

    fn open() -> Self;

    fn count(&self) -> usize
    where
        Self: Sized;
}

fn main() {}
