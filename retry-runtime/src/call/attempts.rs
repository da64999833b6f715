//! The one way through an attempt, for every loop: look at the breaker, wait for the limiter's turn, begin, and tell
//! how it ended.
//!
//! | rule | why |
//! |---|---|
//! | The breaker is asked before any wait, and passed after it. | What is down is not worth a wait, and may have gone down meanwhile. |
//! | A payment is spent when the attempt begins. Until then it goes back if the call ends. | A retry that was never made cost the server nothing. |
//! | A turn whose attempt does not begin goes back with its charge, and neither breaker nor limiter hears of its failure. | The limiter's room is for requests that are sent, and nothing was seen of the server. |
//! | An attempt counts once the breaker let it through. | What was rejected locally says nothing about the server. |
//! | A rejected first attempt ends the call with the rejection, a later one with the last failure. | The failure says more. |
//! | A rejection is retried only if the policy has a section for it. It has a count of its own, and the payment is kept. | The attempt may yet begin. |
//! | A pause that ends after the deadline, by more than a timer's [`grace`](crate::call::late::grace), ends the call. | A pause that was meant to end in time is not punished for a timer's granularity. |
//! | A pause that would end after the deadline does not begin, whatever took the time since it was decided. | Nothing could follow it. |
//! | Where the deadline drops what runs (plans, and batches that await), nothing begins after it, without grace. | A request would be sent only to be dropped. |
//! | A call of a batch has one place with the limiter, which costs as many as it has items. Each item has its own permit and payment. | The request is one, its items are metered. |
//! | A batch's call that fails or succeeds as a whole counts once to breaker and budget. | One request failed or succeeded. |
//! | A subtask of a plan is a call; what follows its failure is decided for the whole round. | Rounds pause together. |
//! | A value is a success to breaker and limiter, whatever `until` or `validate` say of it. | The server answered. |
//! | The budget hears of a call's success, not of its attempts'. | It pays by calls. |

use core::fmt;
use core::future::Future;
use core::pin::Pin;
use core::time::Duration;

use crate::breaker::circuit_breaker::{CircuitBreaker, Transition};
use crate::breaker::permit::Permit;
use crate::budget::retry_budget::Paid;
use crate::call::decide::Decision;
use crate::call::failure::{Ending, Failure};
use crate::call::late;
use crate::call::protections::Guards;
use crate::call::rejection::Rejections;
use crate::call::site::Site;
use crate::call::state::Call;
use crate::classify::rejected::{Rejected, RejectedBy};
use crate::classify::verdict::Verdict;
use crate::key::{Key, Room};
use crate::limiter::place::{Leave, Place};
use crate::limiter::{End, waiting};
use crate::observe::reason::Reason;
use crate::observe::report::Observe;
use crate::policy::Policy;
use crate::policy::values::Values;
use crate::time::blocking_timer::BlockingTimer;
use crate::time::cancel::Cancel;
use crate::time::moment::Moment;
use crate::time::timer::Timer;

/// What a call shares with others: its policy and name, its protections, and who is told.
pub trait Shared {
    /// The protections.
    type Guards: Guards;

    /// The policy.
    fn policy(&self) -> &Policy;
    /// The protections.
    fn guards(&self) -> &Self::Guards;
    /// Whether an observer listens, besides the log.
    fn is_observed(&self) -> bool;
    /// Reports something. The call's name is made only here.
    fn tell<T>(&mut self, tell: impl FnOnce(&Site<'_>, Option<Observe<'_>>) -> T) -> T;
}

/// For loops of your own without an observer: a site, and its [`Protections`](crate::Protections).
impl<G: Guards> Shared for (Site<'_>, G) {
    type Guards = G;

    fn policy(&self) -> &Policy {
        self.0.policy
    }

    fn guards(&self) -> &G {
        &self.1
    }

    fn is_observed(&self) -> bool {
        false
    }

    fn tell<T>(&mut self, tell: impl FnOnce(&Site<'_>, Option<Observe<'_>>) -> T) -> T {
        tell(&self.0, None)
    }
}

/// What lets an attempt of these guards through.
pub(crate) type PermitOf<G> = Permit<<<G as Guards>::Breaker as Key>::Value>;
/// The place of an attempt of these guards with their limiter.
pub(crate) type PlaceOf<G> = Place<<<G as Guards>::Limiter as Key>::Value>;
/// What was paid for an attempt of these guards.
pub(crate) type PaidOf<G> = Paid<<<G as Guards>::Budget as Key>::Value>;

/// The attempts of a call, for loops of your own that share a breaker, a limiter or a budget with other calls.
///
/// Holds a [`Call`] and what the attempt under way has taken from these: its place with the limiter, its permit of the
/// breaker, what the budget paid for it. Wherever it is dropped, it gives all of that back.
///
/// ```
/// use std::future::pending;
/// use std::pin::pin;
/// use retry_runtime::{
///     Attempts, Breaker, Budget, Policy, Protections, RateLimiter, Rejected, Site, Timer,
///     TokioTimer, Verdict,
/// };
/// # async fn post(attempt: u32) -> Result<String, String> {
/// #     if attempt == 1 { Err(String::from("503")) } else { Ok(String::from("hello")) }
/// # }
///
/// static BREAKER: Breaker = Breaker::new();
/// static LIMITER: RateLimiter = RateLimiter::adaptive();
/// static BUDGET: Budget = Budget::standard();
/// const POLICY: Policy = Policy::new();
///
/// # #[tokio::main(flavor = "current_thread", start_paused = true)]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let protections = Protections::new()
///     .breaker(&BREAKER)
///     .limiter(&LIMITER)
///     .budget(&BUDGET);
/// let mut shared = (Site::new(&POLICY, "model.complete"), protections);
/// let mut attempts = Attempts::new();
/// let answer = loop {
///     if attempts.enter(&mut shared, 1).map_err(Rejected::new)? {
///         let never = pin!(pending::<()>());
///         let waited = attempts.wait(TokioTimer, None, never).await;
///         attempts.waited(&mut shared, waited).map_err(Rejected::new)?;
///     }
///     attempts.begin(&mut shared).map_err(Rejected::new)?;
///     match post(attempts.call().attempt()).await {
///         Ok(answer) => {
///             attempts.answered(&mut shared);
///             attempts.succeeded(&mut shared);
///             break answer;
///         }
///         Err(error) => {
///             let verdict = Verdict::from(error.starts_with("503"));
///             let failed = attempts.failed(&mut shared, verdict, &error, |failure| failure);
///             TokioTimer.sleep(failed.map_err(|_reason| error)?).await;
///         }
///     }
/// };
/// assert_eq!((answer.as_str(), attempts.call().attempt()), ("hello", 2));
/// # Ok(())
/// # }
/// ```
pub struct Attempts<G: Guards> {
    pub(crate) call: Call,
    permit: <G::Breaker as Key>::Room<PermitOf<G>>,
    place: <G::Limiter as Key>::Room<PlaceOf<G>>,
    paid: <G::Budget as Key>::Room<PaidOf<G>>,
    rejections: <<G::Breaker as Key>::Or<G::Limiter> as Key>::Room<Rejections>,
}

impl<G: Guards> Attempts<G> {
    /// A call before its first attempt.
    #[inline]
    pub fn new() -> Self {
        Self::of(Call::new())
    }

    /// A call that may have had attempts already.
    #[inline]
    pub(crate) fn of(call: Call) -> Self {
        Self {
            call,
            permit: Default::default(),
            place: Default::default(),
            paid: Default::default(),
            rejections: Default::default(),
        }
    }

    /// A call that was saved during its pause. Its next attempt is paid for by the budget.
    pub fn from_saved(call: Call, guards: &G) -> Self {
        let mut attempts = Self::of(call);
        attempts.pay(guards);
        attempts
    }

    /// The call to be saved during its pause. What was paid for its next attempt does not go back.
    pub fn into_saved(mut self) -> Call {
        if let Some(paid) = self.paid.take() {
            paid.spend();
        }
        self.call
    }

    /// What the call has been through.
    #[inline]
    pub const fn call(&self) -> &Call {
        &self.call
    }

    /// Whether the breaker would let nothing through: asked before the call waits for anything but the limiter.
    #[inline]
    pub fn look(guards: &G) -> Result<(), RejectedBy> {
        match guards.protections().breaker.get() {
            Some(breaker) if breaker.is_open() => Err(RejectedBy::Breaker),
            _ => Ok(()),
        }
    }

    /// Takes a place with the limiter for an attempt of that cost. Returns whether the attempt has to
    /// [`wait`](Self::wait) for its turn, which is told.
    #[inline]
    pub fn enter(
        &mut self,
        shared: &mut impl Shared<Guards = G>,
        cost: u32,
    ) -> Result<bool, RejectedBy> {
        let guards = shared.guards();
        let Some(limiter) = guards.protections().limiter.get() else {
            return Ok(false);
        };
        Self::look(guards)?;
        let place = Place::queued(limiter.clone(), cost);
        let has_turn = place.has_turn();
        self.place.put(place);
        Ok(!has_turn && self.tell_of_wait(shared))
    }

    #[cold]
    #[inline(never)]
    fn tell_of_wait(&mut self, shared: &mut impl Shared<Guards = G>) -> bool {
        let Self { call, place, .. } = self;
        let Some(place) = place.get_mut() else {
            return false;
        };
        shared.tell(|site, observe| call.waits(site.name(), place, observe))
    }

    /// Waits for the turn, no longer than until the deadline. Returns how long that took.
    pub async fn wait(
        &mut self,
        timer: impl Timer,
        deadline: Option<Moment>,
        cancelled: Pin<&mut impl Future>,
    ) -> Result<Duration, RejectedBy> {
        match self.place.get_mut() {
            Some(place) => waiting::wait(place, timer, deadline, cancelled).await,
            None => Ok(Duration::ZERO),
        }
    }

    /// Waits for the turn on this thread.
    pub fn wait_blocking(
        &mut self,
        timer: &dyn BlockingTimer,
        deadline: Option<Moment>,
        cancel: &dyn Cancel,
    ) -> Result<Duration, RejectedBy> {
        match self.place.get_mut() {
            Some(place) => waiting::wait_blocking(place, timer, deadline, cancel),
            None => Ok(Duration::ZERO),
        }
    }

    /// Tells of the wait that is over. Where it failed, the place goes back.
    #[cold]
    #[inline(never)]
    pub fn waited(
        &mut self,
        shared: &mut impl Shared<Guards = G>,
        waited: Result<Duration, RejectedBy>,
    ) -> Result<(), RejectedBy> {
        let call = self.call;
        match waited {
            Ok(waited) => {
                shared.tell(|site, observe| call.waited(site.name(), waited, observe));
                Ok(())
            }
            Err(by) => {
                self.place.take();
                Err(by)
            }
        }
    }

    /// Begins the attempt that has its turn, if the breaker lets it through. Otherwise the turn goes back.
    #[inline]
    pub fn begin(&mut self, shared: &mut impl Shared<Guards = G>) -> Result<(), RejectedBy> {
        self.admit(shared)?;
        self.take_turn();
        if shared.is_observed() {
            self.tell_started(shared);
        }
        Ok(())
    }

    /// Begins with its turn, which no longer goes back as if nothing was sent.
    #[inline]
    pub(crate) fn take_turn(&mut self) {
        if let Some(place) = self.place.get_mut() {
            place.begin();
        }
    }

    #[cold]
    #[inline(never)]
    pub(crate) fn tell_started(&self, shared: &mut impl Shared<Guards = G>) {
        shared.tell(|site, observe| {
            if let Some(observe) = observe {
                self.call.started(site.name(), observe);
            }
        });
    }

    /// Has the breaker let the attempt through, and spends what was paid for it.
    #[inline]
    pub(crate) fn admit(&mut self, shared: &mut impl Shared<Guards = G>) -> Result<(), RejectedBy> {
        if let Some(breaker) = shared.guards().protections().breaker.get() {
            let Some(permit) = Permit::new(breaker.clone()) else {
                self.place.take();
                return Err(RejectedBy::Breaker);
            };
            let transition = permit.transition();
            self.permit.put(permit);
            self.breaker_changed(shared, transition);
        }
        if let Some(paid) = self.paid.take() {
            paid.spend();
        }
        Ok(())
    }

    #[inline]
    fn breaker_changed(
        &self,
        shared: &mut impl Shared<Guards = G>,
        transition: Option<Transition>,
    ) {
        if let Some(transition) = transition {
            shared.tell(|site, observe| {
                self.call
                    .breaker_changed(site.name(), transition, None, observe);
            });
        }
    }

    /// The server answered with a value, which may yet be rejected.
    #[inline]
    pub fn answered(&mut self, shared: &mut impl Shared<Guards = G>) {
        self.passed(shared);
        self.leave(shared, End::Success);
    }

    /// Tells the breaker that the attempt succeeded.
    #[inline]
    pub(crate) fn passed(&mut self, shared: &mut impl Shared<Guards = G>) {
        let transition = self.permit.take().and_then(|mut permit| permit.succeeded());
        self.breaker_changed(shared, transition);
    }

    /// Tells the limiter how the attempt ended.
    #[inline]
    pub(crate) fn leave(&mut self, shared: &mut impl Shared<Guards = G>, end: End) {
        let changes = self.place.take().and_then(|mut place| place.leave(end));
        if let Some(changes) = changes {
            shared.tell(|site, observe| self.call.limiter_changed(site.name(), changes, observe));
        }
    }

    /// The call succeeded with that answer.
    #[inline]
    pub fn succeeded(&mut self, shared: &mut impl Shared<Guards = G>) {
        if self.call.is_retried() || shared.is_observed() {
            self.tell_of_success(shared);
        }
        self.credit(shared.guards());
    }

    #[cold]
    #[inline(never)]
    pub(crate) fn tell_of_success(&self, shared: &mut impl Shared<Guards = G>) {
        shared.tell(|site, observe| match observe {
            Some(observe) => self.call.succeeded_observed(site, observe),
            None => self.call.succeeded(site),
        });
    }

    /// Tells the budget that the call succeeded.
    #[inline]
    pub(crate) fn credit(&self, guards: &G) {
        if let Some(budget) = guards.protections().budget.get() {
            self.call.credit(budget);
        }
    }

    /// Has the retries count anew, as the attempt made progress: see [`Call::restarted`].
    pub(crate) fn restarted(&mut self, guards: &G, lasted: Duration) {
        self.credit(guards);
        self.call = self.call.restarted(lasted);
        self.rejections = Default::default();
    }

    /// The attempt failed, perhaps before it began. `detail` says more of the failure. Returns the pause before the
    /// next attempt, or why there is none.
    pub fn failed(
        &mut self,
        shared: &mut impl Shared<Guards = G>,
        verdict: Verdict,
        error: &dyn fmt::Display,
        detail: impl for<'f> FnOnce(Failure<'f>) -> Failure<'f>,
    ) -> Decision {
        let pause = self.with_failure(shared, verdict, error, |call, failure| {
            call.failed_with(detail(failure))
        })?;
        self.pay(shared.guards());
        Ok(pause)
    }

    /// Has `tell` told of the failed attempt, with all that the attempt holds. A payment for an attempt that did not
    /// begin goes back.
    fn with_failure<T>(
        &mut self,
        shared: &mut impl Shared<Guards = G>,
        verdict: Verdict,
        error: &dyn fmt::Display,
        tell: impl FnOnce(&mut Call, Failure<'_>) -> T,
    ) -> T {
        self.paid.take();
        if let Some(rejections) = self.rejections.get_mut() {
            rejections.is_last = false;
        }
        let protections = shared.guards().protections();
        let (budget, is_limited) = (
            protections.budget.get().cloned(),
            protections.handle_throttling(),
        );
        let (mut permit, place) = (self.permit.take(), self.place.take());
        // The turn of an attempt that did not begin goes back.
        let mut place = place.filter(Place::has_begun);
        let call = &mut self.call;
        shared.tell(|site, observe| {
            let mut failure = Failure::new(site, verdict, error).limited(is_limited);
            if let Some(budget) = &budget {
                failure = failure.budget(budget);
            }
            if let Some(permit) = &mut permit {
                failure = failure.permit(permit);
            }
            if let Some(place) = &mut place {
                failure = failure.place(place);
            }
            if let Some(observe) = observe {
                failure = failure.observe(observe);
            }
            tell(call, failure)
        })
    }

    /// Keeps what the budget paid for the retry that was just allowed.
    #[inline]
    pub(crate) fn pay(&mut self, guards: &G) {
        if let Some(budget) = guards.protections().budget.get() {
            self.paid.put(self.call.paid(budget.clone()));
        }
    }

    /// Tells breaker, limiter and budget of a failure that is decided on together with others.
    #[cfg(feature = "plan")]
    pub(crate) fn failed_with_others(
        &mut self,
        shared: &mut impl Shared<Guards = G>,
        verdict: Verdict,
        error: &dyn fmt::Display,
    ) {
        self.with_failure(shared, verdict, error, |call, mut failure| {
            let policy = failure.site.policy_in_force();
            call.tell_of_failure(call.attempt(), &mut failure, &policy);
        });
    }

    /// Tells the breaker alone of a failure: limiter and budget hear of an item with its batch.
    #[cfg(feature = "batch")]
    pub(crate) fn broke(
        &mut self,
        shared: &mut impl Shared<Guards = G>,
        verdict: Verdict,
        error: &dyn fmt::Display,
    ) {
        self.with_failure(shared, verdict, error, |call, mut failure| {
            call.tell_breaker(&mut failure);
        });
    }

    /// A copy of the call, for those of its items that do not begin with the others.
    #[cfg(feature = "batch")]
    pub(crate) fn apart(&mut self) -> Self {
        let mut apart = Self::of(self.call);
        apart.share_rejections(self);
        apart
    }

    /// Counts at least as many rejections as the other: the call and its items are rejected together.
    #[cfg(feature = "batch")]
    pub(crate) fn share_rejections(&mut self, other: &mut Self) {
        if let Some(other) = other.rejections.get_mut() {
            let own = self.rejections.take().unwrap_or_default();
            self.rejections.put(own.max(*other));
        }
    }

    /// Gives back all that the attempt holds, as another one speaks for it or it does not begin.
    #[cfg(any(feature = "batch", feature = "plan"))]
    pub(crate) fn release(&mut self) {
        if let Some(permit) = self.permit.take() {
            permit.release();
        }
        self.place.take();
        self.paid.take();
    }

    /// What follows if [`enter`](Self::enter), [`waited`](Self::waited) or [`begin`](Self::begin) rejects the attempt:
    /// the pause before it enters again, or what ends the call. There is a pause only with [`Policy::rejected`].
    /// `detail` tells the time. What was paid for the attempt is kept.
    pub fn rejected(
        &mut self,
        shared: &mut impl Shared<Guards = G>,
        by: RejectedBy,
        detail: impl for<'f> FnOnce(Failure<'f>) -> Failure<'f>,
    ) -> Result<Duration, RejectedBy> {
        let breaker = shared.guards().protections().breaker.get();
        let half_open_in = match by {
            RejectedBy::Breaker => breaker.and_then(CircuitBreaker::half_open_in),
            _ => None,
        };
        let mut rejections = self.rejections.take().unwrap_or_default();
        let (call, rejected) = (&mut self.call, &Rejected::new(by));
        let pause = shared.tell(|site, observe| {
            let mut failure = Failure::of_rejection(site, rejected, half_open_in);
            if let Some(observe) = observe {
                failure = failure.observe(observe);
            }
            rejections.retry(call, by, detail(failure))
        });
        self.rejections.put(rejections);
        pause
    }

    /// Whether the last pause follows a rejection: there is then no failure to show a hook.
    pub(crate) fn follows_rejection(&mut self) -> bool {
        let rejections = self.rejections.get_mut();
        rejections.is_some_and(|rejections| rejections.is_last)
    }

    /// Ends the call with that error if the pause before the attempt has ended too late for it, or the policy no longer
    /// allows it, as [`Call::resumed`] says. `detail` tells the time.
    pub fn resumed(
        &mut self,
        shared: &mut impl Shared<Guards = G>,
        verdict: Verdict,
        error: &dyn fmt::Display,
        detail: impl for<'f> FnOnce(Failure<'f>) -> Failure<'f>,
    ) -> Result<(), Reason> {
        let call = &self.call;
        let resumed = shared.tell(|site, observe| {
            let mut failure = Failure::new(site, verdict, error);
            if let Some(observe) = observe {
                failure = failure.observe(observe);
            }
            call.resumed(detail(failure))
        });
        if resumed.is_err() {
            self.paid.take();
        }
        resumed
    }

    /// Why no attempt may begin after the pause that has just ended, if it ended too late for one.
    pub fn late(&self, deadline: Option<Moment>, now: impl FnOnce() -> Moment) -> Option<Reason> {
        late::late(deadline, self.call.last_delay(), now)
    }

    /// Why the pause that was decided last may not begin: something ran meanwhile, so it would end after the deadline.
    pub fn outlasts(
        &self,
        deadline: Option<Moment>,
        now: impl FnOnce() -> Moment,
    ) -> Option<Reason> {
        late::outlasts(deadline, self.call.last_delay(), now)
    }

    /// Ends the call before an attempt: its first, or one after a pause. It ends with that error.
    pub fn gave_up(
        &mut self,
        shared: &mut impl Shared<Guards = G>,
        error: &dyn fmt::Display,
        reason: Reason,
    ) {
        self.ended(shared, error, Ending::Error, reason);
    }

    /// Like [`gave_up`](Self::gave_up), where a last resort is called: [`fell_back`](Self::fell_back) tells how that ends.
    pub fn falls_back(
        &mut self,
        shared: &mut impl Shared<Guards = G>,
        error: &dyn fmt::Display,
        reason: Reason,
    ) {
        self.ended(shared, error, Ending::Fallback, reason);
    }

    /// Tells how the last resort ended, which was called after so many attempts: with that error, if it failed, too.
    pub fn fell_back(
        &self,
        shared: &mut impl Shared<Guards = G>,
        attempts: u32,
        ended_with: Result<(), &dyn fmt::Display>,
    ) {
        shared.tell(|site, observe| {
            self.call
                .fallback_ended(site.name(), attempts, ended_with, observe);
        });
    }

    /// Ends the call so before an attempt.
    #[cold]
    pub(crate) fn ended(
        &mut self,
        shared: &mut impl Shared<Guards = G>,
        error: &dyn fmt::Display,
        ending: Ending,
        reason: Reason,
    ) {
        let call = self.call_at_end(shared);
        shared.tell(|site, observe| {
            let values = Values::Taken;
            call.ended_after_pause(site.name(), error, values, ending, reason, observe);
        });
    }

    /// Tells that the call is aborted, in the middle of an attempt or not.
    #[cold]
    pub(crate) fn aborted(&mut self, shared: &mut impl Shared<Guards = G>, is_under_way: bool) {
        let call = self.call_at_end(shared);
        shared.tell(|site, observe| {
            call.aborted(site.name(), is_under_way, observe);
        });
    }

    /// The call where no attempt follows, so that what was paid for one goes back, and a turn that it had already.
    fn call_at_end(&mut self, shared: &impl Shared<Guards = G>) -> Call {
        self.paid.take();
        self.place.take();
        if !self.call.is_retried() {
            // A call whose first attempt came to nothing has looked at no `max` yet.
            self.call = self.call.with_max(shared.policy().retries_allowed());
        }
        self.call
    }
}

impl<G: Guards> Default for Attempts<G> {
    fn default() -> Self {
        Self::new()
    }
}
