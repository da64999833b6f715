//! Generic traits, associated types, generic methods, and supertraits.

use std::fmt::{Debug, Display};

use support::prelude::*;

use crate::decorators::Busy;

#[retry(wrapper = Retrying, backoff = "none", on = |_| true)]
trait Store<'s, K, const N: usize>: Debug + Named
where
    K: Clone + 's,
{
    type Item;
    type Borrowed<'a>: Display
    where
        Self: 'a;
    const LIMIT: usize = N;

    async fn get(&self, keys: [K; N]) -> Result<Self::Item, Busy>;
    fn borrow<'a>(&'a self, key: &K) -> Result<Self::Borrowed<'a>, Busy>;
    async fn convert<T, const M: usize>(&self, value: T) -> Result<[T; M], Busy>
    where
        T: Clone + Default + Copy;
    async fn parse<T: Default>(&self) -> Result<T, Busy>;
    async fn anything(&self, value: impl Display + Clone) -> Result<String, Busy>;
    fn key(&self) -> Option<&'s K>
    where
        Self: Sized;
    #[cfg(any())]
    async fn absent(&self, unknown: Unknown) -> Result<(), Busy>;
    #[cfg(not(any()))]
    async fn present(&self) -> Result<(), Busy>;
    #[deprecated = "use get"]
    async fn old(&self) -> Result<u32, Busy>;
}

trait Named {
    fn name(&self) -> String;
}

impl<C: Named> Named for Retrying<C> {
    fn name(&self) -> String {
        format!("retrying {}", self.inner().name())
    }
}

#[derive(Debug)]
struct Memory(Cell<u32>, String);

impl Named for Memory {
    fn name(&self) -> String {
        String::from("memory")
    }
}

impl Memory {
    fn fails(&self) -> Result<u32, Busy> {
        self.0.set(self.0.get() + 1);
        if self.0.get() < 3 {
            Err(Busy(self.0.get()))
        } else {
            Ok(self.0.replace(0))
        }
    }
}

impl<'s> Store<'s, String, 2> for Memory {
    type Item = String;
    type Borrowed<'a> = &'a str;

    fn borrow<'a>(&'a self, key: &String) -> Result<&'a str, Busy> {
        assert!(key.is_empty());
        self.fails().map(|_| &*self.1)
    }

    async fn convert<T, const M: usize>(&self, value: T) -> Result<[T; M], Busy>
    where
        T: Clone + Default + Copy,
    {
        self.fails().map(|_| [value; M])
    }

    async fn parse<T: Default>(&self) -> Result<T, Busy> {
        self.fails().map(|_| T::default())
    }

    async fn anything(&self, value: impl Display + Clone) -> Result<String, Busy> {
        self.fails().map(|_| value.to_string())
    }

    scripted! {
        async fn get(&self, keys: [String; 2]) -> Result<String, Busy> = self.fails().map(|_| keys.concat());
        fn key(&self) -> Option<&'s String> = None;
        async fn present(&self) -> Result<(), Busy> = self.fails().map(|_| ());
        async fn old(&self) -> Result<u32, Busy> = self.fails();
    }
}

#[tokio::test]
async fn generic_traits_and_methods() {
    let store = Retrying::new(Memory(Cell::new(0), String::from("stored")));
    let keys = ["a", "b"].map(String::from);
    assert_eq!(store.get(keys).await.as_deref(), Ok("ab"));
    assert_eq!(store.borrow(&String::new()), Ok("stored"));
    assert_eq!(store.convert::<u8, 3>(7).await, Ok([7, 7, 7]));
    assert_eq!(store.parse::<u16>().await, Ok(0));
    assert_eq!(store.anything(7).await.as_deref(), Ok("7"));
    assert_eq!(store.key(), None);
    assert_eq!(store.present().await, Ok(()));
    #[expect(deprecated, reason = "the attribute must survive")]
    let old = store.old().await;
    assert_eq!(old, Ok(3));
    assert_eq!(store.name(), "retrying memory");
    assert_eq!(<Retrying<Memory> as Store<'_, String, 2>>::LIMIT, 2);
}
