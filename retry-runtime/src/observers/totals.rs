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
    /// How many of each [`Count`].
    counts: [u64; 7],
    /// How many calls gave up for each [`Reason`].
    gave_up: [u64; Reason::ALL.len()],
    paused: Duration,
    last_error: Option<String>,
}

macro_rules! counts {
    ($($(#[$doc:meta])* $name:ident $count:ident;)*) => {
        #[derive(Clone, Copy)]
        enum Count {
            $($count,)*
        }

        impl Totals {
            $(
                $(#[$doc])*
                pub fn $name(&self) -> u64 {
                    self.counts[Count::$count as usize]
                }
            )*
        }
    };
}

counts! {
    /// The calls that succeeded, with or without retries.
    succeeded Succeeded;
    /// The calls that succeeded although their first attempt did not, or after their value was
    /// corrected.
    healed Healed;
    /// The calls that ended with what their `fallback` returned.
    fell_back FellBack;
    /// The attempts of the calls that ended.
    attempts Attempts;
    /// The attempts that followed a failure and a pause; also those of calls that have not ended.
    retries Retries;
    /// How many times `correct` was called.
    corrections Corrections;
    /// The attempts that `hedge` began beside slow ones.
    hedges Hedges;
}

impl Totals {
    pub(super) const fn new() -> Self {
        Self {
            counts: [0; 7],
            gave_up: [0; Reason::ALL.len()],
            paused: Duration::ZERO,
            last_error: None,
        }
    }

    fn add(&mut self, count: Count, more: u64) {
        add(&mut self.counts[count as usize], more);
    }

    pub(super) fn count(&mut self, event: &Event<'_>, error: Option<String>) {
        match event.data {
            // A rejection is no attempt, so its retry is no retry of one.
            EventData::Retrying {
                kind: Kind::Rejected,
                ..
            } => {}
            EventData::Retrying { .. } => self.add(Count::Retries, 1),
            EventData::Correcting { .. } => self.add(Count::Corrections, 1),
            EventData::Hedging { .. } => self.add(Count::Hedges, 1),
            EventData::Succeeded { corrections, .. } if event.attempt > 1 || corrections > 0 => {
                self.add(Count::Healed, 1);
            }
            _ => {}
        }
        let pause = event.pause().unwrap_or_default();
        self.paused = self.paused.saturating_add(pause);
        if let Some(CallEnd { attempts, outcome }) = event.call_end() {
            self.add(Count::Attempts, attempts.into());
            match outcome {
                CallOutcome::Succeeded => self.add(Count::Succeeded, 1),
                CallOutcome::FellBack => self.add(Count::FellBack, 1),
                CallOutcome::GaveUp(reason) => add(&mut self.gave_up[reason as usize], 1),
            }
        }
        if error.is_some() {
            self.last_error = error;
        }
    }

    fn counts(&mut self) -> impl Iterator<Item = &mut u64> {
        self.counts.iter_mut().chain(&mut self.gave_up)
    }

    /// The calls that ended. One whose future was dropped has not.
    pub fn calls(&self) -> u64 {
        let ended = self.succeeded().saturating_add(self.fell_back());
        ended.saturating_add(self.gave_up())
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
        let (attempts, retries) = (self.attempts(), self.retries());
        write!(
            f,
            "{calls} call{}, {attempts} attempt{}, {retries} retr{}",
            plural(calls, "", "s"),
            plural(attempts, "", "s"),
            plural(retries, "y", "ies"),
        )?;
        for (count, what) in [
            (self.corrections(), "corrected"),
            (self.hedges(), "hedged"),
            (self.healed(), "healed"),
            (self.fell_back(), "fell back"),
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
