//! The log levels that the program has changed, for records and for calls.

use core::sync::atomic::{AtomicU8, Ordering};

use crate::observe::{Fields, Level, Record};

#[cfg(feature = "std")]
use crate::name::begins_with;
#[cfg(feature = "std")]
use crate::sync::{Mutex, lock};

/// The number of records: `RateChanged` is the last.
const RECORDS: usize = Record::RateChanged as usize + 1;

/// The number (from 1) of each record's level; 0 if the level is the documented default.
static CHANGED: [AtomicU8; RECORDS] = [const { AtomicU8::new(0) }; RECORDS];

/// Name prefixes, each with the highest level at which the records of its calls are logged.
#[cfg(feature = "std")]
static MAX_LEVELS: Mutex<Vec<(String, Level)>> = Mutex::new(Vec::new());

/// Sets the level at which the record is logged, in the whole program.
///
/// ```
/// use retry_runtime::log::{self, Level, Record};
///
/// // Retries are normal here, but calls that give up are not.
/// log::set_level(Record::Retrying, Level::Debug);
/// log::set_level(Record::GaveUp, Level::Error);
/// ```
///
/// Observers and recordings receive every event, regardless of its level. Records without an event keep their level:
/// the warning about a `timeout` that isn't enforced, and a plan's records about its subtasks and its end.
pub fn set_level(record: Record, level: Level) {
    CHANGED[record as usize].store(level as u8 + 1, Ordering::Relaxed);
}

/// Limits the log level of calls whose name starts with `calls` to `most`, in the whole program: a more severe record
/// is logged at `most`. [`Level::Off`] silences these calls. The longest matching prefix applies; an empty one matches
/// all calls.
///
/// A library that reports its failures itself can limit its own calls, so that its users don't see a failure twice:
///
/// ```
/// use retry_runtime::log::{self, Level};
///
/// // For functions without the key `name`, in any module of this crate.
/// log::set_most(env!("CARGO_CRATE_NAME"), Level::Debug);
/// // For the names of one client, such as `billing.charge`.
/// log::set_most("billing", Level::Off);
/// ```
///
/// Records without an [`Event`](crate::Event) are still logged: the warnings about a `timeout` that isn't enforced and
/// about unknown error types, and a plan's records about its subtasks and its end. Observers and recordings receive
/// every event. [`reset_levels`] removes the limit.
#[cfg(feature = "std")]
pub fn set_most(calls: &str, most: Level) {
    let mut limits = lock(&MAX_LEVELS);
    limits.retain(|(beginning, _)| beginning != calls);
    limits.push((String::from(calls), most));
}

/// Restores the default level of every record of every call.
pub fn reset_levels() {
    #[cfg(feature = "std")]
    lock(&MAX_LEVELS).clear();
    for changed in &CHANGED {
        changed.store(0, Ordering::Relaxed);
    }
}

/// The level at which these fields are logged: the record's level, as changed by the program, limited for the call.
pub(crate) fn level_of(fields: &Fields<'_>) -> Level {
    let Some(record) = fields.record else {
        return fields.level;
    };
    let number = usize::from(CHANGED[record as usize].load(Ordering::Relaxed));
    let changed = number.checked_sub(1).map(|index| Level::ALL[index]);
    let level = changed.unwrap_or(fields.level);
    #[cfg(feature = "std")]
    let level = limit_level(level, fields.call);
    level
}

/// The level, limited to the most severe one allowed for the call.
#[cfg(feature = "std")]
fn limit_level(level: Level, call: &dyn core::fmt::Display) -> Level {
    let limits = lock(&MAX_LEVELS);
    if level == Level::Off || limits.is_empty() {
        return level;
    }
    let name = call.to_string();
    let named = limits.iter().filter(|(calls, _)| begins_with(&name, calls));
    match named.max_by_key(|(calls, _)| calls.len()) {
        Some((_, Level::Off)) => Level::Off,
        Some((_, most)) => level.max(*most),
        None => level,
    }
}
