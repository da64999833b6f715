//! A `&mut` that doesn't borrow from a `&mut` argument may be returned.

use std::cell::Cell;

use retry_runtime::retry;

#[derive(Default)]
struct Client {
    attempts: Cell<u32>,
}

struct Arena(Cell<Option<Box<u32>>>);

impl Arena {
    fn allocate(&self) -> &mut u32 {
        Box::leak(self.0.take().unwrap())
    }
}

impl Client {
    #[retry(max = 2, backoff = "none", on = |_| true)]
    async fn parse<'a>(&mut self, arena: &'a Arena) -> Result<&'a mut u32, u32> {
        crate::third(&self.attempts)?;
        Ok(arena.allocate())
    }

    #[retry(max = 2, backoff = "none", on = |_| true)]
    fn leak(&mut self) -> Result<&'static mut u32, u32> {
        crate::third(&self.attempts)?;
        Ok(Box::leak(Box::new(7)))
    }
}

#[tokio::main(flavor = "current_thread")]
pub(crate) async fn main() {
    let mut client = Client::default();
    let arena = Arena(Cell::new(Some(Box::new(5))));
    assert_eq!(client.parse(&arena).await, Ok(&mut 5));
    assert_eq!(client.attempts.get(), 3);

    let mut client = Client::default();
    assert_eq!(client.leak(), Ok(&mut 7));
    assert_eq!(client.attempts.get(), 3);
}
