//! `impl Trait` within a return type, and a `&mut` that doesn't borrow from a `&mut` argument.

use std::cell::Cell;
use std::fmt::Display;

use retry_runtime::retry;

#[retry(max = 2, backoff = "none", on = |_| true)]
fn nested(attempts: &Cell<u32>) -> Result<(Vec<impl Display + use<'_>>, u32), u32> {
    Ok((vec!["hello"], crate::third(attempts)?))
}

#[derive(Default)]
struct Reader {
    attempts: Cell<u32>,
}

struct Arena(Cell<Option<Box<u32>>>);

impl Arena {
    fn allocate(&self) -> &mut u32 {
        Box::leak(self.0.take().unwrap())
    }
}

impl Reader {
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
    assert_eq!(nested(&Cell::new(0)).unwrap().1, 3);

    let mut client = Reader::default();
    let arena = Arena(Cell::new(Some(Box::new(5))));
    assert_eq!(client.parse(&arena).await, Ok(&mut 5));
    assert_eq!(client.attempts.get(), 3);

    let mut client = Reader::default();
    assert_eq!(client.leak(), Ok(&mut 7));
    assert_eq!(client.attempts.get(), 3);
}
