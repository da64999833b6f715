use retry_runtime::retry;

#[retry(wrapper = Retrying, on = |_: &String| true)]
trait Model: Sized {
    fn complete(&self) -> Result<u32, String>;

    #[retry(max = 5)]
    fn compare(&self, other: &Self) -> Result<bool, String> {
        Ok(self.complete()? == other.complete()?)
    }
}

fn main() {}
