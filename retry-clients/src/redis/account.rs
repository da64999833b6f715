use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher, Hasher};
use std::time::Duration;

use redis::aio::ConnectionLike;
use redis::{Cmd, cmd};
use retry_runtime::{Call, Policy, Site, Verdict};
use tokio::time::timeout;

/// How long to wait for an answer.
const PATIENCE: Duration = Duration::from_millis(250);

/// When to ask a server again that does not answer.
const POLICY: Policy = Policy::exponential()
    .unlimited()
    .base(Duration::from_millis(100))
    .cap(LONGEST);
/// With the patience, less than the script leaves the others to come back.
const LONGEST: Duration = Duration::from_millis(500);

/// What a process has to do with a bucket that it shares.
pub(super) struct Account {
    bucket: String,
    process: String,
    capacity: f64,
    per_second: f64,
    /// As far as this process knows.
    granted: u64,
    told: Option<Told>,
    /// Asks that failed in a row.
    failing: Call,
}

/// What a process says of itself: totals since it began.
#[derive(Clone, Copy, PartialEq)]
pub(super) struct Told {
    pub(super) earned: f64,
    pub(super) alone: u64,
}

impl Account {
    pub(super) fn new(key: &str, capacity: f64, per_second: f64) -> Self {
        Self {
            // In braces what decides where a cluster keeps it, so that both are in one place.
            bucket: format!("{{{key}}}"),
            process: format!("{{{key}}}:{:016x}{:016x}", random(), random()),
            capacity,
            per_second,
            granted: 0,
            told: None,
            failing: Call::new(),
        }
    }

    /// Asks for so many tokens. Returns how many it was granted (none, where there is nothing to say), or how long to
    /// wait before it asks again.
    pub(super) async fn ask(
        &mut self,
        connection: &mut impl ConnectionLike,
        told: Told,
        tokens: u64,
    ) -> Result<u64, Duration> {
        if tokens == 0 && self.told == Some(told) {
            return Ok(0);
        }
        let script = self.script(told, tokens);
        let answer = match timeout(PATIENCE, script.query_async::<u64>(connection)).await {
            Ok(answer) => answer.map_err(|error| error.to_string()),
            Err(elapsed) => Err(elapsed.to_string()),
        };
        let site = Site::new(&POLICY, &self.bucket);
        match answer {
            Ok(granted) => {
                self.failing.succeeded(&site);
                self.failing = Call::new();
                let new = granted.saturating_sub(self.granted);
                self.granted = self.granted.max(granted);
                self.told = Some(told);
                Ok(new)
            }
            Err(error) => {
                let pause = self.failing.failed(&site, Verdict::TRANSIENT, &error);
                Err(pause.unwrap_or(LONGEST))
            }
        }
    }

    fn script(&self, told: Told, tokens: u64) -> Cmd {
        let mut script = cmd("EVAL");
        script
            .arg(include_str!("lease.lua"))
            .arg(2)
            .arg(&self.bucket)
            .arg(&self.process)
            .arg(self.capacity)
            .arg(self.per_second)
            .arg(told.earned)
            .arg(told.alone)
            .arg(self.granted.saturating_add(tokens))
            .arg(self.granted);
        script
    }
}

/// The standard library seeds its tables with what the system has of randomness.
fn random() -> u64 {
    RandomState::new().build_hasher().finish()
}
