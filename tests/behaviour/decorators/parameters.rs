//! The type of the wrapped client with its bounds, and supertraits.

use support::prelude::*;

use crate::decorators::{Busy, Flaky};

/// Like in the crate `dyn-clone`: every model that is `Clone` is `CloneModel`.
trait CloneModel {
    fn boxed(&self) -> Box<dyn Model>;
}

impl<T: Model + Clone + 'static> CloneModel for T {
    fn boxed(&self) -> Box<dyn Model> {
        Box::new(self.clone())
    }
}

#[retry(wrapper = RetryModel<M: Clone + 'static>, max = 3, backoff = "none", on = |_| true)]
trait Model: CloneModel {
    fn ask(&self) -> Result<u32, Busy>;
}

impl Model for Flaky {
    fn ask(&self) -> Result<u32, Busy> {
        self.answer()
    }
}

#[test]
fn a_supertrait_may_follow_from_the_trait() {
    let model = RetryModel::new(Flaky::new(2));
    let boxed = model.boxed();
    assert_eq!((model.ask(), boxed.ask()), (Ok(3), Ok(3)));
}

/// Like in the crate `embedded-hal`: the error type belongs to a supertrait.
trait Bus {
    type Error;
}

#[retry(wrapper = RetryReader<B: Bus<Error: Classify>>, max = 3, backoff = "none")]
trait Reader<A: Copy = u8>: Bus {
    fn read(&mut self, address: A, into: &mut [u8]) -> Result<(), Self::Error>;
}

impl<B: Bus> Bus for RetryReader<B> {
    type Error = B::Error;
}

impl Bus for Script {
    type Error = Failure;
}

impl<A: Copy + Into<u8>> Reader<A> for Script {
    fn read(&mut self, address: A, into: &mut [u8]) -> Result<(), Failure> {
        into[0] = address.into();
        self.next().map(|_| ())
    }
}

#[test]
fn an_associated_type_of_a_supertrait_is_the_clients() {
    let mut sensor = RetryReader::new(Script::new([TRANSIENT; 2]));
    let mut read = [0];
    assert_eq!(sensor.read(7_u8, &mut read), Ok(()));
    assert_eq!((read, sensor.inner().attempts), ([7], 3));
    sensor.inner_mut().attempts = 0;
    assert_eq!(sensor.read(8_u8, &mut read), Ok(()));
    assert_eq!(sensor.into_inner().attempts, 3);
}

mod other {
    pub(super) trait Store: Clone {
        fn get(&self) -> Result<u32, super::Busy>;
    }
}

/// The copy's supertraits hold for what is wrapped.
#[retry(wrapper = RetryStore, of = other::Store, max = 3, backoff = "none", on = |_| true)]
trait Store: Clone {
    fn get(&self) -> Result<u32, Busy>;
}

impl other::Store for Flaky {
    fn get(&self) -> Result<u32, Busy> {
        self.ask()
    }
}

#[test]
fn a_copy_may_list_its_supertraits() {
    let store = RetryStore::new(Flaky::new(2));
    let copy = store.clone();
    let answers = [store, copy].map(|store| other::Store::get(&store));
    assert_eq!(answers, [Ok(3), Ok(3)]);
}
