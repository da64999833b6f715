//! Decorators for traits of many shapes.

#![deny(warnings)]

use std::cell::Cell;

use retry_runtime::retry;

#[derive(Default)]
struct Flaky(Cell<u32>);

impl Flaky {
    fn answer(&self) -> Result<u32, u32> {
        crate::third(&self.0)
    }
}

/// A trait whose type parameter has the name that generated code would choose for the client's.
#[retry(wrapper = RetryingStore, backoff = "none", on = |_| true)]
trait Store<C, Client> {
    fn put(&self, key: C, value: Client) -> Result<u32, u32>
    where
        C: Clone,
        Client: Clone;

    fn get<Inner: Clone>(&self, key: &C, default: Inner) -> Result<(u32, Inner), u32>;
}

impl<C, Client> Store<C, Client> for Flaky {
    fn put(&self, _: C, _: Client) -> Result<u32, u32> {
        self.answer()
    }

    fn get<Inner: Clone>(&self, _: &C, default: Inner) -> Result<(u32, Inner), u32> {
        self.answer().map(|answer| (answer, default))
    }
}

/// # Safety
///
/// None is needed.
#[retry(wrapper = RetryingUnsafe, backoff = "none", on = |_| true)]
unsafe trait Raw {
    /// # Safety
    ///
    /// The pointer must be valid.
    unsafe fn read(&self, add: *const u32) -> Result<u32, u32>;

    /// # Safety
    ///
    /// The pointer must be valid.
    async unsafe fn read_later(&self, add: *const u32) -> Result<u32, u32>;

    /// # Safety
    ///
    /// The pointer must be valid.
    #[retry(skip)]
    unsafe fn read_once(&self, add: *const u32) -> Result<u32, u32>;
}

// SAFETY: the trait has no requirements.
unsafe impl Raw for Flaky {
    unsafe fn read(&self, add: *const u32) -> Result<u32, u32> {
        // SAFETY: the caller guarantees that the pointer is valid.
        self.answer().map(|answer| answer + unsafe { *add })
    }

    async unsafe fn read_later(&self, add: *const u32) -> Result<u32, u32> {
        // SAFETY: the caller guarantees that the pointer is valid.
        self.answer().map(|answer| answer + unsafe { *add })
    }

    unsafe fn read_once(&self, add: *const u32) -> Result<u32, u32> {
        // SAFETY: the caller guarantees that the pointer is valid.
        self.answer().map(|answer| answer + unsafe { *add })
    }
}

/// A trait that is dyn-compatible except for some of its methods.
#[retry(wrapper = RetryingSized, backoff = "none", on = |_| true)]
trait Model {
    fn complete(&self) -> Result<u32, u32>;

    async fn embed(&self) -> Result<u32, u32>
    where
        Self: Sized;

    fn named(self, name: &str) -> Self
    where
        Self: Sized;

    fn create() -> Result<Self, u32>
    where
        Self: Sized,
    {
        Err(0)
    }
}

impl Model for Flaky {
    fn complete(&self) -> Result<u32, u32> {
        self.answer()
    }

    async fn embed(&self) -> Result<u32, u32> {
        self.answer()
    }

    fn named(self, name: &str) -> Self {
        assert_eq!(name, "flaky");
        self
    }
}

macro_rules! model {
    ($(#[$attribute:meta])* $vis:vis trait $name:ident by $wrapper:ident {
        $(fn $method:ident(&self, $argument:ident: $ty:ty) -> $returned:ty;)*
    } max $max:expr) => {
        #[retry(wrapper = $wrapper, max = $max, backoff = "none", on = |_| true)]
        $(#[$attribute])*
        $vis trait $name {
            $(
                async fn $method(&self, $argument: $ty) -> $returned;
            )*
        }
    };
}

model! {
    /// A trait that a macro defines.
    trait Made by RetryingMade {
        fn complete(&self, prompt: String) -> Result<u32, u32>;
        fn embed(&self, text: &str) -> Result<u32, u32>;
    } max 1 + 1
}

impl Made for Flaky {
    async fn complete(&self, prompt: String) -> Result<u32, u32> {
        assert_eq!(prompt, "hello");
        self.answer()
    }

    async fn embed(&self, text: &str) -> Result<u32, u32> {
        assert_eq!(text, "hello");
        self.answer().map_err(|error| error + 10)
    }
}

macro_rules! wrap {
    ($item:item) => {
        #[retry(wrapper = RetryingItem, backoff = "none", on = |_| true)]
        $item
    };
}

wrap! {
    trait Item {
        fn complete(&self) -> Result<u32, u32>;
    }
}

impl Item for Flaky {
    fn complete(&self) -> Result<u32, u32> {
        self.answer()
    }
}

mod inner {
    use retry_runtime::retry;

    #[retry(wrapper = RetryingInner, backoff = "none", on = |_| true)]
    pub(crate) trait Inner {
        fn complete(&self) -> Result<u32, u32>;
    }

    #[retry(wrapper = RetryingOf, of = super::Item, backoff = "none", on = |_| true)]
    pub(crate) trait Item {
        fn complete(&self) -> Result<u32, u32>;
    }
}

impl inner::Inner for Flaky {
    fn complete(&self) -> Result<u32, u32> {
        self.answer()
    }
}

/// Raw identifiers, and names that generated code uses.
#[retry(wrapper = RetryingNames, backoff = "none", on = |_| true)]
trait Names {
    fn r#type(&self, r#fn: String, policy: u32, client: u32) -> Result<u32, u32>;
    fn new(&self, retry_call: u32, retry_last: String, call: String) -> Result<u32, u32>;
    fn clone(&self, inner: String) -> Result<u32, u32>;
    fn into_inner(&self, mut_: &mut Vec<String>) -> Result<u32, u32>;
}

impl Names for Flaky {
    fn r#type(&self, r#fn: String, policy: u32, client: u32) -> Result<u32, u32> {
        assert_eq!((r#fn.as_str(), policy, client), ("hello", 1, 2));
        self.answer()
    }

    fn new(&self, retry_call: u32, retry_last: String, call: String) -> Result<u32, u32> {
        let expected = (1, "last", "call");
        assert_eq!((retry_call, retry_last.as_str(), call.as_str()), expected);
        self.answer()
    }

    fn clone(&self, inner: String) -> Result<u32, u32> {
        assert_eq!(inner, "inner");
        self.answer()
    }

    fn into_inner(&self, mut_: &mut Vec<String>) -> Result<u32, u32> {
        mut_.push(String::new());
        self.answer()
    }
}

#[tokio::main(flavor = "current_thread")]
pub(crate) async fn main() {
    let store = RetryingStore::new(Flaky::default());
    assert_eq!(store.put("key", String::from("value")), Ok(3));
    let store = RetryingStore::new(Flaky::default());
    let expected = Ok((3, "default"));
    assert_eq!(Store::<u32, u32>::get(&store, &1, "default"), expected);

    let raw = RetryingUnsafe::new(Flaky::default());
    // SAFETY: the pointer is to a constant.
    assert_eq!(unsafe { raw.read(&100) }, Ok(103));
    let raw = RetryingUnsafe::new(Flaky::default());
    // SAFETY: the pointer is to a constant.
    assert_eq!(unsafe { raw.read_later(&100).await }, Ok(103));
    let raw = RetryingUnsafe::new(Flaky::default());
    // SAFETY: the pointer is to a constant.
    assert_eq!(unsafe { raw.read_once(&100) }, Err(1));

    let model: Box<dyn Model> = Box::new(RetryingSized::new(Flaky::default()));
    assert_eq!(model.complete(), Ok(3));
    let model = RetryingSized::new(Flaky::default()).named("flaky");
    assert_eq!(model.embed().await, Ok(3));

    assert_eq!(
        Made::complete(&RetryingMade::new(Flaky::default()), String::from("hello")).await,
        Ok(3)
    );
    assert_eq!(
        RetryingMade::new(Flaky::default()).embed("hello").await,
        Ok(3)
    );
    assert_eq!(Item::complete(&RetryingItem::new(Flaky::default())), Ok(3));
    assert_eq!(
        Item::complete(&inner::RetryingOf::new(Flaky::default())),
        Ok(3)
    );
    let inner = inner::RetryingInner::new(Flaky::default());
    assert_eq!(inner::Inner::complete(&inner), Ok(3));
    assert_eq!(inner.inner().0.get(), 3);

    let names = || RetryingNames::new(Flaky::default());
    assert_eq!(names().r#type(String::from("hello"), 1, 2), Ok(3));
    let (last, call) = (String::from("last"), String::from("call"));
    assert_eq!(Names::new(&names(), 1, last, call), Ok(3));
    assert_eq!(Names::clone(&names(), String::from("inner")), Ok(3));
    let mut log = Vec::new();
    assert_eq!(Names::into_inner(&names(), &mut log), Ok(3));
    assert_eq!(log.len(), 3);
}
