//! The runtime's module with shuttle's types. Those have destructors, which a `const fn` that takes `self` can't run,
//! so they are skipped, and the memory is leaked until the process ends.

use std::mem::ManuallyDrop;
use std::ops::Deref;
use std::sync::PoisonError;

pub(crate) use shuttle::sync::MutexGuard;
pub(crate) use shuttle::sync::atomic::Ordering;

pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

macro_rules! without_destructor {
    ($name:ident $(<$content:ident>)?, $inner:ty, $value:ty) => {
        #[derive(Debug)]
        pub(crate) struct $name $(<$content>)? (ManuallyDrop<$inner>);

        impl $(<$content>)? $name $(<$content>)? {
            pub(crate) const fn new(value: $value) -> Self {
                Self(ManuallyDrop::new(<$inner>::new(value)))
            }
        }

        impl $(<$content>)? Deref for $name $(<$content>)? {
            type Target = $inner;

            fn deref(&self) -> &$inner {
                &self.0
            }
        }
    };
}
without_destructor!(AtomicBool, shuttle::sync::atomic::AtomicBool, bool);
without_destructor!(AtomicU32, shuttle::sync::atomic::AtomicU32, u32);
without_destructor!(Mutex<T>, shuttle::sync::Mutex<T>, T);
