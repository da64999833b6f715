use std::any::{type_name, type_name_of_val};
use std::future::Future;
use std::time::{Duration, Instant};

use crate::call::{Failure, TrackedCall};
use crate::macro_support::policy_deadline;
use crate::site::Site;
use crate::{Classify, Policy, Reason, Timer, Verdict, timer};

impl Policy {
    /// Calls `operation` until it succeeds or this policy gives up: the loop of the attribute, without it.
    ///
    /// The error type is classified by [`Classify`]; for another use [`Policy::on`]. The log shows the name of
    /// the error's type where the attribute would show the error, and the function that the operation is
    /// written in as the call's name. The returned future is `Send` where that of the operation is.
    ///
    /// An async closure may not change what it captures (it would lend itself to the future that it
    /// returns): capture a `Cell`, or use the attribute, which has no such limit.
    ///
    /// ```
    /// use std::cell::Cell;
    /// use std::io;
    /// use retry_runtime::Policy;
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> io::Result<()> {
    /// let attempts = Cell::new(0);
    /// let answer = Policy::none()
    ///     .max(2)
    ///     .call(async || {
    ///         attempts.set(attempts.get() + 1);
    ///         match attempts.get() {
    ///             1 | 2 => Err(io::Error::from(io::ErrorKind::ConnectionRefused)),
    ///             _ => Ok(42),
    ///         }
    ///     })
    ///     .await?;
    /// assert_eq!((answer, attempts.get()), (42, 3));
    /// # Ok(())
    /// # }
    /// ```
    #[cfg(feature = "tokio")]
    pub async fn call<F, R, T, E>(&self, operation: F) -> Result<T, E>
    where
        F: FnMut() -> R,
        R: Future<Output = Result<T, E>>,
        E: Classify,
    {
        self.on(E::classify).call(operation).await
    }

    /// Calls `operation` until it succeeds or this policy gives up, and sleeps on this thread in between.
    ///
    /// ```
    /// use retry_runtime::Policy;
    ///
    /// let missing = Policy::none().call_blocking(|| std::fs::read_to_string("no such file"));
    /// assert_eq!(missing.unwrap_err().kind(), std::io::ErrorKind::NotFound);
    /// ```
    pub fn call_blocking<F, T, E>(&self, operation: F) -> Result<T, E>
    where
        F: FnMut() -> Result<T, E>,
        E: Classify,
    {
        self.on(E::classify).call_blocking(operation)
    }

    /// Says with a function which errors are worth a retry, for error types that are not [`Classify`].
    ///
    /// ```
    /// use retry_runtime::Policy;
    ///
    /// let parsed = Policy::none()
    ///     .on(|error: &String| error.contains("overloaded"))
    ///     .call_blocking(|| Ok::<_, String>(42));
    /// assert_eq!(parsed, Ok(42));
    /// ```
    pub fn on<On>(&self, on: On) -> PolicyCall<On> {
        PolicyCall { policy: *self, on }
    }
}

/// A policy that knows which errors are worth a retry: what [`Policy::on`] returns.
#[derive(Clone, Copy, Debug)]
pub struct PolicyCall<On> {
    pub(crate) policy: Policy,
    pub(crate) on: On,
}

impl<On> PolicyCall<On> {
    /// As [`Policy::call`].
    #[cfg(feature = "tokio")]
    pub async fn call<F, R, T, E, V>(self, operation: F) -> Result<T, E>
    where
        F: FnMut() -> R,
        R: Future<Output = Result<T, E>>,
        On: FnMut(&E) -> V,
        V: Into<Verdict>,
    {
        self.call_with(crate::TokioTimer, operation).await
    }

    /// As [`Policy::call`], with another runtime's timer.
    pub async fn call_with<F, R, T, E, V>(
        mut self,
        timer: impl Timer,
        mut operation: F,
    ) -> Result<T, E>
    where
        F: FnMut() -> R,
        R: Future<Output = Result<T, E>>,
        On: FnMut(&E) -> V,
        V: Into<Verdict>,
    {
        let mut steps = Steps::new(&self.policy);
        loop {
            // The error's life ends before the pause, so that it need not be `Send`.
            let pause = {
                match operation().await {
                    Ok(value) => {
                        steps.succeeded(name_of(&operation));
                        return Ok(value);
                    }
                    Err(error) => match steps.failed(&error, &mut self.on, name_of(&operation)) {
                        Ok(pause) => pause,
                        Err(_) => return Err(error),
                    },
                }
            };
            timer.sleep(pause).await;
        }
    }

    /// As [`Policy::call_blocking`].
    pub fn call_blocking<F, T, E, V>(mut self, mut operation: F) -> Result<T, E>
    where
        F: FnMut() -> Result<T, E>,
        On: FnMut(&E) -> V,
        V: Into<Verdict>,
    {
        let mut steps = Steps::new(&self.policy);
        loop {
            match operation() {
                Ok(value) => {
                    steps.succeeded(name_of(&operation));
                    return Ok(value);
                }
                Err(error) => match steps.failed(&error, &mut self.on, name_of(&operation)) {
                    Ok(pause) => timer::sleep_blocking(pause),
                    Err(_) => return Err(error),
                },
            }
        }
    }
}

/// A call under way, and when it must end.
struct Steps {
    policy: Policy,
    call: TrackedCall,
    deadline: Option<Instant>,
}

impl Steps {
    fn new(policy: &Policy) -> Self {
        Self {
            policy: *policy,
            call: TrackedCall::new(),
            deadline: policy_deadline(policy),
        }
    }

    fn failed<E, V: Into<Verdict>>(
        &mut self,
        error: &E,
        on: &mut impl FnMut(&E) -> V,
        name: &str,
    ) -> Result<Duration, Reason> {
        let site = Site::new(&self.policy, name);
        // Generic code can tell no more of an error than its type.
        let shown = type_name::<E>();
        let failure = Failure::new(&site, on(error).into(), &shown);
        self.call.failed(failure.deadline(self.deadline))
    }

    fn succeeded(&self, name: &str) {
        if self.call.is_retried() {
            self.call.healed(self.policy.schedule.max, name);
        }
    }
}

/// The function that a closure is written in, as the call's name.
pub(crate) fn name_of<F>(operation: &F) -> &'static str {
    let name = type_name_of_val(operation);
    name.trim_end_matches("::{{closure}}")
}
