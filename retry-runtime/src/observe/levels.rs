//! Levels of the log that a program has changed: those of records, and those of calls.

use core::fmt;
use core::sync::atomic::{AtomicU8, Ordering};

#[cfg(feature = "std")]
use crate::name::begins_with;
use crate::observe::record::{Level, Record};
#[cfg(feature = "std")]
use crate::sync::{Mutex, lock};

/// For each record its level's number from 1; 0 where it is as documented.
static CHANGED: [AtomicU8; Record::COUNT] = [const { AtomicU8::new(0) }; Record::COUNT];

/// The beginnings of names, each with the level above which their records are not logged.
#[cfg(feature = "std")]
static QUIET: Mutex<Vec<(String, Level)>> = Mutex::new(Vec::new());

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

/// Logs the calls whose name begins with `calls` at `most` or below, in the whole program: a record of a higher level
/// is logged at `most`. [`Level::Off`] silences them. The longest beginning decides; an empty one is for all calls.
///
/// A library that reports its failures by itself names its own path, so that its users don't read of a failure twice:
///
/// ```
/// use retry_runtime::log::{self, Level};
///
/// // For functions without the key `name`, in any module of this crate.
/// log::set_most(env!("CARGO_CRATE_NAME"), Level::Debug);
/// // By the names of one client, `billing.charge` and others.
/// log::set_most("billing", Level::Off);
/// ```
///
/// Records without an [`Event`](crate::Event) are logged as before: the warnings about a `timeout` that nothing
/// enforces and about errors that nobody knows. Observers and recordings see every event, whatever its level.
/// [`reset_levels`] takes it back.
#[cfg(feature = "std")]
pub fn set_most(calls: &str, most: Level) {
    let mut quiet = lock(&QUIET);
    quiet.retain(|(beginning, _)| beginning != calls);
    quiet.push((String::from(calls), most));
}

/// Logs every record of every call at the level that it has by default.
pub fn reset_levels() {
    #[cfg(feature = "std")]
    lock(&QUIET).clear();
    for changed in &CHANGED {
        changed.store(0, Ordering::Relaxed);
    }
}

/// The level of a record of that call.
pub(crate) fn of(record: Record, call: &dyn fmt::Display) -> Level {
    let number = usize::from(CHANGED[record as usize].load(Ordering::Relaxed));
    let changed = number.checked_sub(1).map(|index| Level::ALL[index]);
    at_most(changed.unwrap_or(record.level()), call)
}

/// No higher than the call's records may be.
#[cfg(feature = "std")]
fn at_most(level: Level, call: &dyn fmt::Display) -> Level {
    let quiet = lock(&QUIET);
    if level == Level::Off || quiet.is_empty() {
        return level;
    }
    let name = call.to_string();
    let named = quiet.iter().filter(|(calls, _)| begins_with(&name, calls));
    match named.max_by_key(|(calls, _)| calls.len()) {
        Some((_, Level::Off)) => Level::Off,
        Some((_, most)) => level.max(*most),
        None => level,
    }
}

#[cfg(not(feature = "std"))]
fn at_most(level: Level, _: &dyn fmt::Display) -> Level {
    level
}
