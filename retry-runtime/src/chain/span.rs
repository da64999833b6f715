use std::future::Future;
use std::sync::Arc;

use tracing::instrument::Instrumented;
use tracing::{Instrument, Span};

use crate::call::attempt::Attempt;
use crate::chain::alone::Alone;
use crate::chain::breaker::{MayAdmit, Rejects};
use crate::chain::budget::MayPay;
use crate::chain::fallback::{FallsBack, FallsBackBlocking, MayFallBack};
use crate::chain::key::Unnamed;
use crate::chain::keys::Keys;
use crate::chain::limiter::{MayWait, RejectsToo};
use crate::chain::name::{MayName, place_of};
use crate::chain::observer::MayObserve;
use crate::chain::on_error::OnError;
use crate::chain::operation::{Attempts, OfAttempt, Operation, Plain};
use crate::chain::policy_call::PolicyCall;
use crate::chain::run::run;
use crate::chain::run_blocking::run_blocking;
use crate::chain::timeout::{MayTimeOut, TimesOut};
use crate::chain::until::MayReject;
use crate::observe::span;
use crate::policy::Policy;
use crate::time::blocking_timer::BlockingTimer;
use crate::time::cancel::{Cancel, MayCancel};
use crate::time::timer::Timer;

/// A chain whose call is in a span, and each of its attempts in another: the key `span`. Made by
/// [`PolicyCall::span`], with the feature `tracing`.
#[derive(Clone, Copy, Debug)]
#[must_use = "nothing happens until it is called"]
pub struct SpannedCall<P>(P);

impl Policy {
    /// Opens spans: see [`PolicyCall::span`].
    pub fn span(&self) -> SpannedCall<PolicyCall> {
        self.chain().span()
    }
}

impl<On, C, W, K, A> PolicyCall<On, C, W, K, A> {
    /// Opens a span for the call, and within it one for each attempt. So what the operation logs shows the call and the
    /// number of the attempt. It is the last key before the call.
    ///
    /// ```
    /// use retry_runtime::Policy;
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> std::io::Result<()> {
    /// let answer = Policy::new()
    ///     .name("model.complete")
    ///     .span()
    ///     .call(async || {
    ///         // INFO call{call=model.complete}:attempt{attempt=1}: my_crate: asking
    ///         tracing::info!("asking");
    ///         std::io::Result::Ok("hello")
    ///     })
    ///     .await?;
    /// assert_eq!(answer, "hello");
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// The spans have the target `retry` and the level `INFO`.
    pub fn span(self) -> SpannedCall<Self> {
        SpannedCall(self)
    }
}

impl<On, C, W, N, B, R, O, M, U, L, F>
    SpannedCall<PolicyCall<On, C, W, Keys<N, B, R, O, M>, Alone<U, L, F>>>
where
    N: MayName,
    B: MayPay,
    R: MayAdmit,
    M: MayWait,
    O: MayObserve,
    L: MayTimeOut,
    F: MayFallBack,
{
    /// As [`PolicyCall::call`].
    pub async fn call<Op, Fut, Fallen, T, E>(self, operation: Op) -> Result<T, E>
    where
        Op: Operation<Fut>,
        Fut: Future<Output = Result<T, E>>,
        On: OnError<E>,
        C: MayCancel,
        W: Timer,
        R: Rejects<E>,
        M: RejectsToo<E>,
        U: MayReject<T>,
        L: TimesOut<E>,
        F: FallsBack<T, E, <F as MayFallBack>::History<E>, Fallen>,
        Fallen: Future<Output = Result<T, E>>,
    {
        let PolicyCall { policy, chain } = self.0;
        let span = span::of_call(true, chain.keys.name.name(place_of::<Op>));
        let attempts = InSpans::new(Plain::<_, <F as MayFallBack>::History<E>>::new(operation));
        run(policy, chain, attempts).instrument(span).await
    }

    /// As [`PolicyCall::call_attempt`].
    pub async fn call_attempt<Op, Fut, Fallen, T, E>(self, operation: Op) -> Result<T, E>
    where
        Op: FnMut(Arc<Attempt<E>>) -> Fut,
        Fut: Future<Output = Result<T, E>>,
        On: OnError<E>,
        C: MayCancel,
        W: Timer,
        R: Rejects<E>,
        M: RejectsToo<E>,
        U: MayReject<T>,
        L: TimesOut<E>,
        F: FallsBack<T, E, Arc<Attempt<E>>, Fallen>,
        Fallen: Future<Output = Result<T, E>>,
    {
        let PolicyCall { policy, chain } = self.0;
        let span = span::of_call(true, chain.keys.name.name(place_of::<Op>));
        let attempts = InSpans::new(OfAttempt::new(operation));
        run(policy, chain, attempts).instrument(span).await
    }
}

impl<On, C, W, N, B, R, O, M, U, F>
    SpannedCall<PolicyCall<On, C, W, Keys<N, B, R, O, M>, Alone<U, Unnamed, F>>>
where
    N: MayName,
    B: MayPay,
    R: MayAdmit,
    M: MayWait,
    O: MayObserve,
    F: MayFallBack,
    W: BlockingTimer,
{
    /// As [`PolicyCall::call_blocking`].
    pub fn call_blocking<Op, T, E>(self, operation: Op) -> Result<T, E>
    where
        Op: FnMut() -> Result<T, E>,
        On: OnError<E>,
        C: Cancel,
        R: Rejects<E>,
        M: RejectsToo<E>,
        U: MayReject<T>,
        F: FallsBackBlocking<T, E, <F as MayFallBack>::History<E>>,
    {
        let PolicyCall { policy, chain } = self.0;
        let span = span::of_call(true, chain.keys.name.name(place_of::<Op>));
        let attempts = Plain::<_, <F as MayFallBack>::History<E>>::new(operation);
        span.in_scope(|| run_blocking(&policy, chain, InSpansBlocking::new(attempts)))
    }

    /// As [`PolicyCall::call_attempt_blocking`].
    pub fn call_attempt_blocking<Op, T, E>(self, operation: Op) -> Result<T, E>
    where
        Op: FnMut(Arc<Attempt<E>>) -> Result<T, E>,
        On: OnError<E>,
        C: Cancel,
        R: Rejects<E>,
        M: RejectsToo<E>,
        U: MayReject<T>,
        F: FallsBackBlocking<T, E, Arc<Attempt<E>>>,
    {
        let PolicyCall { policy, chain } = self.0;
        let span = span::of_call(true, chain.keys.name.name(place_of::<Op>));
        let attempts = OfAttempt::new(operation);
        span.in_scope(|| run_blocking(&policy, chain, InSpansBlocking::new(attempts)))
    }
}

/// Attempts, each in a span of its own.
struct InSpans<A>(Numbered<A>);

impl<A> InSpans<A> {
    fn new(attempts: A) -> Self {
        Self(Numbered { attempts, begun: 0 })
    }
}

impl<A: Attempts<H, R>, H, R: Future> Attempts<H, Instrumented<R>> for InSpans<A> {
    fn begin(&mut self, history: &H) -> Instrumented<R> {
        let span = self.0.next_span();
        let attempt = span.in_scope(|| self.0.attempts.begin(history));
        attempt.instrument(span)
    }

    fn place() -> &'static str {
        A::place()
    }
}

/// The same of attempts that block.
struct InSpansBlocking<A>(Numbered<A>);

impl<A> InSpansBlocking<A> {
    fn new(attempts: A) -> Self {
        Self(Numbered { attempts, begun: 0 })
    }
}

impl<A: Attempts<H, R>, H, R> Attempts<H, R> for InSpansBlocking<A> {
    fn begin(&mut self, history: &H) -> R {
        let span = self.0.next_span();
        span.in_scope(|| self.0.attempts.begin(history))
    }

    fn place() -> &'static str {
        A::place()
    }
}

struct Numbered<A> {
    attempts: A,
    begun: u32,
}

impl<A> Numbered<A> {
    fn next_span(&mut self) -> Span {
        self.begun = self.begun.saturating_add(1);
        span::of_attempt(true, self.begun)
    }
}
