use retry_runtime::{TimedOut, retry};

#[retry(wrapper = Retrying, timeout = "10s", on = |_: &Failure| true)]
trait Model {
    async fn complete(&self, prompt: &str) -> Result<String, Failure>;

    fn embed(&self, text: &str) -> Result<u32, Failure>;
}

struct Failure;

impl From<TimedOut> for Failure {
    fn from(_: TimedOut) -> Self {
        Self
    }
}

fn main() {}
