//! Lists of delays that are known only at run time.

use alloc::boxed::Box;
use alloc::vec::Vec;
use core::time::Duration;
use std::sync::{Mutex, PoisonError};

/// A policy is `Copy`, so what it refers to must live for ever. Each different list is kept once.
static KEPT: Mutex<Vec<&'static &'static [Duration]>> = Mutex::new(Vec::new());

pub(crate) fn keep(delays: &[Duration]) -> &'static &'static [Duration] {
    let mut kept = KEPT.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(known) = kept.iter().copied().find(|known| **known == delays) {
        return known;
    }
    let delays: &'static [Duration] = Box::leak(delays.into());
    let delays: &'static &'static [Duration] = Box::leak(Box::new(delays));
    kept.push(delays);
    delays
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_lists_are_kept_once() {
        let delays = [Duration::from_secs(1), Duration::from_secs(5)];
        assert!(core::ptr::eq(keep(&delays), keep(&delays)));
        assert!(!core::ptr::eq(keep(&delays), keep(&delays[..1])));
    }
}
