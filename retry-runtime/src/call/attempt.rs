use core::mem;
use core::sync::atomic::Ordering::Relaxed;
use core::sync::atomic::{AtomicU8, AtomicU32};
use core::time::Duration;

use crate::call::call_id::{CallId, Drawn};
use crate::call::errors::Errors;
use crate::call::gave_up::GaveUp;
use crate::call::note::Note;
use crate::classify::kind::Kind;
use crate::classify::verdict::Verdict;
use crate::observe::reason::Reason;
use crate::policy::schedule::limit;
use crate::time::moment::Clock;
use crate::time::moment::Moment;

/// What the body of an annotated function knows about the current attempt: the key `attempt`.
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
/// type is `Send` and `Sync`. If there are more than 110, only the first 10 and the last 100 are kept.
///
/// In a function with the key `validate` the name is bound to an `&Attempt<E, Draft<T>>`, which also has the value that
/// was rejected last, alone (`last_value`) or with the error that rejected it (`rejected`). The keys `validate` and
/// `correct` can use it, too.
///
/// In a function with `stream = "resume"` the name is bound to an `&Attempt<E, Items<T>>`, which also knows how many
/// items earlier attempts yielded (`yielded`), the last of them (`last_item`) and how far the body says it came
/// (`position`, `advance`).
#[derive(Debug)]
pub struct Attempt<E, K = ()> {
    /// The number of the attempt that looks: with the key `hedge`, several take turns on one task, and each sees its
    /// own.
    number: AtomicU32,
    /// How many have begun.
    begun: AtomicU32,
    max: Option<u32>,
    errors: Errors<E>,
    /// How many of the last errors are the same, as far as it was asked.
    same: u32,
    /// The attempts before the last that made progress: their retries don't count against `max`.
    before_progress: u32,
    corrections: u32,
    /// Whether an error came after the last value that `until` rejected, and after the last item.
    in_row: bool,
    /// How long the attempt must last to have made progress, in milliseconds; [`NO_PROGRESS`] if it told of none.
    progress: AtomicU32,
    /// The kind of the last failure, by its place among all, from 1; told while attempts may borrow this.
    kind: AtomicU8,
    started: Moment,
    clock: Clock,
    call_id: Drawn,
    /// What else is kept of earlier attempts: nothing, a stream's items or a rejected value.
    kept: K,
}

const NO_PROGRESS: u32 = u32::MAX;

/// The value that validation rejected last, and the index of its error among all errors of the call: see [`Attempt`].
#[derive(Debug)]
pub struct Draft<T>(Option<(T, u64)>);

impl<E, K> Attempt<E, K> {
    /// What is known before the first attempt of a call that begins now by that clock.
    #[doc(hidden)]
    pub fn before_first(clock: Clock, kept: K) -> Self {
        Self {
            number: AtomicU32::new(0),
            begun: AtomicU32::new(0),
            max: None,
            errors: Errors::new(),
            same: 0,
            before_progress: 0,
            corrections: 0,
            in_row: false,
            progress: AtomicU32::new(NO_PROGRESS),
            kind: AtomicU8::new(0),
            started: clock.now(),
            clock,
            call_id: Drawn::new(),
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
            self.note_begin();
        }
    }

    /// Notes when a retry begins. The first attempt begins with the call, so a success keeps no time.
    #[cold]
    fn note_begin(&mut self) {
        if !matches!(self.clock, Clock::None) {
            let began = self.clock.now().since(self.started);
            self.errors.began(self.begun(), began);
        }
    }

    /// Another attempt begins beside those that run.
    #[doc(hidden)]
    pub fn begin_beside(&self) {
        self.begun.fetch_add(1, Relaxed);
    }

    /// The number of the attempt that began last.
    #[doc(hidden)]
    pub fn begun(&self) -> u32 {
        self.begun.load(Relaxed)
    }

    /// The attempt with that number looks.
    #[doc(hidden)]
    pub fn show(&self, number: u32) {
        self.number.store(number, Relaxed);
    }

    /// What the user's timer says now.
    #[doc(hidden)]
    pub fn tick(&mut self, now: Moment) {
        self.clock = Clock::Read(now);
    }

    pub(crate) fn set_clock(&mut self, clock: Clock) {
        self.clock = clock;
    }

    /// The error of the attempt before, unless it ended with a value that was rejected.
    #[doc(hidden)]
    pub fn last_failure(&self) -> Option<&E> {
        self.last_error().filter(|_| self.in_row)
    }

    /// Takes the error that [`Self::last_failure`] shows, where the call ends with it.
    #[doc(hidden)]
    pub fn take_last_failure(&mut self) -> Option<E> {
        self.in_row.then(|| self.errors.pop()).flatten()
    }

    /// The verdict on the failure of the attempt before.
    #[doc(hidden)]
    pub fn judged(&self, verdict: Verdict) -> Verdict {
        let kind = verdict.kind().map_or(0, |kind| kind as u8 + 1);
        self.kind.store(kind, Relaxed);
        verdict
    }

    #[doc(hidden)]
    pub fn failed(&mut self, error: E) {
        self.in_row = true;
        let note = self.note();
        self.errors.push(error, note);
    }

    /// Keeps the error of an attempt beside others that went on.
    #[doc(hidden)]
    pub fn failed_beside(&mut self, error: E) {
        self.in_row = true;
        self.errors.push(error, Note::default());
    }

    /// A pause follows the last error.
    #[doc(hidden)]
    pub fn paused(&mut self, pause: Duration) {
        self.errors.paused(pause);
    }

    /// What is known of the attempt that failed last.
    fn note(&self) -> Note {
        let number = usize::from(self.kind.load(Relaxed));
        let began = match self.clock {
            Clock::None => None,
            _ => self.errors.when_began(self.begun()),
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

    /// Ends the run of consecutive errors: something other than an error happened.
    #[doc(hidden)]
    pub fn interrupted(&mut self) {
        self.in_row = false;
        self.same = 0;
    }

    /// How long the attempt that failed lasted by that clock, for [`Call::restarted`](crate::Call::restarted), if it
    /// made progress: that failure is the first again. `streamed` is when it began, if a stream tells that, and whether
    /// it yielded something.
    #[doc(hidden)]
    pub fn take_progress(
        &mut self,
        streamed: Option<(Moment, bool)>,
        now: impl FnOnce() -> Moment,
    ) -> Option<Duration> {
        let told = mem::replace(self.progress.get_mut(), NO_PROGRESS);
        if told == NO_PROGRESS && streamed.is_none_or(|(_, yielded)| !yielded) {
            return None;
        }
        let began = match streamed {
            Some((began, _)) => Some(began),
            None => self
                .errors
                .when_began(self.begun())
                .and_then(|after| self.started.checked_add(after)),
        };
        let lasted = began.map_or(Duration::ZERO, |began| now().since(began));
        let lasted = match told {
            0 | NO_PROGRESS => lasted,
            least if lasted < Duration::from_millis(least.into()) => return None,
            // The time is the measure, whatever the pause before it was.
            _ => Duration::MAX,
        };
        self.interrupted();
        self.before_progress = self.begun().saturating_sub(1);
        Some(lasted)
    }

    /// Whether `error` is the `times`th in a row that is the same. Asked once for each, before it is kept.
    pub(crate) fn is_repeated(&mut self, error: &E, times: u32, same: fn(&E, &E) -> bool) -> bool {
        let last = self.errors.kept().last().filter(|_| self.in_row);
        self.same = match last {
            // Nobody asked about the first after an item.
            Some(last) if same(last, error) => self.same.max(1).saturating_add(1),
            _ => 1,
        };
        self.same >= times
    }

    #[doc(hidden)]
    pub fn gave_up(mut self, error: E, reason: Reason) -> GaveUp<E, K::Value>
    where
        K: Retained,
    {
        self.errors.note(self.note());
        GaveUp {
            elapsed: self.elapsed(),
            attempts: self.begun(),
            earlier: self.errors,
            error,
            corrections: self.corrections,
            last_value: self.kept.into_value(),
            reason,
        }
    }

    /// What else is kept of earlier attempts.
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

    /// Says that this attempt made progress, so that retries are counted anew: if it fails, that is the first failure
    /// again, and `max` retries may follow. A `deadline` stays. Call it in the body, or in a hook for the attempt that
    /// follows.
    ///
    /// Delays start at `base` again if the attempt lasted longer than the pause before it. Otherwise they go on growing.
    /// Items of a stream under `stream = "resume"` are progress by themselves, by the same rule.
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

    /// Says that this attempt makes progress if it lasts at least that long: then retries are counted anew, and delays
    /// start at `base` again. If it fails earlier, it made none, even if a stream yielded items. To the millisecond, at
    /// most 49 days; [`Duration::MAX`] is never.
    pub fn progress_after(&self, time: Duration) {
        let millis = time.as_nanos().div_ceil(1_000_000);
        let millis = u32::try_from(millis).unwrap_or(u32::MAX);
        self.progress.store(millis.min(NO_PROGRESS - 1), Relaxed);
    }

    /// Whether, by `max`, this is the last attempt. A deadline, or a failure that isn't worth a retry, may end the call
    /// earlier; a section with its own `max` may end it later. Only the retries since the last progress count.
    pub fn is_last(&self) -> bool {
        let attempts = self.number().saturating_sub(self.before_progress);
        self.max.is_some_and(|max| attempts > max)
    }

    /// The time since the call began. With the key `timer`, it is the time until this attempt began; for one that
    /// `hedge` began beside another, the time until that other began.
    pub fn elapsed(&self) -> Duration {
        self.clock.now().since(self.started)
    }

    /// An idempotency key: every attempt of a call has the same one, and no other call has it.
    ///
    /// # Panics
    ///
    /// If there are no random numbers: in a page without `crypto`; without the feature `std`, if the program's generator
    /// fails.
    pub fn call_id(&self) -> CallId {
        self.call_id.get()
    }

    /// How many corrections by the key `correct` were validated so far, including those in earlier attempts: 0 while
    /// the first one runs.
    pub fn corrections(&self) -> u32 {
        self.corrections
    }

    /// The latest error. `None` if there was none yet: in the first attempt, or after nothing but values that `until`
    /// rejected.
    pub fn last_error(&self) -> Option<&E> {
        self.errors.kept().last()
    }

    /// The errors of all earlier attempts, in order: if there are more than 110, the first 10 and the last 100. With the key
    /// `hedge`, an attempt does not see the errors of those that it runs beside.
    pub fn errors(&self) -> &[E] {
        self.errors.kept()
    }

    /// How many errors are missing between the first 10 of [`errors`](Self::errors) and the others: 0 unless there were
    /// more than 110.
    pub fn errors_left_out(&self) -> u64 {
        self.errors.left_out()
    }
}

impl<E> Attempt<E> {
    /// A copy of this attempt, for a call whose errors are out of reach.
    pub(crate) fn without_errors(&self) -> Self {
        Self {
            number: AtomicU32::new(self.number()),
            begun: AtomicU32::new(self.begun()),
            errors: self.errors.all_left_out(),
            progress: AtomicU32::new(self.progress.load(Relaxed)),
            kind: AtomicU8::new(self.kind.load(Relaxed)),
            call_id: self.call_id.shared(),
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

/// In a function with the key `validate`.
impl<E, T> Attempt<E, Draft<T>> {
    /// Keeps a rejected value. Call this before its error is recorded: the next error counts as the one that rejected it.
    #[doc(hidden)]
    pub fn keep_value(&mut self, value: T) {
        self.kept.0 = Some((value, self.errors.count()));
    }

    /// The value that `validate` rejected last, or `None` if there is none. While `correct` repairs a value, only the
    /// corrector has it.
    ///
    /// The latest error may be about another attempt, such as one that timed out after the value was rejected: for the
    /// error that rejected this value, use [`rejected`](Self::rejected).
    pub fn last_value(&self) -> Option<&T> {
        self.kept.0.as_ref().map(|(value, _)| value)
    }

    /// The value that `validate` rejected last, and the error that rejected it. Later failures of other attempts don't
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
        Some((value, self.errors.at(*place)?))
    }
}

/// What a call that gives up hands out of what it kept.
pub trait Retained {
    type Value;
    fn into_value(self) -> Option<Self::Value>;
}

impl Retained for () {
    type Value = ();

    fn into_value(self) -> Option<()> {
        None
    }
}

impl<T> Retained for Draft<T> {
    type Value = T;

    fn into_value(self) -> Option<T> {
        self.0.map(|(value, _)| value)
    }
}
