//! The names that most tests use.

pub use std::cell::{Cell, RefCell};
pub use std::collections::VecDeque;
pub use std::error::Error;
pub use std::future::{pending, ready};
pub use std::panic::{AssertUnwindSafe, catch_unwind};
pub use std::pin::{Pin, pin};
pub use std::rc::Rc;
pub use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
pub use std::sync::{Arc, Mutex};
pub use std::task::{Context, Poll, Waker};
pub use std::time::Duration;
pub use std::{fmt, io, thread};

pub use retry_protections::{Breaker, ConcurrencyLimiter, Keyed, Quota, RateLimiter};
pub use retry_runtime::seam::{
    Admission, AdmissionControl, AttemptOutcome, BreakerState, Changes, DefaultTimer, Permit,
    RetryBudget, Timer, TimerFn,
};
pub use retry_runtime::{
    Backoff, Budget, Classify, Event, EventData, GaveUp, Hint, Jitter, Kind, Observer, Policy,
    Reason, Rejected, RejectedBy, Section, TimedOut, Verdict, retry, retrying, testing,
};
pub use retry_work::plan::Validity;
pub use retry_work::{IntoBatches, Plan, retry_each, retry_each_blocking};
pub use tokio::task::yield_now;
pub use tokio::time::{Instant, advance, sleep, timeout};
pub use tokio_util::sync::CancellationToken;

pub use crate::failure::{Failure, STOP, THROTTLED, TIMEOUT, TRANSIENT, throttled_for};
pub use crate::held_permit::{Admit, HeldPermit};
pub use crate::script::Script;
pub use crate::time::{millis, secs};
pub use crate::{assert_rows, is_send, rows, run, scripted};
