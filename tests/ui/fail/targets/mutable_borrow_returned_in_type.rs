use retry_runtime::retry;

struct Pool {
    slots: Vec<u32>,
}

impl Pool {
    #[retry(on = |_| true)]
    fn slots(&mut self) -> Result<std::slice::IterMut<'_, u32>, String> {
        Ok(self.slots.iter_mut())
    }
}

fn main() {}
