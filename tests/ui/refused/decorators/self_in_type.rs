use retry_runtime::retry;

struct Builder<T>(T);

#[retry(wrapper = Retrying, on = |_: &String| true)]
trait Model: Sized {
    fn builder(&self) -> Builder<&Self>;

    fn merge(&self, other: &Self) -> Result<(), String>;

    fn copy(&self) -> Result<Self, String>
    where
        Self: Clone;

    fn provided(&self) -> Builder<Self>
    where
        Self: Clone,
    {
        Builder(self.clone())
    }
}

fn main() {
    let _ = Builder(3).0;
}
