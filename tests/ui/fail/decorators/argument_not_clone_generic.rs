use retry_runtime::retry;

#[retry(wrapper = Retrying, on = |_: &String| true)]
trait Model {
    fn complete<P: Into<String>>(&self, prompt: P) -> Result<String, String>;

    fn embed(&self, text: impl AsRef<str>) -> Result<u32, String>;
}

fn main() {}
