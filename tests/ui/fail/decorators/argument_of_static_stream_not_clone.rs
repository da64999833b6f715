use futures::stream::BoxStream;
use retry_runtime::retry;

struct Filter;

#[retry(wrapper = Retrying, stream = "first", on = |_: &String| true)]
trait Store {
    fn list(&self, filter: &Filter) -> BoxStream<'static, Result<u32, String>>;
}

fn main() {}
