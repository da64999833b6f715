use retry_runtime::retry;

use futures::stream::BoxStream;

#[retry(wrapper = Retrying, stream = "first", on = |_: &String| true)]
trait Store {
    fn changing(&mut self) -> BoxStream<'static, Result<u32, String>>;

    fn of_many(&self, names: &mut Vec<u32>, of: Vec<&str>, text: Cow<'_, str>) -> BoxStream<'static, Result<u32, String>>;
}
#[retry(wrapper = RetryingFuture, on = |_: &String| true)]
trait Future {
    fn changing(&mut self) -> BoxFuture<'static, Result<u32, String>>;

    fn of_many(&self, names: Names<'_>) -> Pin<Box<dyn Future<Output = Result<u32, String>> + Send>>;
}

fn main() {}
