use std::error::Error;
use std::fmt;
use std::future::Future;
use std::time::Duration;

use retry_runtime::macro_support::ignores_timeout;
use retry_runtime::{
    ByClassify, Call, Classify, Failure, Kind, Moment, OnError, Policy, RetryBudget, Site,
};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::Engine;

/// Policies, for calls that survive the program.
pub trait DurablePolicy {
    /// Calls `operation` until it succeeds or this policy gives up, across restarts of the program: [`Durable::call`]
    /// without other keys.
    fn durable<G, F, R, T, E>(
        &self,
        engine: &G,
        name: &str,
        operation: F,
    ) -> impl Future<Output = Result<T, DurableError<E, G::Error>>>
    where
        G: Engine,
        F: FnMut() -> R + Send,
        R: Future<Output = Result<T, E>> + Send,
        T: Serialize + DeserializeOwned + Send,
        E: Classify + Serialize + DeserializeOwned + Send + Sync;
}

impl DurablePolicy for Policy {
    fn durable<G, F, R, T, E>(
        &self,
        engine: &G,
        name: &str,
        operation: F,
    ) -> impl Future<Output = Result<T, DurableError<E, G::Error>>>
    where
        G: Engine,
        F: FnMut() -> R + Send,
        R: Future<Output = Result<T, E>> + Send,
        T: Serialize + DeserializeOwned + Send,
        E: Classify + Serialize + DeserializeOwned + Send + Sync,
    {
        Durable::new(*self).call(engine, name, operation)
    }
}

/// A call that survives the program: a policy and the keys beside it.
///
/// ```
/// use retry_durable::{Durable, Journal};
/// use retry_runtime::{Budget, Policy};
///
/// static BUDGET: Budget = Budget::standard();
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let directory = tempfile::tempdir()?;
/// let journal = Journal::open(directory.path().join("order 43"))?;
/// let stored = Durable::new(Policy::new().max(20))
///     .on(|error: &String| error.contains("overloaded"))
///     .budget(&BUDGET)
///     .idempotent(false)
///     .call(&journal, "store", async || Ok::<_, String>(7))
///     .await;
/// assert_eq!(stored.unwrap(), 7);
/// # Ok(())
/// # }
/// ```
///
/// Keys mean what they mean in the attribute. The policy's deadline counts from the first start, and the time in which
/// the program doesn't run counts. Its timeout is ignored, with a `WARN`: limit the operation itself.
#[derive(Clone, Copy)]
#[must_use = "nothing happens until it is called"]
pub struct Durable<'b, On = ByClassify> {
    policy: Policy,
    on: On,
    idempotent: bool,
    budget: Option<Budget<'b>>,
}

type Budget<'b> = &'b (dyn RetryBudget + Sync);

impl Durable<'_> {
    /// A call by that policy, of an error type that is [`Classify`].
    pub fn new(policy: Policy) -> Self {
        Self {
            policy,
            on: ByClassify,
            idempotent: true,
            budget: None,
        }
    }
}

impl<'b, On> Durable<'b, On> {
    /// Takes a function that says which errors are worth a retry.
    pub fn on<F>(self, on: F) -> Durable<'b, F> {
        Durable {
            policy: self.policy,
            on,
            idempotent: self.idempotent,
            budget: self.budget,
        }
    }

    /// Says what retries are paid from. A retry that the engine keeps is paid for once, however often the program starts.
    /// One that would begin past the deadline is refunded; one whose pause is cancelled is not.
    pub fn budget(self, budget: &(dyn RetryBudget + Sync)) -> Durable<'_, On> {
        Durable {
            policy: self.policy,
            on: self.on,
            idempotent: self.idempotent,
            budget: Some(budget),
        }
    }

    /// Says whether a second request does no harm. Default true.
    ///
    /// With `false`, a failure after which the request may have taken effect is not retried. An attempt that was under
    /// way when the program ended is made again all the same: have the server recognize it, by a key made of the names
    /// of the call and of the run.
    pub fn idempotent(mut self, idempotent: bool) -> Self {
        self.idempotent = idempotent;
        self
    }

    /// Calls `operation` until it succeeds or the policy gives up. The name is that of the call in the log, and that of
    /// its steps: each call of a run needs another.
    ///
    /// An attempt that is kept does not call `operation` again. So a variable that `operation` changes, such as a count of
    /// requests, begins anew with each start of the program.
    pub async fn call<G, F, R, T, E>(
        mut self,
        engine: &G,
        name: &str,
        mut operation: F,
    ) -> Result<T, DurableError<E, G::Error>>
    where
        G: Engine,
        On: OnError<E> + Send,
        F: FnMut() -> R + Send,
        R: Future<Output = Result<T, E>> + Send,
        T: Serialize + DeserializeOwned + Send,
        E: Serialize + DeserializeOwned + Send + Sync,
    {
        let begun = async { engine.now().since_origin() };
        let at = engine.step(&format!("{name}: begun"), begun).await;
        let mut state = State {
            call: Call::new(),
            at: at.map_err(DurableError::Engine)?,
            error: None,
        };
        for number in 1_u64.. {
            let mut paid = None;
            let attempt = self.attempt(engine, name, state, &mut operation, &mut paid);
            let ended = engine
                .step(&format!("{name}: attempt {number}"), attempt)
                .await;
            let ended = ended.map_err(|error| {
                // It does not keep that a retry follows. One that drops the program instead may have kept it.
                if let Some((budget, kind)) = self.budget.zip(paid) {
                    budget.refund(kind);
                }
                DurableError::Engine(error)
            })?;
            match ended {
                Ended::Succeeded(value) => return Ok(value),
                Ended::GaveUp(error) => return Err(DurableError::GaveUp(error)),
                Ended::Pauses(pause, paused) => {
                    state = paused;
                    let pause_name = format!("{name}: pause {number}");
                    let slept = engine.sleep(&pause_name, pause).await;
                    slept.map_err(DurableError::Engine)?;
                }
            }
        }
        unreachable!("more attempts than there are numbers")
    }

    /// One attempt, and what follows it.
    async fn attempt<G, F, R, T, E>(
        &mut self,
        engine: &G,
        name: &str,
        state: State<E>,
        operation: &mut F,
        paid: &mut Option<Kind>,
    ) -> Ended<T, E>
    where
        G: Engine,
        On: OnError<E> + Send,
        F: FnMut() -> R + Send,
        R: Future<Output = Result<T, E>> + Send,
        E: Send + Sync,
    {
        let site = Site::new(&self.policy, name);
        let State {
            mut call,
            at,
            error,
        } = state;
        let elapsed = || engine.now().since(Moment::from_origin(at));
        if let Some(error) = error {
            let verdict = self.on.verdict(&error);
            let shown = Shown(&self.on, &error);
            let failure = Failure::new(&site, verdict, &shown).elapsed(elapsed());
            if call.resumed(failure).is_err() {
                if let Some(budget) = self.budget {
                    drop(call.paid(budget));
                }
                return Ended::GaveUp(error);
            }
        }
        if self.policy.attempt_limit().is_some() {
            ignores_timeout(name);
        }
        let error = match operation().await {
            Ok(value) => {
                call.succeeded(&site);
                if let Some(budget) = self.budget {
                    call.credit(budget);
                }
                return Ended::Succeeded(value);
            }
            Err(error) => error,
        };
        let verdict = self.on.verdict(&error);
        let shown = Shown(&self.on, &error);
        let failure = Failure::new(&site, verdict, &shown).elapsed(elapsed());
        let mut failure = failure.idempotent(self.idempotent);
        if let Some(budget) = self.budget {
            failure = failure.budget(budget);
        }
        let Ok(pause) = call.failed_with(failure) else {
            return Ended::GaveUp(error);
        };
        *paid = verdict.kind();
        let state = State {
            call,
            at: engine.now().since_origin(),
            error: Some(error),
        };
        Ended::Pauses(pause, state)
    }
}

/// What an attempt begins with.
#[derive(Serialize, Deserialize)]
struct State<E> {
    call: Call,
    /// When that was so, by the engine's clock.
    at: Duration,
    /// What the attempt before failed with.
    error: Option<E>,
}

/// What became of an attempt: all that a program needs that is run again.
#[derive(Serialize, Deserialize)]
enum Ended<T, E> {
    Succeeded(T),
    Pauses(Duration, State<E>),
    GaveUp(E),
}

struct Shown<'a, On, E>(&'a On, &'a E);

impl<On: OnError<E>, E> fmt::Display for Shown<'_, On, E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.describe(self.1, f)
    }
}

/// Why a call ended without a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DurableError<E, G> {
    /// The policy gave up, and this is the last error. Run again, it is the same.
    GaveUp(E),
    /// The engine could not remember, or it has ended the run: its error says which. Where the program runs again, the
    /// call goes on from what is kept.
    Engine(G),
}

impl<E: fmt::Display, G: fmt::Display> fmt::Display for DurableError<E, G> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::GaveUp(error) => error.fmt(f),
            Self::Engine(error) => error.fmt(f),
        }
    }
}

impl<E: Error + 'static, G: Error + 'static> Error for DurableError<E, G> {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::GaveUp(error) => error.source(),
            Self::Engine(error) => error.source(),
        }
    }
}
