use alloc::string::{String, ToString};
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::error::Error;
use core::sync::atomic::AtomicBool;
use core::sync::atomic::Ordering::Relaxed;
use core::time::Duration;
use core::{array, fmt};

use retry_classify::Kind;
use retry_classify::macro_support::shown;

use crate::history::errors::{Errors, FIRST_KEPT};
use crate::observe::Reason;
use crate::observe::fields::Delay;

/// A call that gave up: the argument of the functions for `give_up` and `fallback`.
///
/// ```
/// use retry_runtime::{GaveUp, Reason, retry};
///
/// fn explain(gave_up: GaveUp<String>) -> String {
///     format!("{} after {} attempts", gave_up.error(), gave_up.attempts())
/// }
///
/// #[retry(max = 2, backoff = "none", give_up = explain, on = |_| true)]
/// fn complete() -> Result<(), String> {
///     Err(String::from("503 overloaded"))
/// }
/// assert_eq!(complete(), Err(String::from("503 overloaded after 3 attempts")));
/// ```
///
/// `{}` prints one line: `gave up after 3 attempts in 2s (exhausted): 503 overloaded`. `{:#}` adds a table of the
/// failed attempts:
///
/// ```text
/// gave up after 3 attempts in 3.5s (exhausted): 503 overloaded
/// attempt  began  kind       pause  error
///       1  0ns    transient  1s     503 overloaded
///       2  1.25s  throttled  2s     429 slow down
///       3  3.5s   transient         503 overloaded
/// ```
///
/// The errors are printed as in the log: at most 1 KiB each, with escaped control characters, and URLs without user
/// info, query and fragment. With the feature `serde` it can be serialized, with times in seconds.
///
/// As an [`Error`], it represents the error of the last attempt: its source is that error's source, so a report of the
/// whole chain doesn't repeat the error.
///
/// In a function with the key `validate`, it is a `GaveUp<E, T>`, which also has the last rejected value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GaveUp<E, T = ()> {
    pub(crate) earlier: Errors<E>,
    pub(crate) error: E,
    pub(crate) corrections: u32,
    pub(crate) last_value: Option<T>,
    pub(crate) elapsed: Duration,
    pub(crate) reason: Reason,
    pub(crate) taken: Taken,
}

/// Data about a call that gave up, for the report of its fallback.
#[derive(Clone, Debug)]
pub struct Taken {
    pub(crate) attempts: u32,
    /// True once the fallback has taken the call's error, which it then usually returns.
    is_set: Arc<AtomicBool>,
}

impl Taken {
    /// The data of a call that gave up after this number of attempts, and whose fallback has not started.
    pub fn new(attempts: u32) -> Self {
        let is_set = Arc::default();
        Self { attempts, is_set }
    }

    pub(crate) fn is_set(&self) -> bool {
        self.is_set.load(Relaxed)
    }
}

/// Two calls that gave up are equal even if only one fallback has taken its error.
impl PartialEq for Taken {
    fn eq(&self, other: &Self) -> bool {
        self.attempts == other.attempts
    }
}

impl Eq for Taken {}

/// A failed attempt of a call that gave up, from [`GaveUp::failures`](crate::GaveUp::failures).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct FailedAttempt<'a, E> {
    /// The number of the attempt, from 1. `None` if the attempt failed while others went on, with the key `hedge`.
    pub number: Option<u32>,
    /// The start of the attempt, measured from the start of the call. `None` if the key `hedge` started others next to
    /// it, or if the clock was not read, see [`failures`](crate::GaveUp::failures).
    pub began: Option<Duration>,
    /// The kind of failure. `None` if it is not retried, or if `number` is `None`.
    pub kind: Option<Kind>,
    /// The pause after the attempt. `None` if the call ended without a pause.
    pub pause: Option<Duration>,
    /// The error.
    pub error: &'a E,
}

impl<E, T> GaveUp<E, T> {
    /// The error of the last attempt.
    pub fn error(&self) -> &E {
        &self.error
    }

    /// The errors in order, including the last attempt's: if there are more than 111, the first 10 and the last 101. An
    /// attempt whose value `until` rejected has no error.
    pub fn errors(&self) -> impl DoubleEndedIterator<Item = &E> {
        let earlier = self.earlier.kept().iter();
        earlier.chain(core::iter::once(&self.error))
    }

    /// The attempts that failed with these errors, in order. An attempt whose value `until` rejected is not included.
    ///
    /// ```
    /// use std::time::Duration;
    /// use retry_runtime::{GaveUp, Kind, retry};
    ///
    /// fn pauses(gave_up: GaveUp<String>) -> String {
    ///     assert!(gave_up.failures().all(|failed| failed.kind == Some(Kind::Transient)));
    ///     let pauses = gave_up.failures().filter_map(|failed| failed.pause);
    ///     let pauses: Vec<_> = pauses.collect();
    ///     format!("{} after pauses of {pauses:?}", gave_up.error())
    /// }
    ///
    /// #[retry(max = 1, base = "1ms", jitter = "none", give_up = pauses, on = |_| true)]
    /// fn complete() -> Result<(), String> {
    ///     Err(String::from("503"))
    /// }
    /// assert_eq!(complete(), Err(String::from("503 after pauses of [1ms]")));
    /// ```
    ///
    /// The clock is not read if the function of `give_up` or `fallback` is a closure that only calls methods that don't
    /// use the time.
    pub fn failures(&self) -> impl Iterator<Item = FailedAttempt<'_, E>> {
        self.errors()
            .zip(self.earlier.notes())
            .map(|(error, note)| FailedAttempt {
                number: note.number,
                began: note.began,
                kind: note.kind,
                pause: note.pause,
                error,
            })
    }

    /// The number of errors missing between the first 10 of [`errors`](Self::errors) and the rest: 0 unless there were
    /// more than 111.
    pub fn errors_left_out(&self) -> u64 {
        self.earlier.left_out()
    }

    /// The error of the last attempt, by value.
    pub fn into_error(self) -> E {
        self.taken.is_set.store(true, Relaxed);
        self.error
    }

    /// The errors of all attempts, by value: see [`errors`](Self::errors).
    pub fn into_errors(self) -> Vec<E> {
        self.taken.is_set.store(true, Relaxed);
        let mut errors = self.earlier.into_kept();
        errors.push(self.error);
        errors
    }

    /// The number of attempts made.
    pub fn attempts(&self) -> u32 {
        self.taken.attempts
    }

    /// The number of times that the key `correct` was called, including a call that failed.
    pub fn corrections(&self) -> u32 {
        self.corrections
    }

    /// The last value that the key `validate` rejected. `None` without that key, if no value was rejected, or if
    /// `correct` took the value and failed.
    pub fn last_value(&self) -> Option<&T> {
        self.last_value.as_ref()
    }

    /// The last rejected value, by value.
    pub fn into_last_value(self) -> Option<T> {
        self.last_value
    }

    /// The time from the start of the call to its end.
    pub fn elapsed(&self) -> Duration {
        self.elapsed
    }

    /// The reason that no attempt follows.
    pub fn reason(&self) -> Reason {
        self.reason
    }
}

impl<E: fmt::Display, T> fmt::Display for GaveUp<E, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (attempts, elapsed) = (self.attempts(), Delay::new(self.elapsed));
        let reason = self.reason;
        let plural = if attempts == 1 { "" } else { "s" };
        write!(
            f,
            "gave up after {attempts} attempt{plural} in {elapsed} ({reason}): {}",
            shown(&self.error)
        )?;
        if f.alternate() {
            self.write_table(f)?;
        }
        Ok(())
    }
}

impl<E: fmt::Display, T> GaveUp<E, T> {
    fn write_table(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let header = ["attempt", "began", "kind", "pause"].map(String::from);
        let cells = self.failures().map(|failed| {
            [
                failed.number.map(|number| number.to_string()),
                failed.began.map(|began| Delay::new(began).to_string()),
                failed.kind.map(|kind| kind.to_string()),
                failed.pause.map(|pause| Delay::new(pause).to_string()),
            ]
            .map(Option::unwrap_or_default)
        });
        let rows: Vec<_> = [header].into_iter().chain(cells).collect();
        let widths: [usize; 4] = array::from_fn(|column| {
            let widths = rows.iter().map(|row| row[column].chars().count());
            widths.max().unwrap_or_default()
        });
        let [number, began, kind, pause] = widths;
        let mut errors = self.errors();
        for (index, row) in rows.iter().enumerate() {
            write!(
                f,
                "\n{:>number$}  {:began$}  {:kind$}  {:pause$}  ",
                row[0], row[1], row[2], row[3]
            )?;
            match index.checked_sub(1).and_then(|_| errors.next()) {
                Some(error) => write!(f, "{}", shown(error))?,
                None => f.write_str("error")?,
            }
            let left_out = self.errors_left_out();
            if index == FIRST_KEPT && left_out > 0 {
                write!(f, "\n… {left_out} left out")?;
            }
        }
        Ok(())
    }
}

impl<E: Error + 'static, T: fmt::Debug> Error for GaveUp<E, T> {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.error.source()
    }
}

#[cfg(feature = "serde")]
mod serialize {
    use serde::ser::{Serialize, SerializeStruct, Serializer};

    use super::{FailedAttempt, GaveUp, Vec, fmt, shown};

    /// Times are in seconds, and reasons and kinds are written as in the log.
    impl<E: fmt::Display, T> Serialize for GaveUp<E, T> {
        fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
            let mut report = serializer.serialize_struct("GaveUp", 7)?;
            report.serialize_field("reason", &Text(self.reason()))?;
            report.serialize_field("attempts", &self.attempts())?;
            report.serialize_field("corrections", &self.corrections())?;
            report.serialize_field("elapsed", &self.elapsed().as_secs_f64())?;
            report.serialize_field("error", &Text(shown(self.error())))?;
            report.serialize_field("failures", &self.failures().collect::<Vec<_>>())?;
            report.serialize_field("failures_left_out", &self.errors_left_out())?;
            report.end()
        }
    }

    impl<E: fmt::Display> Serialize for FailedAttempt<'_, E> {
        fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
            let mut failed = serializer.serialize_struct("FailedAttempt", 5)?;
            failed.serialize_field("attempt", &self.number)?;
            failed.serialize_field("began", &self.began.map(|began| began.as_secs_f64()))?;
            failed.serialize_field("kind", &self.kind.map(Text))?;
            failed.serialize_field("pause", &self.pause.map(|pause| pause.as_secs_f64()))?;
            failed.serialize_field("error", &Text(shown(self.error)))?;
            failed.end()
        }
    }

    /// Serializes a `Display` value as a string.
    struct Text<D>(D);

    impl<D: fmt::Display> Serialize for Text<D> {
        fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
            serializer.collect_str(&self.0)
        }
    }
}
