use retry_runtime::retry;

struct Pool {
    slots: Vec<u32>,
}

impl Pool {
    #[retry(on = |_| true)]
    async fn slot(&mut self) -> Result<&mut u32, String> {
        self.slots.first_mut().ok_or_else(String::new)
    }
}

fn main() {}
