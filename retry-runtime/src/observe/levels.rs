//! Levels of log records that a program has changed.

use core::sync::atomic::{AtomicU32, Ordering};
#[cfg(feature = "std")]
use std::sync::OnceLock;

use crate::listed::listed;
use crate::observe::log::{self, Fields};
use crate::observe::record::Record;

/// How much a log record matters: the levels of `tracing`, and none.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Level {
    /// It is not logged.
    Off,
    /// Something is broken.
    Error,
    /// Something needs attention.
    Warn,
    /// What operators want to know.
    Info,
    /// What developers want to know.
    Debug,
    /// Everything.
    Trace,
}

listed!(Level: Off Error Warn Info Debug Trace);

impl From<tracing::Level> for Level {
    fn from(level: tracing::Level) -> Self {
        match level {
            tracing::Level::ERROR => Self::Error,
            tracing::Level::WARN => Self::Warn,
            tracing::Level::INFO => Self::Info,
            tracing::Level::DEBUG => Self::Debug,
            tracing::Level::TRACE => Self::Trace,
        }
    }
}

/// For each record, from the lowest bits on, its level's number from 1; 0 where it is as documented. Small processors have
/// no larger atomics.
static CHANGED: [AtomicU32; 2] = [const { AtomicU32::new(0) }; 2];

/// What logs at levels that were changed. Kept here by who changes one, so that other programs have no code for it.
#[cfg(feature = "std")]
static LOG_CHANGED: OnceLock<LogChanged> = OnceLock::new();

type LogChanged = fn(Record, &Fields<'_>);

/// The bits of one record.
const BITS: u32 = 3;
const MASK: u32 = (1 << BITS) - 1;

/// Where a record's bits are, and from which on.
fn place(record: Record) -> (&'static AtomicU32, u32) {
    let (number, each) = (record as u32, u32::BITS / BITS);
    let [first, second] = &CHANGED;
    if number < each {
        (first, BITS * number)
    } else {
        (second, BITS * (number - each))
    }
}

/// Logs that record at that level from now on, in the whole program.
///
/// ```
/// use retry_runtime::log::{self, Level, Record};
///
/// // Retries are nothing special here, but calls that are lost are.
/// log::set_level(Record::Retrying, Level::Debug);
/// log::set_level(Record::GaveUp, Level::Error);
/// ```
///
/// Observers and recordings see every event, whatever its level. Records without an event keep their level: the warning
/// about a `timeout` that nothing enforces, and what a plan logs about its subtasks and its end.
pub fn set_level(record: Record, level: Level) {
    #[cfg(feature = "std")]
    LOG_CHANGED.get_or_init(|| log::log_changed);
    let (changed, shift) = place(record);
    let set = |changed: u32| Some(changed & !(MASK << shift) | (level as u32 + 1) << shift);
    // It always says what to store.
    let _ = changed.fetch_update(Ordering::Relaxed, Ordering::Relaxed, set);
}

/// Logs every record at the level that it has by default.
pub fn reset_levels() {
    for changed in &CHANGED {
        changed.store(0, Ordering::Relaxed);
    }
}

/// What logs, where any record's level was changed.
#[inline]
pub(crate) fn log_changed() -> Option<LogChanged> {
    let mut all = CHANGED.iter();
    if !all.any(|changed| changed.load(Ordering::Relaxed) != 0) {
        return None;
    }
    #[cfg(feature = "std")]
    return LOG_CHANGED.get().copied();
    #[cfg(not(feature = "std"))]
    Some(log::log_changed)
}

/// The level that a record was given, or else that of the documentation.
pub(crate) fn of(record: Record) -> Level {
    let (changed, shift) = place(record);
    let number = changed.load(Ordering::Relaxed) >> shift & MASK;
    let given = Level::ALL
        .into_iter()
        .find(|level| *level as u32 + 1 == number);
    given.unwrap_or_else(|| record.level().into())
}
