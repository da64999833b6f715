use std::collections::BTreeMap;
use std::fmt;
use std::sync::Mutex;
use std::time::Duration;

use retry_runtime::macro_support::{CallEnd, shown, sync::lock};
use retry_runtime::{Event, EventData, Kind, Observer, Reason};

/// Counts calls, attempts and their outcomes: an observer for the key `observe`.
///
/// ```
/// use retry_observers::Stats;
/// use retry_runtime::{Reason, retry};
///
/// static STATS: Stats = Stats::new();
///
/// #[retry(max = 2, backoff = "none", observe = &STATS, on = |_| true)]
/// fn read(path: &str) -> Result<String, String> {
///     match path {
///         "here" => Ok(String::from("text")),
///         _ => Err(String::from("busy")),
///     }
/// }
///
/// assert!(read("here").is_ok());
/// assert!(read("gone").is_err());
/// let totals = STATS.totals();
/// assert_eq!((totals.calls(), totals.attempts, totals.retries), (2, 4, 2));
/// assert_eq!(totals.gave_up_for(Reason::Exhausted), 1);
/// assert_eq!(totals.last_error.as_deref(), Some("busy"));
/// assert_eq!(
///     totals.to_string(),
///     "2 calls, 4 attempts, 2 retries; 1 gave up (1 exhausted); last error: busy",
/// );
/// ```
///
/// A batch is one call, whose attempts are its rounds. A plan is one call, and each of its subtasks is another.
///
/// `Stats` briefly takes a lock at each event except the start of an attempt.
#[derive(Debug, Default)]
pub struct Stats(Mutex<Option<Totals>>);

impl Stats {
    /// Creates an observer with all counts at zero. It can be a `static`.
    pub const fn new() -> Self {
        Self(Mutex::new(None))
    }

    /// Returns the counts so far.
    pub fn totals(&self) -> Totals {
        lock(&self.0).clone().unwrap_or_default()
    }

    /// Returns the counts so far, and resets them to zero.
    pub fn take(&self) -> Totals {
        lock(&self.0).take().unwrap_or_default()
    }
}

impl Observer for Stats {
    fn observe(&self, event: &Event<'_>) {
        if let EventData::Started = event.data {
            return;
        }
        // Formatted before the lock: the user's `Display` may make a retried call.
        let error = event.error().map(|error| shown(error).to_string());
        lock(&self.0).get_or_insert_default().count(event, error);
    }
}

/// The counts of [`Stats`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    /// The number of calls that succeeded, with or without retries.
    pub succeeded: u64,
    /// The number of calls that succeeded after a failed first attempt, or after their value was corrected.
    pub recovered: u64,
    /// The number of calls that ended with the value of their `fallback`.
    pub fell_back: u64,
    /// The number of attempts made by calls that ended.
    pub attempts: u64,
    /// The retries, counted when their pause starts, including those of calls that have not ended.
    pub retries: u64,
    /// The number of calls of `correct`.
    pub corrections: u64,
    /// The number of attempts that `hedge` started next to those in flight.
    pub hedges: u64,
    /// The sum of all pauses before retries and corrections.
    pub paused: Duration,
    /// The last error of any event, as the log shows it.
    pub last_error: Option<String>,
    /// The number of calls that gave up for each reason.
    gave_up: BTreeMap<Reason, u64>,
}

impl Totals {
    fn count(&mut self, event: &Event<'_>, error: Option<String>) {
        match event.data {
            // A rejection is not an attempt, so trying again after a rejection is not a retry.
            EventData::Retrying {
                kind: Kind::Rejected,
                ..
            } => {}
            EventData::Retrying { .. } => self.retries += 1,
            EventData::Correcting { .. } => self.corrections += 1,
            EventData::Hedging { .. } => self.hedges += 1,
            EventData::Succeeded { corrections, .. } if event.attempt > 1 || corrections > 0 => {
                self.recovered += 1;
            }
            _ => {}
        }
        let pause = event.pause().unwrap_or_default();
        self.paused = self.paused.saturating_add(pause);
        if let Some((attempts, end)) = event.call_end() {
            self.attempts += u64::from(attempts);
            match end {
                CallEnd::Succeeded => self.succeeded += 1,
                CallEnd::FellBack => self.fell_back += 1,
                CallEnd::GaveUp(reason) => *self.gave_up.entry(reason).or_default() += 1,
            }
        }
        if error.is_some() {
            self.last_error = error;
        }
    }

    /// The number of calls that ended, without calls whose future was dropped.
    pub fn calls(&self) -> u64 {
        self.succeeded + self.fell_back + self.gave_up()
    }

    /// The number of calls that gave up.
    pub fn gave_up(&self) -> u64 {
        self.gave_up.values().sum()
    }

    /// The number of calls that gave up for this reason.
    pub fn gave_up_for(&self, reason: Reason) -> u64 {
        self.gave_up.get(&reason).copied().unwrap_or_default()
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
            (self.recovered, "recovered"),
            (self.fell_back, "fell back"),
            (self.gave_up(), "gave up"),
        ] {
            if count > 0 {
                write!(f, "; {count} {what}")?;
            }
        }
        let reasons = self.gave_up.iter();
        let reasons: Vec<_> = reasons
            .map(|(reason, count)| format!("{count} {reason}"))
            .collect();
        if !reasons.is_empty() {
            write!(f, " ({})", reasons.join(", "))?;
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
