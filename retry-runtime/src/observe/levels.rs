//! Levels of log records that a program has changed.

use core::sync::atomic::{AtomicU64, Ordering};

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

impl Level {
    const ALL: [Self; 6] = [
        Self::Off,
        Self::Error,
        Self::Warn,
        Self::Info,
        Self::Debug,
        Self::Trace,
    ];
}

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

/// For each record, from the lowest bits on, its level's number from 1; 0 where it is as documented.
static CHANGED: AtomicU64 = AtomicU64::new(0);

/// The bits of one record.
const BITS: u32 = 3;
const MASK: u64 = (1 << BITS) - 1;

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
/// Observers and recordings see every event, whatever its level.
pub fn set_level(record: Record, level: Level) {
    let shift = BITS * record as u32;
    let set = |changed: u64| Some(changed & !(MASK << shift) | (level as u64 + 1) << shift);
    // It always says what to store.
    let _ = CHANGED.fetch_update(Ordering::Relaxed, Ordering::Relaxed, set);
}

/// Logs every record at the level that it has by default.
pub fn reset_levels() {
    CHANGED.store(0, Ordering::Relaxed);
}

/// Whether any record's level was changed.
#[inline]
pub(crate) fn are_changed() -> bool {
    CHANGED.load(Ordering::Relaxed) != 0
}

/// The level that a record was given, or else that of the documentation.
pub(crate) fn of(record: Record) -> Level {
    let number = CHANGED.load(Ordering::Relaxed) >> (BITS * record as u32) & MASK;
    let given = Level::ALL
        .into_iter()
        .find(|level| *level as u64 + 1 == number);
    given.unwrap_or_else(|| record.level().into())
}
