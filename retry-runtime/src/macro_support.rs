//! What expansions of the macros and `retry-durable` call. Not public: it changes without notice.

mod argument;
mod budget;
mod cancel;
mod error_type;
mod hedge;
mod history;
mod hook;
pub mod keys;
mod limit;
mod made_anew;
mod name;
mod number;
mod observer;
mod outcome;
mod policy;
mod retries;
pub(crate) mod show;
pub mod span;
mod timer;
mod validation;
mod verdict;

#[cfg(not(feature = "std"))]
pub use self::budget::NoBudget as Budget;
pub use alloc::boxed::Box;
pub use alloc::vec::Vec;
pub use core::option::Option::{self, None, Some};
pub use core::result::Result::{self, Err, Ok};

pub use crate::breaker::circuit_breaker::CircuitBreaker;
pub use crate::breaker::permit::Permit;
#[cfg(feature = "std")]
pub use crate::budget::bucket::Budget;
pub use crate::budget::retry_budget::Paid;
pub use crate::call::attempt::{Attempt, Draft};
pub use crate::call::attempted::attempt_within;
pub use crate::call::driver::Driver;
pub use crate::call::failure::{Ending, Failure, REJECTED_VALUE};
pub use crate::call::hook::{Caused, HookOutcome};
pub use crate::call::late::{late, outlasts};
#[cfg(feature = "nested")]
pub use crate::call::nested::{Outer, enter, most_attempts, only_attempt, within};
pub use crate::call::next_attempt::NextAttempt;
pub use crate::call::protections::{Protections, Protects};
pub use crate::call::rejection::Rejections;
pub use crate::call::reporter::{Named, NamedBy, Observed, Reporter, Times, named_by, observed};
pub use crate::call::site::Site;
pub use crate::call::state::Call;
pub use crate::call::stop::Stop;
pub use crate::classify::cancelled::Cancelled;
pub use crate::classify::conversions::{FromCancelled, FromRejected, FromTimedOut};
pub use crate::classify::databases::{by_sqlstate, is_conflict, redis_refused};
pub use crate::classify::into_verdict::IntoVerdict;
pub use crate::classify::rejected::{Rejected, RejectedBy};
pub use crate::classify::says;
pub use crate::classify::timed_out::TimedOut;
pub use crate::classify::verdict::Verdict;
pub use crate::error_text::shown::shown;
pub use crate::hedge::pushback::Pushback;
pub use crate::hedge::running::{Next, Running};
pub use crate::limiter::place::Place;
pub use crate::limiter::waiting::{wait, wait_blocking};
pub use crate::observe::event::Event;
pub use crate::observe::ignored_timeout::tell as ignores_timeout;
pub use crate::observe::reason::Reason;
pub use crate::observe::stopwatch::Stopwatch;
pub use crate::policy::Policy;
pub use crate::policy::backoff::Backoff;
pub use crate::policy::hint::Hint;
pub use crate::policy::jitter::Jitter;
pub use crate::policy::section::Section;
pub use crate::policy::values::Values;
#[cfg(feature = "stream")]
pub use crate::stream;
pub use crate::time::attempt_clock::Clock;
pub use crate::time::blocking_timer::BlockingTimer;
pub use crate::time::cancel::{Cancel, Uncancelled, abortable};
pub use crate::time::default_timer::DefaultTimer;
pub use crate::time::enabled::{Features, HasTimer, default_timer, expect_timer, give_way, sleep};
pub use crate::time::pause::OwnWaker;
pub use crate::time::race::race;
pub use crate::time::timer::{Timer, TimerFn, sleep_out};
pub use argument::{
    CloneArgument, ClonedClient, KeptArgument, keep, keep_optional, left_in_place, lend_optional,
    take_argument,
};
pub use budget::own_budget;
pub use cancel::{IntoCancel, cancelled, uncancelled};
pub use error_type::{
    HasErrorType, error_type, error_type_by, has_error_type, never_by, never_of, of_error_type,
};
pub use hedge::{HedgeAfter, NoQuantile, hedge, no_quantile, numbered, runs_at_once};
pub use history::{
    fall_back, fall_back_blocking, is_repeated, last, last_or_rejected, shape, tick, tick_blocking,
};
pub use hook::hook;
pub use limit::{TimeLimit, in_time, now, now_blocking, policy_limit, policy_timeout};
pub use made_anew::{
    ByPointer, ByValue, Remembers, Shared, shared_breaker, shared_budget, shared_limiter,
};
pub use name::{client_name, surroundings};
pub use number::{Count, Factor, IntoBackoff, delays};
pub use observer::{IntoObserver, ViaFn, ViaTrait};
pub use outcome::{Outcome, OutcomeTypes, from_result, into_result, lazy, never};
pub use policy::{PolicySource, chosen_policy, enabled_if, max, policy, policy_of};
pub use retries::Retries;
pub use show::{Same, SameDebug, SameDisplay, SameValue, Show, Unshown, show};
pub use timer::{IntoBlockingTimer, IntoTimer};
pub use validation::{
    Settle, check, check_async, check_either, complaint, correct, correct_async, correct_either,
    kind, settle,
};
pub use verdict::{
    ClassifyField, HintField, accepts, after, answer, classify, of_attempt, of_stream,
};

/// Runs the code after a failure, out of the way of calls that succeed: `decide` becomes a function of its own, and
/// this one is inlined away.
#[cold]
#[inline]
pub fn cold<T>(decide: impl FnOnce() -> T) -> T {
    decide()
}

/// Runs the code after a failure as [`cold`] does, with a site that is bound beside it.
#[cold]
#[inline]
pub fn cold_at<T>(
    site: &'static Site<'static>,
    decide: impl FnOnce(&'static Site<'static>) -> T,
) -> T {
    decide(site)
}

/// Runs an attempt, or a key's expression, whose future or stream may borrow what it changes: taken by `FnOnce`, a closure
/// hands such a borrow on.
#[inline]
pub fn once<T>(attempt: impl FnOnce() -> T) -> T {
    attempt()
}

/// Returns the attempt unchanged, and shows the compiler that the other value is still in use.
#[inline]
pub fn beside<A, T>(attempt: A, _: &T) -> A {
    attempt
}

/// Ends a value's life. Not the standard library's, which lints ask not to be called with what has no destructor.
#[inline]
pub fn drop<T>(_: T) {}
