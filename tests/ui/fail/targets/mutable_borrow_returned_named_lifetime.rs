use retry_runtime::retry;

struct Pool {
    slots: Vec<u32>,
}

impl Pool {
    #[retry(on = |_| true)]
    async fn slot<'a>(&'a mut self) -> Result<&'a mut u32, String> {
        self.slots.first_mut().ok_or_else(String::new)
    }
}

fn main() {}
