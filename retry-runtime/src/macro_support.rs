//! What expansions of the macros call. Not public: it changes without notice.

mod argument;
mod history;
mod limit;
mod number;
mod observer;
mod old;
mod outcome;
mod policy;
pub(crate) mod show;
mod timed_out;
mod timer;
mod validation;
mod verdict;

pub use std::boxed::Box;

pub use crate::call::site::Site;
#[cfg(feature = "stream")]
pub use crate::stream;
pub use crate::time::race::race;
pub use argument::{CloneArgument, take_argument};
pub use history::{
    begin, failed, fall_back, fall_back_blocking, gave_up, history, is_repeated, rejected, shape,
};
pub use limit::{Limit, deadline, policy_deadline, timeout};
pub use number::{Count, Factor, count, factor};
pub use observer::{IntoObserver, ViaFn, ViaTrait, observe, observe_fn, starting};
pub use old::{Call, Failure, Paid, TrackedCall, budget};
pub use outcome::{Outcome, into_result, lazy, never};
pub use policy::{BorrowPolicy, DEFAULT_MAX, limit, max, policy, policy_or};
pub use show::{Same, SameDebug, SameDisplay, SameValue, Show, show};
pub use timed_out::FromTimedOut;
pub use timer::{
    Features, HasTimer, IntoTimer, default_timer, sleep, sleep_blocking, sleep_out, timer, timer_fn,
};
pub use validation::{
    Settle, check, check_async, check_either, correct, correct_async, correct_either, corrected,
    correction_failed, history_of, invalid, settle,
};
pub use verdict::{
    ClassifyField, HintField, IntoVerdict, REJECTED_VALUE, accepts, after, classify,
    classify_field, of_attempt, verdict,
};

/// Runs what follows a failure, out of the way of calls that succeed: `decide` becomes a function of its own, and this
/// one vanishes.
#[cold]
#[inline]
pub fn cold<T>(decide: impl FnOnce() -> T) -> T {
    decide()
}
