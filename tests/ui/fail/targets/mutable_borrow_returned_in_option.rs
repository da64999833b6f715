use retry_runtime::retry;

struct Pool {
    slots: Vec<u32>,
}

impl Pool {
    #[retry(on = |_| true)]
    fn slot(&mut self) -> Result<Option<&mut u32>, String> {
        Ok(self.slots.first_mut())
    }
}

fn main() {}
