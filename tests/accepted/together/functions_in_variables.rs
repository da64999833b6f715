//! Keys' functions in arguments, fields and variables. They are borrowed, so that every attempt can call them.

use std::cell::Cell;
use std::future::{Ready, ready};
use std::io::{self, ErrorKind};

use retry_runtime::own_loop::NextAttempt;
use retry_runtime::{retry, retrying};

struct Client<F> {
    is_retryable: F,
    attempts: Cell<u32>,
}

impl<F: Fn(&io::Error) -> bool> Client<F> {
    #[retry(max = 2, backoff = "none", on = self.is_retryable)]
    fn read(&self) -> io::Result<u32> {
        self.attempts.set(self.attempts.get() + 1);
        Err(ErrorKind::NotFound.into())
    }
}

#[retry(max = 3, backoff = "none", on = is_retryable, until = is_wanted, validate = check, before_retry = hook)]
async fn read(
    attempts: &Cell<u32>,
    is_retryable: impl Fn(&io::Error) -> bool,
    is_wanted: impl Fn(&u32) -> bool,
    check: impl Fn(&u32) -> io::Result<()>,
    hook: impl Fn(&io::Error, NextAttempt) -> Ready<()>,
) -> io::Result<u32> {
    attempts.set(attempts.get() + 1);
    match attempts.get() {
        1 => Err(ErrorKind::NotFound.into()),
        attempt => Ok(attempt),
    }
}

async fn read_twice(is_retryable: impl Fn(&io::Error) -> bool) -> io::Result<u32> {
    let attempts = Cell::new(0);
    let read = || {
        attempts.set(attempts.get() + 1);
        match attempts.get() {
            1 | 3 => Err(ErrorKind::NotFound.into()),
            attempt => Ok(attempt),
        }
    };
    let first = retrying!(backoff = "none", on = is_retryable, async { read() }).await?;
    let second = retrying!(backoff = "none", on = is_retryable, { read() })?;
    Ok(10 * first + second)
}

#[tokio::main(flavor = "current_thread", start_paused = true)]
pub(crate) async fn main() {
    let is_missing = |error: &io::Error| error.kind() == ErrorKind::NotFound;
    let client = Client {
        is_retryable: is_missing,
        attempts: Cell::new(0),
    };
    assert!(client.read().is_err());
    assert_eq!(client.attempts.get(), 3);

    let (attempts, hooks) = (Cell::new(0), Cell::new(0));
    let hook = |_: &io::Error, _| ready(hooks.set(hooks.get() + 1));
    let check = |value: &u32| match value {
        3 => Err(io::Error::other("odd")),
        _ => Ok(()),
    };
    let read = read(&attempts, is_missing, |value| *value > 2, check, hook).await;
    assert_eq!((read.unwrap(), hooks.get()), (4, 2));

    assert_eq!(read_twice(is_missing).await.unwrap(), 24);
}
