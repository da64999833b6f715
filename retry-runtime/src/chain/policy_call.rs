use alloc::boxed::Box;
use alloc::sync::Arc;
use core::marker::PhantomData;

use crate::call::driver::Driver;
use crate::call::protections::BorrowedProtections;
use crate::chain::context::{Context, path_of};
use crate::chain::keys::{
    AsyncHooks, BlockingHooks, EndsBy, ErrorOf, GivesUp, HookSet, Hooks, Keep, KeySet, Keys,
    NeedSet, Needs, Settings,
};
use crate::chain::on_error::{ByClassify, OnError};
use crate::chain::operation::{BlockingOutcome, Operation};
use crate::chain::run::{Outcomes, Run, run_blocking};
use crate::chain::run_async::run;
use crate::chain::span::in_span;
use crate::history::attempt::Attempt;
use crate::policy::Policy;
use crate::site::Name;
use crate::time::{BlockingTimer, Cancel, MayAbort, Timer};

/// A policy with further keys: the attribute as a method chain, for closures.
///
/// ```
/// use std::io;
/// use std::time::Duration;
/// use retry_protections::Breaker;
/// use retry_runtime::{Budget, Policy};
///
/// static BUDGET: Budget = Budget::ratio(0.1);
/// static BREAKER: Breaker = Breaker::new();
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> io::Result<()> {
/// let page = Policy::new()
///     .max(5)
///     .timeout(Duration::from_secs(30))
///     .name("pages.read")
///     .policy_timeout()
///     .budget(&BUDGET)
///     .breaker(&BREAKER)
///     .until(|page: &String| !page.is_empty())
///     .observe(|event| eprintln!("{event}"))
///     .fallback(async |gave_up| match gave_up.reason() {
///         retry_runtime::Reason::NotRetryable => Err(gave_up.into_error()),
///         _ => Ok(String::from("the cached page")),
///     })
///     .call(async || io::Result::Ok(String::from("hello")))
///     .await?;
/// assert_eq!(page, "hello");
/// # Ok(())
/// # }
/// ```
///
/// Keys have the same meaning as in the attribute. They can be set in any order; if a key is set twice, the last value
/// counts. Protections are borrowed; functions, timers and cancellation are owned, and have a type parameter.
/// [`Policy::on`] and similar methods start a chain; [`call`](Self::call) and similar methods end it. Batches and plans
/// accept chains, too, with the keys that they support.
///
/// # How an error is shown
///
/// The log shows the output of [`Classify::describe`](crate::Classify::describe). For the error types of this crate and
/// of its clients, and for types that derive [`Classify`](crate::Classify) and are an `Error` or `Display`, the output
/// includes the causes. A chain with [`on`](Self::on) shows only the name of the error type, unless
/// [`show`](Self::show) is set.
#[derive(Clone, Copy, Debug)]
#[must_use = "nothing happens until it is called"]
pub struct PolicyCall<'a, On = ByClassify, K = Keys, H = Hooks, N = Needs> {
    pub(crate) policy: Policy,
    pub(crate) name: Option<&'a str>,
    pub(crate) settings: Settings,
    pub(crate) protections: BorrowedProtections<'a>,
    /// Classifies errors and writes them.
    pub(crate) on: On,
    /// [`Keys`].
    pub(crate) keys: K,
    /// [`Hooks`](crate::chain::Hooks).
    pub(crate) hooks: H,
    /// [`Needs`](crate::chain::Needs).
    pub(crate) needs: PhantomData<fn() -> N>,
}

impl PolicyCall<'_> {
    /// A policy without further keys.
    #[inline]
    pub(crate) fn of(policy: &Policy) -> Self {
        Self {
            policy: *policy,
            name: None,
            settings: Settings::default(),
            protections: BorrowedProtections::default(),
            on: ByClassify,
            keys: Keys::default(),
            hooks: Hooks::default(),
            needs: PhantomData,
        }
    }
}

impl<On, K: KeySet, H: HookSet, N: NeedSet> PolicyCall<'_, On, K, H, N> {
    /// Calls an operation like [`Policy::call`].
    #[inline]
    pub fn call<Op: Operation<Fut>, Fut: Future<Output = Result<T, E>>, T, E>(
        self,
        mut operation: Op,
    ) -> impl Future<Output = Result<T, ErrorOf<K, E>>>
    where
        On: OnError<E>,
        K: KeySet<Cancel: MayAbort, Timer: Timer, GiveUp: GivesUp<E>>,
        H: AsyncHooks<T, E>,
        E: EndsBy<K::Cancel, N>,
    {
        let (call, cancel, on, hooks, end) = self.into_parts(path_of::<Op>, Driver::new);
        let (span, ends) = (call.context.span_name(), (E::ends, end));
        let (cancelled, operation) = (cancel.into_cancelled(), move |_: Option<&_>| operation());
        let room = <N::Keep as Keep>::Room::<Outcomes<T, E>>::default();
        let call = run(call, cancelled, on, hooks, ends, (room, false), operation);
        in_span(span, call)
    }

    /// Like [`call`](Self::call), for an operation that takes the current attempt: the key `attempt`.
    ///
    /// ```
    /// use std::io;
    /// use retry_runtime::Policy;
    ///
    /// # async fn post(key: String) -> io::Result<String> { Ok(key) }
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> io::Result<()> {
    /// let posted = Policy::new()
    ///     .name("posts.add")
    ///     .call_attempt(async |attempt| {
    ///         if let Some(error) = attempt.last_error() {
    ///             eprintln!("attempt {} follows {error}", attempt.number());
    ///         }
    ///         post(attempt.call_id().to_string()).await
    ///     })
    ///     .await?;
    /// # let _ = posted;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// The errors of earlier attempts are kept until the call ends, so the future is `Send` only if the error type is
    /// `Send` and `Sync`. Don't keep the [`Attempt`] after the attempt has ended, for example in a spawned task: the
    /// call would then go on without the errors so far.
    pub fn call_attempt<Op: FnMut(Arc<Attempt<E>>) -> Fut, Fut, T, E>(
        self,
        mut operation: Op,
    ) -> impl Future<Output = Result<T, ErrorOf<K, E>>>
    where
        Fut: Future<Output = Result<T, E>>,
        On: OnError<E>,
        K: KeySet<Cancel: MayAbort, Timer: Timer, GiveUp: GivesUp<E>>,
        H: AsyncHooks<T, E>,
        E: EndsBy<K::Cancel, N>,
    {
        let (call, cancel, on, hooks, end) = self.into_parts(path_of::<Op>, Driver::new);
        let (span, ends) = (call.context.span_name(), (E::ends, end));
        let operation = move |history: Option<&_>| operation(shared_history(history));
        let (cancelled, room) = (cancel.into_cancelled(), None::<Outcomes<T, E>>);
        let call = run(call, cancelled, on, hooks, ends, (room, true), operation);
        in_span(span, call)
    }
}

impl<On, K: KeySet, H: HookSet, N: NeedSet<TimesOut = ()>> PolicyCall<'_, On, K, H, N> {
    /// Like [`Policy::call_blocking`]. Blocking calls can't have `timeout`.
    pub fn call_blocking<Op: FnMut() -> Out, Out: BlockingOutcome<T, E>, T, E>(
        self,
        mut operation: Op,
    ) -> Result<T, ErrorOf<K, E>>
    where
        On: OnError<E>,
        K: KeySet<Cancel: Cancel, Timer: BlockingTimer, GiveUp: GivesUp<E>>,
        H: BlockingHooks<T, E>,
        E: EndsBy<K::Cancel, N>,
    {
        let (call, cancel, on, hooks, end) = self.into_parts(path_of::<Op>, Driver::blocking);
        let operation = move |_: Option<&_>| operation().into_result();
        run_blocking(call, cancel, on, hooks, (E::ends(), end), false, operation)
    }

    /// Like [`call_attempt`](Self::call_attempt), for blocking code.
    pub fn call_attempt_blocking<Op: FnMut(Arc<Attempt<E>>) -> Out, Out, T, E>(
        self,
        mut operation: Op,
    ) -> Result<T, ErrorOf<K, E>>
    where
        Out: BlockingOutcome<T, E>,
        On: OnError<E>,
        K: KeySet<Cancel: Cancel, Timer: BlockingTimer, GiveUp: GivesUp<E>>,
        H: BlockingHooks<T, E>,
        E: EndsBy<K::Cancel, N>,
    {
        let (call, cancel, on, hooks, end) = self.into_parts(path_of::<Op>, Driver::blocking);
        let operation = move |history: Option<&_>| operation(shared_history(history)).into_result();
        run_blocking(call, cancel, on, hooks, (E::ends(), end), true, operation)
    }
}

type CallDriver<'a, W> = Driver<BorrowedProtections<'a>, W>;
/// The parts of a call: its state, its cancellation, the classifier of its errors, its hooks, and `give_up`.
type Parts<'a, On, K, H> = (
    Run<'a, BorrowedProtections<'a>, <K as KeySet>::Timer, <K as KeySet>::Observer, Box<Policy>>,
    <K as KeySet>::Cancel,
    On,
    H,
    <K as KeySet>::GiveUp,
);

impl<'a, On, K: KeySet, H, N> PolicyCall<'a, On, K, H, N> {
    /// Splits the chain into the call and the parts owned by the loop. The policy is boxed, because moving a future
    /// copies everything in it.
    #[inline]
    fn into_parts(
        self,
        name: fn() -> &'static str,
        driver: fn(BorrowedProtections<'a>, K::Timer) -> CallDriver<'a, K::Timer>,
    ) -> Parts<'a, On, K, H> {
        let Keys(observer, cancel, timer, give_up) = self.keys.get();
        let (policy, name) = (
            Box::new(self.policy),
            self.name.map_or(Name::Computed(name), Name::Text),
        );
        let call = Run {
            driver: driver(self.protections, timer),
            context: Context::new(policy, self.settings, name, observer),
        };
        (call, cancel, self.on, self.hooks, give_up)
    }
}

/// The history, shared with an attempt.
fn shared_history<E>(history: Option<&Arc<Attempt<E>>>) -> Arc<Attempt<E>> {
    Arc::clone(history.expect("made before the first attempt"))
}
