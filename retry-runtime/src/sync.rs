//! The locks and atomics of what calls share. `tests/interleavings` compiles the same sources with others, which try every
//! order of the threads' steps.

pub(crate) use core::sync::atomic::{AtomicU32, AtomicU64, Ordering};
pub(crate) use std::sync::{Mutex, MutexGuard, PoisonError};
