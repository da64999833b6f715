use retry_runtime::retry;

struct Pool(Vec<u32>);

impl Pool {
    #[retry(on = |_: &String| true)]
    async fn slot(self: &mut Self) -> Result<&mut u32, String> {
        self.0.first_mut().ok_or_else(String::new)
    }
}

fn main() {}
