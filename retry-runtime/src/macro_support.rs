//! What expansions of the macros call. Not public: it changes without notice.

pub(crate) mod show;
mod validation;

use std::borrow::Borrow;
pub use std::boxed::Box;
use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::task::Poll;
use std::time::{Duration, Instant};

use crate::attempt::Kept;
pub use crate::budget::Paid;
pub use crate::call::{Call, Failure, TrackedCall};
pub use crate::site::Site;
#[cfg(feature = "stream")]
pub use crate::stream;
pub use crate::timed_out::FromTimedOut;
use crate::timer::TimerFn;
use crate::{
    Attempt, Classify, Event, GaveUp, Observer, Policy, Reason, RetryBudget, Timer, Verdict, clock,
    timer,
};
pub use show::{Same, SameDebug, SameDisplay, SameValue, Show, ShowDebug, ShowName};
pub use validation::{
    Settle, check, check_async, check_either, correct, correct_async, correct_either, corrected,
    correction_failed, history_of, invalid, settle,
};

/// What an annotated function returns.
#[diagnostic::on_unimplemented(
    message = "`#[retry]` needs a function that returns a `Result`, and `{Self}` is none",
    label = "not a `Result`",
    note = "a failure is an `Err`: return `Result<_, _>`, or a future of one written as `impl Future<Output = …>` or `Pin<Box<dyn Future<Output = …>>>`"
)]
pub trait Outcome {
    type Value;
    type Error;
    fn into_result(self) -> Result<Self::Value, Self::Error>;
}

impl<T, E> Outcome for Result<T, E> {
    type Value = T;
    type Error = E;

    #[inline]
    fn into_result(self) -> Self {
        self
    }
}

#[inline]
pub fn into_result<R: Outcome>(outcome: R) -> Result<R::Value, R::Error> {
    outcome.into_result()
}

/// Stands where a block's type is told, and is never reached.
pub fn never<T>() -> T {
    unreachable!("it is behind an `if false`")
}

/// The future itself. A function whose whole body is an `async` block would look as if it could be an
/// `async fn`, which clippy then asks for.
#[inline]
pub fn lazy<F: Future>(future: F) -> F {
    future
}

/// What the key `on` returns.
#[diagnostic::on_unimplemented(
    message = "the function of `on` returns `{Self}`, which doesn't say whether to retry",
    label = "returns `{Self}`",
    note = "return `bool`, `Option<Duration>` (the wait, where one is wanted), `Kind` or `Verdict`"
)]
pub trait IntoVerdict {
    fn into_verdict(self) -> Verdict;
}

#[diagnostic::do_not_recommend]
impl<V: Into<Verdict>> IntoVerdict for V {
    fn into_verdict(self) -> Verdict {
        self.into()
    }
}

pub fn verdict<E, V: IntoVerdict>(error: &E, on: impl FnOnce(&E) -> V) -> Verdict {
    on(error).into_verdict()
}

pub fn classify<E: Classify>(error: &E) -> Verdict {
    error.classify()
}

/// What `transparent` takes.
#[diagnostic::on_unimplemented(
    message = "`transparent` needs a field that is `Classify`, and `{Self}` is not",
    label = "not `Classify`",
    note = "give the variant a verdict of its own, as in `#[classify(stop)]`, or put `#[derive(retry_runtime::Classify)]` on `{Self}`"
)]
pub trait ClassifyField {
    fn classify_field(&self) -> Verdict;
}

#[diagnostic::do_not_recommend]
impl<E: Classify> ClassifyField for E {
    fn classify_field(&self) -> Verdict {
        self.classify()
    }
}

pub fn classify_field<E: ClassifyField>(error: &E) -> Verdict {
    error.classify_field()
}

/// What `after = field` takes.
#[diagnostic::on_unimplemented(
    message = "`after` takes a field of type `Duration` or `Option<Duration>`, and `{Self}` is neither",
    label = "not a hint"
)]
pub trait HintField: Copy {
    fn hint(self) -> Option<Duration>;
}

impl HintField for Duration {
    fn hint(self) -> Option<Duration> {
        Some(self)
    }
}

impl HintField for Option<Duration> {
    fn hint(self) -> Option<Duration> {
        self
    }
}

pub fn after<H: HintField>(verdict: Verdict, hint: &H) -> Verdict {
    hint.hint().map_or(verdict, |hint| verdict.after(hint))
}

pub fn of_attempt(verdict: Verdict, dropped: bool) -> Verdict {
    if dropped {
        verdict.of_dropped_attempt()
    } else {
        verdict
    }
}

/// What the log says of a value that `until` rejected.
pub const REJECTED_VALUE: &str = "value rejected";

pub fn accepts<T>(value: &T, until: impl FnOnce(&T) -> bool) -> bool {
    until(value)
}

/// Integers that can be a number of retries: negative ones are none, too large ones unlimited.
#[diagnostic::on_unimplemented(
    message = "`{Self}` can't be a number of retries",
    label = "not an integer",
    note = "give an integer, or the word \"unlimited\""
)]
pub trait Count {
    fn count(self) -> u32;
}

macro_rules! count {
    ($($signed:ty)*; $($unsigned:ty)*) => {
        $(impl Count for $signed {
            fn count(self) -> u32 {
                u32::try_from(self.max(0)).unwrap_or(u32::MAX)
            }
        })*
        $(impl Count for $unsigned {
            fn count(self) -> u32 {
                u32::try_from(self).unwrap_or(u32::MAX)
            }
        })*
    };
}
count!(i8 i16 i32 i64 i128 isize; u8 u16 u32 u64 u128 usize);

pub fn count(retries: impl Count) -> u32 {
    retries.count()
}

/// Numbers that can be a factor.
#[diagnostic::on_unimplemented(
    message = "`{Self}` can't be a factor",
    label = "not a number",
    note = "give a number from 1 up"
)]
pub trait Factor {
    fn factor(self) -> f64;
}

macro_rules! factor {
    ($($number:ty)*) => {$(
        impl Factor for $number {
            #[allow(clippy::cast_lossless, clippy::cast_precision_loss)]
            fn factor(self) -> f64 {
                self as f64
            }
        }
    )*};
}
factor!(f32 f64 i8 i16 i32 i64 i128 isize u8 u16 u32 u64 u128 usize);

pub fn factor(factor: impl Factor) -> f64 {
    factor.factor()
}

/// What the keys `timeout` and `deadline` take.
#[diagnostic::on_unimplemented(
    message = "`{Self}` can't be a limit of time",
    label = "neither a `Duration` nor an `Option<Duration>`",
    note = "give a duration as in `\"60s\"`, a `Duration`, or an `Option<Duration>` where `None` is no limit"
)]
pub trait Limit {
    fn limit(self) -> Option<Duration>;
}

impl Limit for Duration {
    fn limit(self) -> Option<Duration> {
        Some(self)
    }
}

impl Limit for Option<Duration> {
    fn limit(self) -> Option<Duration> {
        self
    }
}

pub fn timeout(limit: impl Limit) -> Option<Duration> {
    limit.limit()
}

/// What the key `policy` takes.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no policy",
    label = "neither a `Policy` nor a `&Policy`",
    note = "give a `retry_runtime::Policy`, or what borrows as one"
)]
pub trait BorrowPolicy: Borrow<Policy> {}

#[diagnostic::do_not_recommend]
impl<P: Borrow<Policy>> BorrowPolicy for P {}

pub fn policy<P: BorrowPolicy>(policy: P) -> Policy {
    *policy.borrow()
}

/// The retries that a policy allows, `None` where they are unlimited.
pub fn limit(policy: &Policy) -> Option<u32> {
    policy.schedule.limit()
}

pub fn deadline(span: impl Limit) -> Option<Instant> {
    span.limit().and_then(clock::after)
}

pub fn policy_deadline(policy: &Policy) -> Option<Instant> {
    deadline(policy.deadline)
}

/// The policy that a decorator was made with, or that of its trait's attribute.
pub fn policy_or(given: &Option<Policy>, own: &Policy) -> Policy {
    given.unwrap_or(*own)
}

/// An argument that a decorator hands on by value.
#[diagnostic::on_unimplemented(
    message = "a decorator clones an argument for every attempt but the last, and `{Self}` is not `Clone`",
    label = "can't be cloned",
    note = "take the argument by reference, make `{Self}` `Clone`, or leave the method alone: mark it `#[retry(skip)]`"
)]
pub trait CloneArgument {
    fn clone_argument(&self) -> Self;
}

#[diagnostic::do_not_recommend]
impl<T: Clone> CloneArgument for T {
    fn clone_argument(&self) -> Self {
        self.clone()
    }
}

/// A clone of the argument, or for the last attempt the argument itself.
pub fn take_argument<T: CloneArgument>(slot: &mut Option<T>, is_last: bool) -> T {
    let argument = if is_last {
        slot.take()
    } else {
        slot.as_ref().map(T::clone_argument)
    };
    argument.expect("only the last attempt takes an argument")
}

pub fn history<E>() -> Attempt<E> {
    Attempt::before_first(())
}

pub fn begin<E, K>(attempt: &mut Attempt<E, K>, max: Option<u32>) {
    attempt.begin(max);
}

pub fn failed<E, K>(attempt: &mut Attempt<E, K>, error: E) {
    attempt.failed(error);
}

pub fn rejected<E, K>(attempt: &mut Attempt<E, K>) {
    attempt.rejected();
}

pub fn is_repeated<E, K>(
    attempt: &Attempt<E, K>,
    error: &E,
    times: impl Count,
    same: fn(&E, &E) -> bool,
) -> bool {
    attempt.is_repeated(error, times.count(), same)
}

pub fn gave_up<E, K: Kept>(
    attempt: Attempt<E, K>,
    error: E,
    reason: Reason,
) -> GaveUp<E, K::Value> {
    attempt.gave_up(error, reason)
}

pub fn shape<E, T>(gave_up: GaveUp<E, T>, shape: impl FnOnce(GaveUp<E, T>) -> E) -> E {
    shape(gave_up)
}

// `F` has no bound: that it is a future of the right outcome is said once, at `.await`.
pub fn fall_back<E, T, F>(gave_up: GaveUp<E, T>, fallback: impl FnOnce(GaveUp<E, T>) -> F) -> F {
    fallback(gave_up)
}

pub fn fall_back_blocking<T, E, V>(
    gave_up: GaveUp<E, V>,
    fallback: impl FnOnce(GaveUp<E, V>) -> Result<T, E>,
) -> Result<T, E> {
    fallback(gave_up)
}

/// What pays for a retry, once it is allowed.
pub fn budget<B: RetryBudget>(budget: B) -> Paid<B> {
    Paid::new(budget)
}

pub fn starting(name: &str, attempt: u32, observe: &mut dyn FnMut(&Event<'_>)) {
    observe(&Event::Started {
        call: name,
        attempt,
    });
}

/// What the key `observe` takes, other than a closure written there.
#[diagnostic::on_unimplemented(
    message = "`{Self}` can't observe calls",
    label = "neither an `Observer` nor a function `fn(&Event<'_>)`",
    note = "give a type that implements `retry_runtime::Observer`, or a closure `|event| …`"
)]
pub trait IntoObserver<Via> {
    fn observe(&self, event: &Event<'_>);
}

pub struct ViaTrait;
pub struct ViaFn;

impl<T: Observer + ?Sized> IntoObserver<ViaTrait> for T {
    fn observe(&self, event: &Event<'_>) {
        Observer::observe(self, event);
    }
}

impl<F: Fn(&Event<'_>)> IntoObserver<ViaFn> for F {
    fn observe(&self, event: &Event<'_>) {
        self(event);
    }
}

pub fn observe<Via, T: IntoObserver<Via>>(observer: &T, event: &Event<'_>) {
    observer.observe(event);
}

/// For closures, whose argument's type is found by this bound alone.
pub fn observe_fn<F: FnMut(&Event<'_>)>(observer: F) -> F {
    observer
}

/// What the key `timer` takes.
#[diagnostic::on_unimplemented(
    message = "`{Self}` can't be used as a timer",
    label = "neither a `Timer` nor a function from `Duration` to a future",
    note = "give a type that implements `retry_runtime::Timer`, or a function from `Duration` to a future"
)]
pub trait IntoTimer<Via> {
    type Timer: Timer;
    fn into_timer(self) -> Self::Timer;
}

impl<T: Timer> IntoTimer<ViaTrait> for T {
    type Timer = T;
    fn into_timer(self) -> T {
        self
    }
}

impl<F: Fn(Duration) -> S, S: Future> IntoTimer<ViaFn> for F {
    type Timer = TimerFn<F>;
    fn into_timer(self) -> TimerFn<F> {
        TimerFn::new(self)
    }
}

pub fn timer<Via, T: IntoTimer<Via>>(timer: T) -> T::Timer {
    timer.into_timer()
}

/// For closures, whose argument's type is found by this bound alone.
pub fn timer_fn<F: Fn(Duration) -> S, S: Future>(sleep: F) -> TimerFn<F> {
    TimerFn::new(sleep)
}

/// Implemented where a feature brings a timer.
#[diagnostic::on_unimplemented(
    message = "an async function under `#[retry]` has no timer to wait with",
    label = "no timer",
    note = "enable the feature `tokio` of `retry-runtime`, or name another runtime's timer with `timer = …`"
)]
pub trait HasTimer {
    type Timer: Timer + Default;
}

/// Stands for the features that are enabled.
pub struct Features;

#[cfg(feature = "tokio")]
impl HasTimer for Features {
    type Timer = crate::TokioTimer;
}

pub fn default_timer<F: HasTimer>() -> F::Timer {
    F::Timer::default()
}

/// Sleeps with the timer that a feature brings. The bound is where none does, for the sake of its message.
#[cfg(feature = "tokio")]
#[inline]
pub fn sleep(pause: Duration, _: Features) -> tokio::time::Sleep {
    tokio::time::sleep(crate::testing::to_sleep(pause))
}

/// Never called, as nothing has a timer.
#[cfg(not(feature = "tokio"))]
pub fn sleep(_: Duration, _: impl HasTimer) -> std::future::Pending<()> {
    std::future::pending()
}

/// Sleeps for the time that `timeout` allows, for ever where that is `None`.
pub async fn sleep_out(timer: impl Timer, limit: Option<Duration>) {
    match limit {
        Some(limit) => timer.sleep(limit).await,
        None => std::future::pending().await,
    }
}

/// The body's output, or `None` where the sleep ends first.
pub fn race<F: Future>(
    mut body: Pin<&mut F>,
    mut sleep: Pin<&mut impl Future<Output = ()>>,
) -> impl Future<Output = Option<F::Output>> {
    poll_fn(move |context| {
        if let Poll::Ready(output) = body.as_mut().poll(context) {
            return Poll::Ready(Some(output));
        }
        sleep.as_mut().poll(context).map(|()| None)
    })
}

pub fn sleep_blocking(pause: Duration) {
    timer::sleep_blocking(pause);
}

/// Runs what follows a failure, out of the way of calls that succeed: `decide` becomes a function of its own, and this
/// one vanishes.
#[cold]
#[inline]
pub fn cold<T>(decide: impl FnOnce() -> T) -> T {
    decide()
}
