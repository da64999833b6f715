//! Calls that log less than others.

use core::fmt;
use std::sync::{PoisonError, RwLock};

use crate::name::begins_with;
use crate::observe::levels::{self, Level};
use crate::observe::record::Record;

/// The beginnings of names, each with the level above which their records are not logged.
static QUIET: RwLock<Vec<(String, Level)>> = RwLock::new(Vec::new());

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
/// Records without an [`Event`](crate::Event) are logged as before: the warnings about a `timeout` that nothing enforces
/// and about errors that nobody knows. Observers and recordings see every event, whatever its level.
/// [`reset_levels`](levels::reset_levels) takes it back.
pub fn set_most(calls: &str, most: Level) {
    let mut quiet = QUIET.write().unwrap_or_else(PoisonError::into_inner);
    quiet.retain(|(beginning, _)| beginning != calls);
    quiet.push((String::from(calls), most));
}

/// Makes all calls log alike.
pub(super) fn reset() {
    let mut quiet = QUIET.write().unwrap_or_else(PoisonError::into_inner);
    quiet.clear();
}

/// The level of a record of that call, where it is not the record's own.
pub(crate) fn changed(record: Record, call: &dyn fmt::Display) -> Option<Level> {
    let changed = levels::changed(record);
    if changed == Some(Level::Off) {
        return changed;
    }
    let quiet = QUIET.read().unwrap_or_else(PoisonError::into_inner);
    if quiet.is_empty() {
        return changed;
    }
    let name = call.to_string();
    let named = quiet.iter().filter(|(calls, _)| begins_with(&name, calls));
    match named.max_by_key(|(calls, _)| calls.len()) {
        Some((_, Level::Off)) => Some(Level::Off),
        Some((_, most)) => Some(changed.unwrap_or(record.level().into()).max(*most)),
        None => changed,
    }
}
