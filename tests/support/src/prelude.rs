//! The names that most tests of behaviour use.

pub use std::time::Duration;

pub use retry_runtime::{
    Budget, Event, EventData, GaveUp, Jitter, Kind, Policy, Reason, Rejected, RejectedBy, Section,
    Verdict, retry, retrying, testing,
};
pub use tokio::time::{Instant, advance, sleep};

pub use crate::failure::{Failure, STOP, THROTTLED, TIMEOUT, TRANSIENT, throttled_for};
pub use crate::script::Script;
pub use crate::time::{millis, secs};
pub use crate::{assert_rows, is_send, rows, run, scripted};
