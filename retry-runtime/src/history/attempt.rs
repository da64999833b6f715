use core::mem;
use core::sync::atomic::Ordering::Relaxed;
use core::sync::atomic::{AtomicU8, AtomicU32};
use core::time::Duration;

use retry_classify::{Kind, Verdict};

use crate::history::call_id::LazyCallId;
use crate::history::errors::{Errors, Note};
use crate::history::gave_up::Taken;
use crate::history::{CallId, GaveUp};
use crate::observe::Reason;
use crate::policy::schedule::limit;
use crate::time::{Clock, Moment};

/// The current attempt, as seen by the body of an annotated function: the key `attempt`.
///
/// ```
/// use retry_runtime::retry;
///
/// # struct Response;
/// # async fn post(_key: String, _prompt: &str) -> Result<Response, String> { Ok(Response) }
/// #[retry(attempt = attempt, on = |_| true)]
/// async fn complete(prompt: &str) -> Result<Response, String> {
///     if let Some(error) = attempt.last_error() {
///         eprintln!("attempt {} follows {error}", attempt.number());
///     }
///     post(attempt.call_id().to_string(), prompt).await
/// }
/// ```
///
/// The errors of earlier attempts are kept until the call ends, so the function's future is `Send` only if the error
/// type is `Send` and `Sync`. Of more than 110 errors, only the first 10 and the last 100 are kept.
///
/// In a function with the key `validate`, the name is bound to an `&Attempt<E, Draft<T>>`, which also has the last
/// rejected value, alone (`last_value`) or with the error that rejected it (`rejected`). The functions of `validate`
/// and `correct` can use the attempt, too.
///
/// In a function with `stream = "resume"`, the name is bound to an `&Attempt<E, Items<T>>`, which also has the number
/// of items yielded by earlier attempts (`yielded`), the last of them (`last_item`) and the position set by the body
/// (`position`, `advance`).
#[derive(Debug)]
pub struct Attempt<E, K = ()> {
    /// The number of the attempt that is being polled. With the key `hedge`, several attempts take turns on one task,
    /// and each one sees its own number.
    number: AtomicU32,
    /// The number of attempts that have started.
    begun: AtomicU32,
    max: Option<u32>,
    errors: Errors<E>,
    /// The number of equal errors in a row up to the last one, as far as errors were compared.
    repeats: u32,
    /// The number of attempts before the last one that made progress. Their retries don't count against `max`.
    before_progress: u32,
    corrections: u32,
    /// True if the last result was an error, and not an item or a value that `until` rejected.
    last_failed: bool,
    /// The time that the attempt must last to count as progress, in milliseconds; [`NO_PROGRESS`] if not set.
    progress: AtomicU32,
    /// The kind of the last failure, as its index in `Kind::ALL` plus 1, or 0 for none. Atomic, so that it can be set
    /// while attempts borrow the history.
    kind: AtomicU8,
    started: Moment,
    clock: Clock,
    call_id: LazyCallId,
    /// Other data kept from earlier attempts: nothing, a stream's items or a rejected value.
    kept: K,
}

const NO_PROGRESS: u32 = u32::MAX;

/// The last value that validation rejected, and the index of its error among all errors of the call: see [`Attempt`].
#[derive(Debug)]
pub struct Draft<T>(Option<(T, u64)>);

impl<E, K> Attempt<E, K> {
    /// The state before the first attempt of a call that starts now on this clock.
    #[doc(hidden)]
    pub fn before_first(clock: Clock, kept: K) -> Self {
        Self {
            number: AtomicU32::new(0),
            begun: AtomicU32::new(0),
            max: None,
            errors: Errors::new(),
            repeats: 0,
            before_progress: 0,
            corrections: 0,
            last_failed: false,
            progress: AtomicU32::new(NO_PROGRESS),
            kind: AtomicU8::new(0),
            started: clock.now(),
            clock,
            call_id: LazyCallId::new(),
            kept,
        }
    }

    #[doc(hidden)]
    pub fn begin(&mut self, max: u32) {
        let number = self.begun.get_mut();
        *number = number.saturating_add(1);
        *self.number.get_mut() = *number;
        self.max = limit(max);
        if *number > 1 {
            self.note_start();
        }
    }

    /// Records when a retry starts. The first attempt starts with the call, so a call that succeeds on its first
    /// attempt stores no time.
    #[cold]
    fn note_start(&mut self) {
        if !matches!(self.clock, Clock::None) {
            let began = self.clock.now().since(self.started);
            self.errors.note_start(self.begun(), began);
        }
    }

    /// Records that another attempt starts next to those in flight.
    #[doc(hidden)]
    pub fn count_hedge(&self) {
        self.begun.fetch_add(1, Relaxed);
    }

    /// The number of the last attempt that started.
    #[doc(hidden)]
    pub fn begun(&self) -> u32 {
        self.begun.load(Relaxed)
    }

    /// Sets the number that [`number`](Self::number) returns.
    #[doc(hidden)]
    pub fn show(&self, number: u32) {
        self.number.store(number, Relaxed);
    }

    /// Updates the clock from the user's timer.
    #[doc(hidden)]
    pub fn tick(&mut self, now: Moment) {
        self.clock = Clock::Read(now);
    }

    pub(crate) fn set_clock(&mut self, clock: Clock) {
        self.clock = clock;
    }

    /// The error of the previous attempt, unless that attempt ended with a rejected value.
    #[doc(hidden)]
    pub fn last_failure(&self) -> Option<&E> {
        self.last_error().filter(|_| self.last_failed)
    }

    /// Takes the error that [`Self::last_failure`] returns, because the call ends with it.
    #[doc(hidden)]
    pub fn take_last_failure(&mut self) -> Option<E> {
        self.last_failed.then(|| self.errors.pop()).flatten()
    }

    /// Records and returns the verdict on the failure of the current attempt.
    #[doc(hidden)]
    pub fn judged(&self, verdict: Verdict) -> Verdict {
        let kind = verdict.kind().map_or(0, |kind| kind as u8 + 1);
        self.kind.store(kind, Relaxed);
        verdict
    }

    #[doc(hidden)]
    pub fn failed(&mut self, error: E) {
        self.last_failed = true;
        let note = self.note();
        self.errors.push(error, note);
    }

    /// Keeps the error of an attempt that failed while others went on.
    #[doc(hidden)]
    pub fn hedge_failed(&mut self, error: E) {
        self.last_failed = true;
        self.errors.push(error, Note::default());
    }

    /// Records the pause after the last error.
    #[doc(hidden)]
    pub fn paused(&mut self, pause: Duration) {
        self.errors.set_pause(pause);
    }

    /// The note on the attempt that failed last.
    fn note(&self) -> Note {
        let number = usize::from(self.kind.load(Relaxed));
        let began = match self.clock {
            Clock::None => None,
            _ => self.errors.start_of(self.begun()),
        };
        Note {
            number: Some(self.number()),
            began,
            kind: number
                .checked_sub(1)
                .and_then(|index| Kind::ALL.get(index).copied()),
            pause: None,
        }
    }

    #[doc(hidden)]
    pub fn corrected(&mut self, error: E) {
        self.judged(Verdict::INVALID);
        self.failed(error);
        self.corrections = self.corrections.saturating_add(1);
    }

    /// Ends the run of consecutive errors, because an attempt yielded an item, made progress, or returned a value.
    #[doc(hidden)]
    pub fn interrupted(&mut self) {
        self.last_failed = false;
        self.repeats = 0;
    }

    /// The duration of the failed attempt on this clock, for [`Call::restarted`](crate::own_loop::Call::restarted).
    /// `None` if the attempt made no progress. For a stream, `streamed` contains its start, and true if it yielded an
    /// item.
    #[doc(hidden)]
    pub fn take_progress(
        &mut self,
        streamed: Option<(Moment, bool)>,
        now: impl FnOnce() -> Moment,
    ) -> Option<Duration> {
        let progress = mem::replace(self.progress.get_mut(), NO_PROGRESS);
        if progress == NO_PROGRESS && streamed.is_none_or(|(_, yielded)| !yielded) {
            return None;
        }
        let began = match streamed {
            Some((began, _)) => Some(began),
            None => self
                .errors
                .start_of(self.begun())
                .and_then(|after| self.started.checked_add(after)),
        };
        let lasted = began.map_or(Duration::ZERO, |began| now().since(began));
        let lasted = match progress {
            0 | NO_PROGRESS => lasted,
            least if lasted < Duration::from_millis(least.into()) => return None,
            // The attempt lasted as long as required, so the length of the pause before it doesn't matter.
            _ => Duration::MAX,
        };
        self.interrupted();
        self.before_progress = self.begun().saturating_sub(1);
        Some(lasted)
    }

    /// Returns true if `error` is at least the `times`th equal error in a row. Call it once for each error, before the
    /// error is stored.
    pub(crate) fn is_repeated(&mut self, error: &E, times: u32, same: fn(&E, &E) -> bool) -> bool {
        let last = self.errors.kept().last().filter(|_| self.last_failed);
        self.repeats = match last {
            // The first error after an item was not compared.
            Some(last) if same(last, error) => self.repeats.max(1).saturating_add(1),
            _ => 1,
        };
        self.repeats >= times
    }

    /// Takes the errors of a call that gives up with this error. A call whose fallback fails gives up a second time.
    #[doc(hidden)]
    pub fn gave_up(&mut self, error: E, reason: Reason, taken: &Taken) -> GaveUp<E, K::Value>
    where
        K: Retained,
    {
        self.errors.push_note(self.note());
        let left_out = self.errors.without_errors();
        GaveUp {
            elapsed: self.elapsed(),
            earlier: mem::replace(&mut self.errors, left_out),
            error,
            corrections: self.corrections,
            last_value: self.kept.take_value(),
            reason,
            taken: taken.clone(),
        }
    }

    #[cfg(feature = "stream")]
    pub(crate) fn kept(&self) -> &K {
        &self.kept
    }

    #[cfg(feature = "stream")]
    pub(crate) fn kept_mut(&mut self) -> &mut K {
        &mut self.kept
    }

    /// The number of this attempt, from 1.
    pub fn number(&self) -> u32 {
        self.number.load(Relaxed)
    }

    /// The retries allowed after the first attempt, or `None` if they are unlimited.
    pub fn max(&self) -> Option<u32> {
        self.max
    }

    /// Marks that this attempt made progress, so that retries are counted from 0 again. If the attempt fails, its
    /// failure counts as the first one, and `max` retries may follow. The `deadline` does not change. Call it in the
    /// body, or in a hook for the next attempt.
    ///
    /// Delays start at `base` again if the attempt lasted longer than the pause before it. Otherwise they keep growing.
    /// An item of a stream with `stream = "resume"` counts as progress, too, with the same rule for delays.
    ///
    /// ```
    /// use retry_runtime::retry;
    ///
    /// #[retry(max = 1, backoff = "none", attempt = attempt, on = |_| true)]
    /// fn load(pages: &mut Vec<u32>) -> Result<(), String> {
    ///     if pages.pop().is_some() {
    ///         attempt.progress();
    ///     }
    ///     Err(String::from("connection reset"))
    /// }
    ///
    /// let mut pages = vec![3, 2, 1];
    /// assert!(load(&mut pages).is_err());
    /// assert!(pages.is_empty()); // one retry after each page
    /// ```
    pub fn progress(&self) {
        self.progress_after(Duration::ZERO);
    }

    /// Counts this attempt as progress if it lasts at least `time`: retries are then counted from 0 again, and delays
    /// start at `base`. If the attempt fails earlier, it made no progress, even if a stream yielded items. `time` is
    /// rounded up to milliseconds and at most 49 days; [`Duration::MAX`] means never.
    pub fn progress_after(&self, time: Duration) {
        let millis = time.as_nanos().div_ceil(1_000_000);
        let millis = u32::try_from(millis).unwrap_or(u32::MAX);
        self.progress.store(millis.min(NO_PROGRESS - 1), Relaxed);
    }

    /// Returns true if this is the last attempt that `max` allows. A deadline or a failure that isn't retried may end
    /// the call earlier; a section with its own `max` may end it later. Only the retries since the last progress count.
    pub fn is_last(&self) -> bool {
        let attempts = self.number().saturating_sub(self.before_progress);
        self.max.is_some_and(|max| attempts > max)
    }

    /// The time since the start of the call. With the key `timer`, the time up to the start of this attempt; for a
    /// hedged attempt, up to the start of the first concurrent attempt.
    pub fn elapsed(&self) -> Duration {
        self.clock.now().since(self.started)
    }

    /// An idempotency key. All attempts of a call share it, and no other call has the same one.
    ///
    /// # Panics
    ///
    /// If no random numbers are available: in a page without `crypto`, or, without the feature `std`, if the program's
    /// generator fails.
    pub fn call_id(&self) -> CallId {
        self.call_id.get()
    }

    /// The number of corrections (the key `correct`) that were validated so far, including those in earlier attempts.
    /// During the first correction, it is 0.
    pub fn corrections(&self) -> u32 {
        self.corrections
    }

    /// The latest error. `None` in the first attempt, or if earlier attempts only ended with values that `until`
    /// rejected.
    pub fn last_error(&self) -> Option<&E> {
        self.errors.kept().last()
    }

    /// The errors of all earlier attempts, in order: if there are more than 110, the first 10 and the last 100. With
    /// the key `hedge`, an attempt doesn't see the errors of concurrent attempts.
    pub fn errors(&self) -> &[E] {
        self.errors.kept()
    }

    /// The number of errors missing between the first 10 of [`errors`](Self::errors) and the rest: 0 unless there were
    /// more than 110.
    pub fn errors_left_out(&self) -> u64 {
        self.errors.left_out()
    }
}

impl<E> Attempt<E> {
    /// A copy without the errors, for a call that can't access them because an attempt still holds the history.
    pub(crate) fn without_errors(&self) -> Self {
        Self {
            number: AtomicU32::new(self.number()),
            begun: AtomicU32::new(self.begun()),
            errors: self.errors.without_errors(),
            progress: AtomicU32::new(self.progress.load(Relaxed)),
            kind: AtomicU8::new(self.kind.load(Relaxed)),
            call_id: self.call_id.share(),
            ..*self
        }
    }
}

impl<T> Draft<T> {
    #[doc(hidden)]
    pub fn none() -> Self {
        Self(None)
    }
}

/// Methods for a function with the key `validate`.
impl<E, T> Attempt<E, Draft<T>> {
    /// Keeps a rejected value. Call this before its error is recorded: the next error counts as the one that rejected
    /// it.
    #[doc(hidden)]
    pub fn keep_value(&mut self, value: T) {
        self.kept.0 = Some((value, self.errors.count()));
    }

    /// The last value that `validate` rejected, or `None` if there is none. A value that `correct` repairs is passed
    /// only to that key's function.
    ///
    /// [`last_error`](Self::last_error) may be from a later attempt, for example one that timed out. For the error that
    /// rejected this value, use [`rejected`](Self::rejected).
    pub fn last_value(&self) -> Option<&T> {
        self.kept.0.as_ref().map(|(value, _)| value)
    }

    /// The last value that `validate` rejected, and the error that rejected it. Later failures of other attempts don't
    /// change either. `None` if no value was rejected, or if its error was [left out](Self::errors_left_out).
    ///
    /// ```
    /// use retry_runtime::retry;
    ///
    /// fn check(answer: &String) -> Result<(), String> {
    ///     answer.parse::<u32>().map(drop).map_err(|error| error.to_string())
    /// }
    ///
    /// #[retry(validate = check, attempt = attempt, backoff = "none", on = |_| true)]
    /// fn count(prompts: &mut Vec<String>) -> Result<String, String> {
    ///     prompts.push(match attempt.rejected() {
    ///         Some((answer, error)) => format!("Not {answer:?}: {error}"),
    ///         None => String::from("How many?"),
    ///     });
    ///     match attempt.number() {
    ///         1 => Ok(String::from("three")),
    ///         2 => Err(String::from("timed out")),
    ///         _ => Ok(String::from("3")),
    ///     }
    /// }
    ///
    /// let mut prompts = Vec::new();
    /// assert_eq!(count(&mut prompts).as_deref(), Ok("3"));
    /// assert_eq!(prompts[2], r#"Not "three": invalid digit found in string"#);
    /// ```
    pub fn rejected(&self) -> Option<(&T, &E)> {
        let (value, place) = self.kept.0.as_ref()?;
        Some((value, self.errors.get(*place)?))
    }
}

/// Data kept from earlier attempts, part of which a call returns when it gives up.
pub trait Retained {
    type Value;
    fn take_value(&mut self) -> Option<Self::Value> {
        None
    }
}

impl Retained for () {
    type Value = ();
}

impl<T> Retained for Draft<T> {
    type Value = T;

    fn take_value(&mut self) -> Option<T> {
        self.0.take().map(|(value, _)| value)
    }
}
