//! Functions called from generated code and from our other crates. Not public API: may change without notice.
//!
//! `retry-protections` uses these hidden items, and no others:
//!
//! - [`now`], the clock that tests and runtimes can pause or advance,
//! - [`sync`], locks that ignore poisoning,
//! - [`log_change`], to log operators' changes, if this crate's feature `tracing` is enabled,
//! - [`Remembers`], so that the macros reject a breaker or a limiter that would be created again for each call.
//!
//! `retry-observers` uses these:
//!
//! - [`CallEnd`], returned by `Event::call_end`, and [`Max`], to count calls and print limits as the log does,
//! - [`shown`], [`now`] and [`sync::lock`].
//!
//! `retry-work` uses these, and fields and methods of a chain's parts:
//!
//! - [`Driver`], one for each attempt of a batch or a plan, and [`Job`], which all attempts share: keys, names,
//!   reports, and joint decisions on several failures. A [`Part`] of a job is reported under its own name,
//! - [`bounds`] and [`Bounds`], the deadline and the cancellation of a batch or a plan,
//! - [`Span`] and [`in_span`] for the key `span`, and [`path_of`] for the default name, as in a chain,
//! - [`attempt_within`] and [`run_within`], so that calls within an attempt are reported as nested,
//! - [`carry`], to apply a thread's test settings to the threads of a blocking batch,
//! - [`refusal`], [`limit`] and [`Basis`], for the same decisions and counts as in a call,
//! - [`Described`], [`WithHint`], [`shown`], [`shown_within`], [`escaped`], [`Fields`], [`report_line`],
//!   [`Level`] and [`warn_about_verdict`], to log as a call does,
//! - [`sync::lock`].
//!
//! `retry-durable` uses these:
//!
//! - [`Driver`] and [`Reporter`], for the decisions between recorded attempts, and for their reports,
//! - [`ignores_timeout`] and [`shown`], to log as a call does.
//!
//! `retry-clients` uses these:
//!
//! - [`Driver`], [`Reporter`], [`Ending`] and [`Stop`], for a layer's loop. It doesn't use a chain, because the
//!   compiler can't show that a chain's future is `Send`,
//! - [`attempt_within`], so that calls within an attempt are reported as nested,
//! - [`Span`] and [`in_span`] for the key `span`, as in a chain,
//! - [`of_attempt`], for the verdict on an attempt that was dropped at a time limit,
//! - [`Taken`], to report a fallback as a call does,
//! - [`time_left`] and [`drops_attempts`], for a policy's time limits,
//! - [`ignores_timeout`], to log as a call does,
//! - [`by_sqlstate`], [`is_conflict`] and [`redis_refused`], so that all clients of a database get the same verdicts.

mod attempt;
mod failure;
pub mod keys;
mod services;
pub mod span;
mod values;

pub use alloc::boxed::Box;
pub use alloc::vec::Vec;
pub use core::option::Option::{self, None, Some};
pub use core::result::Result::{self, Err, Ok};

pub use retry_classify::macro_support::{
    Basis, ClassifyField, FromCancelled, FromRejected, FromTimedOut, HintField, IntoVerdict, after,
    by_sqlstate, escaped, invalid, is_conflict, redis_refused, required, same, show, show_by,
    show_named, shown, shown_within,
};

#[cfg(not(feature = "std"))]
pub use self::services::NoBudget as Budget;
pub use self::{attempt::*, failure::*, services::*, values::*};
#[cfg(feature = "std")]
pub use crate::Budget;
pub use crate::call::{
    Driver, Ending, REJECTED_VALUE, Reporter, Stop, WithHint, refusal, time_left,
};
pub use crate::chain::context::path_of;
pub use crate::chain::job::{Job, Part};
pub use crate::chain::on_error::Described;
pub use crate::chain::span::{Span, in_span};
pub use crate::hedge::pushback::Pushback;
pub use crate::hedge::running::{Next, Running};
pub use crate::history::Taken;
#[cfg(feature = "std")]
pub use crate::observe::event::CallEnd;
pub use crate::observe::fields::{Fields, Max};
pub use crate::observe::record::Level;
pub use crate::observe::report::report_line;
#[cfg(feature = "std")]
pub use crate::observe::warnings::log_change;
pub use crate::observe::warnings::{ignores_timeout, warn_about_verdict};
pub use crate::policy::overrides::without_section_max;
pub use crate::policy::schedule::limit;
pub use crate::policy::values::Values;
#[cfg(feature = "nested")]
pub use crate::site::nested::{Outer, enter, most_attempts, only_attempt, within};
pub use crate::site::{attempt_within, run_within};
#[cfg(feature = "stream")]
pub use crate::stream;
#[cfg(feature = "std")]
pub use crate::testing::scope::carry;
pub use crate::time::bounds::{Bounds, bounds};
pub use crate::time::cancel::{Uncancelled, abortable};
pub use crate::time::moment::Clock;
pub use crate::time::platform::{Features, default_timer, expect_timer, yield_now};
pub use crate::time::timer::sleep_out;
pub use crate::{
    Attempt, Backoff, Cancel, Cancelled, Draft, Event, Hint, Jitter, Policy, Reason, Rejected,
    Section, Verdict,
    own_loop::{Call, Failure, Protections, Site},
    seam::{BlockingTimer, DefaultTimer, Timer, TimerFn},
};

#[cfg(feature = "std")]
pub mod sync {
    pub use crate::sync::{AtomicU32, Mutex, MutexGuard, Ordering, lock};
}
