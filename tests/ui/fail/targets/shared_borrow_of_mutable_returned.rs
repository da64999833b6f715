use retry_runtime::retry;

struct Pool {
    slots: Vec<u32>,
}

impl Pool {
    #[retry(on = |_| true)]
    fn slot(&mut self) -> Result<&u32, String> {
        self.slots.push(1);
        self.slots.first().ok_or_else(String::new)
    }
}

fn main() {}
