use core::fmt;
use core::iter::Sum;
use core::ops::AddAssign;
use core::time::Duration;

use crate::classify::kind::Kind;
use crate::observe::call_end::{CallEnd, CallOutcome};
use crate::observe::event::{Event, EventData};
use crate::observe::reason::Reason;

/// What [`Stats`](super::Stats) counted. Add up totals of several functions, threads or machines with `+=` or `sum()`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    succeeded: u64,
    healed: u64,
    fell_back: u64,
    /// By [`Reason`].
    gave_up: [u64; Reason::ALL.len()],
    attempts: u64,
    retries: u64,
    corrections: u64,
    hedges: u64,
    paused: Duration,
    last_error: Option<String>,
}

impl Totals {
    pub(super) const fn new() -> Self {
        Self {
            succeeded: 0,
            healed: 0,
            fell_back: 0,
            gave_up: [0; Reason::ALL.len()],
            attempts: 0,
            retries: 0,
            corrections: 0,
            hedges: 0,
            paused: Duration::ZERO,
            last_error: None,
        }
    }

    pub(super) fn count(&mut self, event: &Event<'_>, error: Option<String>) {
        match event.data {
            // A rejection is no attempt, so its retry is no retry of one.
            EventData::Retrying {
                kind: Kind::Rejected,
                ..
            } => {}
            EventData::Retrying { .. } => add(&mut self.retries, 1),
            EventData::Correcting { .. } => add(&mut self.corrections, 1),
            EventData::Hedging { .. } => add(&mut self.hedges, 1),
            EventData::Succeeded { corrections, .. } if event.attempt > 1 || corrections > 0 => {
                add(&mut self.healed, 1);
            }
            _ => {}
        }
        let pause = event.pause().unwrap_or_default();
        self.paused = self.paused.saturating_add(pause);
        if let Some(CallEnd { attempts, outcome }) = event.call_end() {
            add(&mut self.attempts, attempts.into());
            let ended = match outcome {
                CallOutcome::Succeeded => &mut self.succeeded,
                CallOutcome::FellBack => &mut self.fell_back,
                CallOutcome::GaveUp(reason) => &mut self.gave_up[reason as usize],
            };
            add(ended, 1);
        }
        if error.is_some() {
            self.last_error = error;
        }
    }

    fn counts(&mut self) -> impl Iterator<Item = &mut u64> {
        let counts = [
            &mut self.succeeded,
            &mut self.healed,
            &mut self.fell_back,
            &mut self.attempts,
            &mut self.retries,
            &mut self.corrections,
            &mut self.hedges,
        ];
        counts.into_iter().chain(&mut self.gave_up)
    }

    /// The calls that ended. One whose future was dropped has not.
    pub fn calls(&self) -> u64 {
        self.succeeded
            .saturating_add(self.fell_back)
            .saturating_add(self.gave_up())
    }

    /// The calls that succeeded, with or without retries.
    pub fn succeeded(&self) -> u64 {
        self.succeeded
    }

    /// The calls that succeeded although their first attempt did not, or after their value was corrected.
    pub fn healed(&self) -> u64 {
        self.healed
    }

    /// The calls that ended with what their `fallback` returned.
    pub fn fell_back(&self) -> u64 {
        self.fell_back
    }

    /// The calls that gave up.
    pub fn gave_up(&self) -> u64 {
        self.gave_up
            .iter()
            .fold(0, |sum, count| sum.saturating_add(*count))
    }

    /// The calls that gave up for that reason.
    pub fn gave_up_for(&self, reason: Reason) -> u64 {
        self.gave_up[reason as usize]
    }

    /// The attempts of the calls that ended.
    pub fn attempts(&self) -> u64 {
        self.attempts
    }

    /// The attempts that followed a failure and a pause; also those of calls that have not ended.
    pub fn retries(&self) -> u64 {
        self.retries
    }

    /// How many times `correct` was called.
    pub fn corrections(&self) -> u64 {
        self.corrections
    }

    /// The attempts that `hedge` began beside slow ones.
    pub fn hedges(&self) -> u64 {
        self.hedges
    }

    /// All pauses before retries and corrections, added up.
    pub fn paused(&self) -> Duration {
        self.paused
    }

    /// The last error of any attempt, as the log shows it. After adding up, that of the right side, if it has one.
    pub fn last_error(&self) -> Option<&str> {
        self.last_error.as_deref()
    }
}

impl AddAssign for Totals {
    fn add_assign(&mut self, mut other: Self) {
        for (sum, count) in self.counts().zip(other.counts()) {
            add(sum, *count);
        }
        self.paused = self.paused.saturating_add(other.paused);
        self.last_error = other.last_error.or(self.last_error.take());
    }
}

impl Sum for Totals {
    fn sum<I: Iterator<Item = Self>>(totals: I) -> Self {
        totals.fold(Self::new(), |mut sum, totals| {
            sum += totals;
            sum
        })
    }
}

/// One line: `2 calls, 4 attempts, 2 retries; 1 gave up (1 exhausted); last error: busy`.
impl fmt::Display for Totals {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let calls = self.calls();
        let (attempts, retries) = (self.attempts, self.retries);
        write!(
            f,
            "{calls} call{}, {attempts} attempt{}, {retries} retr{}",
            plural(calls, "", "s"),
            plural(attempts, "", "s"),
            plural(retries, "y", "ies"),
        )?;
        for (count, what) in [
            (self.corrections, "corrected"),
            (self.hedges, "hedged"),
            (self.healed, "healed"),
            (self.fell_back, "fell back"),
            (self.gave_up(), "gave up"),
        ] {
            if count > 0 {
                write!(f, "; {count} {what}")?;
            }
        }
        let reasons = Reason::ALL.into_iter().zip(self.gave_up);
        for (index, (reason, count)) in reasons.filter(|(_, count)| *count > 0).enumerate() {
            let before = if index == 0 { " (" } else { ", " };
            write!(f, "{before}{count} {reason}")?;
        }
        if self.gave_up() > 0 {
            f.write_str(")")?;
        }
        match &self.last_error {
            Some(error) => write!(f, "; last error: {error}"),
            None => Ok(()),
        }
    }
}

fn plural<'a>(count: u64, one: &'a str, many: &'a str) -> &'a str {
    if count == 1 { one } else { many }
}

fn add(sum: &mut u64, count: u64) {
    *sum = sum.saturating_add(count);
}
