use retry_runtime::retry;

#[retry(wrapper = Retrying, on = |_: &String| true)]
trait Model {
    async fn embed(&self, texts: &[&str]) -> Result<u32, String>;

    async fn embed_range(&self, (from, to): (u32, u32)) -> Result<u32, String> {
        self.embed(&["hello"]).await.map(|size| size + to - from)
    }
}

fn main() {}
