//! Functions that a user's macro generates, with every fragment in an invisible group.

use std::cell::Cell;

use retry_runtime::retry;

macro_rules! client {
    ($vis:vis fn $name:ident($argument:ident: $ty:ty) -> $ret:ty $body:block max $max:expr) => {
        #[retry(max = $max, backoff = "none", on = |_| true)]
        $vis fn $name($argument: $ty) -> $ret $body
    };
    ($vis:vis async fn $name:ident($argument:ident: $ty:ty) -> $ret:ty $body:block max $max:literal) => {
        #[retry(max = $max, backoff = "none", on = |_| true)]
        $vis async fn $name($argument: $ty) -> $ret $body
    };
}

client! {
    pub(crate) fn blocking(attempts: &Cell<u32>) -> Result<u32, u32> {
        let never = crate::fail(attempts);
        Ok(never?)
    } max 1 + 1
}

client! {
    async fn complete(attempts: &Cell<u32>) -> Result<u32, u32> {
        let never = crate::fail(attempts);
        Ok(never?)
    } max 5
}

macro_rules! keys {
    ($key:ident, $backoff:literal, $on:expr, $value:ty, $error:ty, $pattern:pat, $body:expr) => {
        #[retry($key = 2, backoff = $backoff, on = $on)]
        async fn from_keys($pattern: &Cell<u32>) -> Result<$value, $error> {
            $body
        }
    };
}

keys!(max, "none", |error| *error < 9, u32, u32, attempts, {
    crate::fail(attempts)
});

macro_rules! attributed {
    ($(#[$attribute:meta])* fn $($rest:tt)*) => {
        $(#[$attribute])*
        fn $($rest)*
    };
}

attributed! {
    /// Counts.
    #[retry(max = 3, backoff = "none", on = |_| true)]
    fn whole_item(attempts: &Cell<u32>) -> Result<u32, u32> {
        crate::fail(attempts)
    }
}

macro_rules! on_item {
    ($item:item) => {
        #[retry(max = 3, backoff = "none", on = |_| true)]
        $item
    };
}

on_item! {
    fn put_on_an_item(attempts: &Cell<u32>) -> Result<u32, u32> {
        crate::fail(attempts)
    }
}

macro_rules! tokens {
    ($($token:tt)*) => {
        #[retry(max = 3, backoff = "none", on = |_| true)]
        $($token)*
    };
}

tokens! {
    async fn from_tokens(attempts: &Cell<u32>) -> Result<u32, u32> {
        crate::fail(attempts)
    }
}

struct Client(Cell<u32>);

macro_rules! method {
    ($this:ident, $name:ident, $body:block) => {
        impl Client {
            #[retry(max = 3, backoff = "none", on = |_| $this.0.get() < 3)]
            fn $name(&$this) -> Result<u32, u32> $body
        }
    };
}

method!(self, send, { crate::fail(&self.0) });

#[tokio::main(flavor = "current_thread")]
pub(crate) async fn main() {
    let attempts = || Cell::new(0);
    assert_eq!(blocking(&attempts()), Err(3));
    assert_eq!(complete(&attempts()).await, Err(6));
    assert_eq!(from_keys(&attempts()).await, Err(3));
    assert_eq!(whole_item(&attempts()), Err(4));
    assert_eq!(put_on_an_item(&attempts()), Err(4));
    assert_eq!(from_tokens(&attempts()).await, Err(4));
    assert_eq!(Client(attempts()).send(), Err(3));
}
