//! `#[retry]` on `impl` blocks that macros generate, under strict lints.

#![deny(warnings, missing_docs, clippy::all)]

use std::cell::Cell;

use retry_runtime::retry;

/// Counts its attempts.
#[derive(Debug, Default)]
pub struct Client<T>(Cell<u32>, T);

impl<T> Client<T> {
    fn fail(&self) -> Result<u32, u32> {
        crate::fail(&self.0)
    }
}

macro_rules! block {
    ($this:ident, $name:ident, $ty:ty, $returned:ty, $body:block, $max:expr) => {
        #[retry(max = $max, backoff = "none", on = |_| true)]
        impl Client<$ty> {
            /// Asks.
            pub fn $name(&$this) -> $returned $body

            /// Counts.
            #[must_use]
            pub fn count(&self) -> u32 {
                self.0.get()
            }
        }
    };
}

block!(self, ask, u32, Result<u32, u32>, { self.fail() }, 1 + 1);

macro_rules! whole {
    ($item:item) => {
        #[retry(max = 3, backoff = "none", on = |_| true)]
        $item
    };
}

whole! {
    impl Client<String> {
        const LIMIT: u32 = 2;

        /// Asks.
        pub async fn ask(&self) -> Result<u32, u32> {
            self.fail()
        }

        #[retry(max = Self::LIMIT)]
        fn limited(&self) -> Result<u32, u32> {
            self.fail()
        }
    }
}

macro_rules! methods {
    ($($method:tt)*) => {
        #[retry(max = 4, backoff = "none", on = |_| true)]
        impl<T> Client<Vec<T>> where T: Clone {
            $($method)*
        }
    };
}

methods! {
    /// Asks.
    pub fn ask(&self) -> Result<u32, u32> {
        self.fail()
    }

    #[cfg(any())]
    fn absent(&self) -> Absent {}

    #[retry(skip)]
    fn once(&self) -> Result<u32, u32> {
        self.fail()
    }
}

trait Named<T> {
    fn name(&self) -> Result<T, u32>;
}

#[retry_runtime::retry(backoff = "none", on = |_| true)]
impl<T> Named<T> for Client<()>
where
    T: From<u8>,
{
    fn name(&self) -> Result<T, u32> {
        self.fail().map(|_| T::from(3))
    }
}

#[tokio::main(flavor = "current_thread")]
pub(crate) async fn main() {
    let client = Client::<u32>::default();
    assert_eq!((client.ask(), client.count(), client.1), (Err(3), 3, 0));
    assert_eq!(Client::<String>::default().ask().await, Err(4));
    assert_eq!(Client::<String>::default().limited(), Err(3));
    assert_eq!(Client::<Vec<u32>>::default().ask(), Err(5));
    assert_eq!(Client::<Vec<u32>>::default().once(), Err(1));
    let name: Result<u64, u32> = Client::<()>::default().name();
    assert_eq!(name, Err(4));
}
