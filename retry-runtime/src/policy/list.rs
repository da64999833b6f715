//! Lists of delays that are known only at run time. A policy is `Copy`, so what it refers to must live for ever.

use alloc::boxed::Box;
use core::time::Duration;

/// Keeps each different list once.
#[cfg(feature = "std")]
pub(crate) fn keep(delays: &[Duration]) -> &'static &'static [Duration] {
    use std::sync::Mutex;

    use crate::sync::lock;

    static KEPT: Mutex<Vec<&'static &'static [Duration]>> = Mutex::new(Vec::new());

    let mut kept = lock(&KEPT);
    if let Some(known) = kept.iter().copied().find(|known| **known == delays) {
        return known;
    }
    let delays = leak(delays);
    kept.push(delays);
    delays
}

/// Keeps a list each time, since there is no lock to keep a registry behind.
#[cfg(not(feature = "std"))]
pub(crate) use leak as keep;

pub(crate) fn leak(delays: &[Duration]) -> &'static &'static [Duration] {
    let delays: &'static [Duration] = Box::leak(delays.into());
    Box::leak(Box::new(delays))
}

#[cfg(all(test, feature = "std"))]
mod tests {
    use super::*;

    #[test]
    fn equal_lists_are_kept_once() {
        let delays = [Duration::from_secs(1), Duration::from_secs(5)];
        assert!(core::ptr::eq(keep(&delays), keep(&delays)));
        assert!(!core::ptr::eq(keep(&delays), keep(&delays[..1])));
    }
}
