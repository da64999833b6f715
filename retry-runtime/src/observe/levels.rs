//! Levels of log records that a program has changed.

use core::sync::atomic::{AtomicU8, Ordering};

use crate::listed::listed;
use crate::observe::record::Record;

listed! {
    /// How much a log record matters: the levels of `tracing`, and none.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
    pub enum Level {
        /// Nothing is logged.
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

/// For each record its level's number from 1; 0 where it is as documented.
static CHANGED: [AtomicU8; Record::COUNT] = [const { AtomicU8::new(0) }; Record::COUNT];

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
    CHANGED[record as usize].store(level as u8 + 1, Ordering::Relaxed);
}

/// Logs every record of every call at the level that it has by default.
pub fn reset_levels() {
    #[cfg(feature = "std")]
    crate::observe::quiet::reset();
    for changed in &CHANGED {
        changed.store(0, Ordering::Relaxed);
    }
}

/// The level that a record was given.
pub(crate) fn changed(record: Record) -> Option<Level> {
    let number = CHANGED[record as usize].load(Ordering::Relaxed);
    let index = number.checked_sub(1)?;
    Level::ALL.get(usize::from(index)).copied()
}
