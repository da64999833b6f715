use core::{fmt, iter};
use std::sync::PoisonError;

use crate::sync::{Mutex, lock};

/// A sequence of outcomes for attempts, to simulate a server with known failures.
///
/// [`fail_times`] and [`sequence`] create one. To make a real client flaky, call [`next`](Script::next) before the
/// client, in a body or in a closure:
///
/// ```
/// use retry_runtime::testing::{Script, fail_times};
/// use retry_runtime::{Policy, retry};
///
/// # struct Client;
/// # impl Client { async fn get(&self) -> Result<&'static str, String> { Ok("hello") } }
/// struct Flaky {
///     client: Client,
///     faults: Script<(), String>,
/// }
///
/// impl Flaky {
///     #[retry(backoff = "none", on = |_| true)]
///     async fn get(&self) -> Result<&'static str, String> {
///         self.faults.next()?;
///         self.client.get().await
///     }
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// let flaky = Flaky { client: Client, faults: fail_times(2, String::from("busy")) };
/// assert_eq!(flaky.get().await.unwrap(), "hello");
/// assert_eq!(flaky.faults.attempts(), 3);
/// # }
/// ```
pub struct Script<T, E>(Mutex<State<T, E>>);

struct State<T, E> {
    outcomes: Box<dyn Iterator<Item = Result<T, E>> + Send>,
    attempts: u32,
}

/// Creates a script that fails `times` times with clones of the error, and then always succeeds: with `()`, or with the
/// value set by [`then`](Script::then).
///
/// ```
/// use retry_runtime::testing::{Script, fail_times};
///
/// let model: Script<&str, &str> = fail_times(1, "busy").then("hello");
/// assert_eq!(model.next(), Err("busy"));
/// assert_eq!(model.next(), Ok("hello"));
/// ```
pub fn fail_times<E: Clone + Send + 'static>(times: u32, error: E) -> Script<(), E> {
    let failures = (0..times).map(move |_| Err(error.clone()));
    sequence(failures.chain(iter::repeat_with(|| Ok(()))))
}

/// Creates a script of these outcomes, in order.
///
/// ```
/// use retry_runtime::testing::sequence;
///
/// let script = sequence([Err("busy"), Ok("hello")]);
/// assert_eq!(script.next(), Err("busy"));
/// assert_eq!(script.next(), Ok("hello"));
/// ```
pub fn sequence<T, E, I>(outcomes: I) -> Script<T, E>
where
    I: IntoIterator<Item = Result<T, E>, IntoIter: Send + 'static>,
{
    Script(Mutex::new(State {
        outcomes: Box::new(outcomes.into_iter()),
        attempts: 0,
    }))
}

impl<E: 'static> Script<(), E> {
    /// Makes every success return a clone of this value instead of `()`.
    #[must_use]
    pub fn then<T: Clone + Send + 'static>(self, value: T) -> Script<T, E> {
        let state = self.0.into_inner().unwrap_or_else(PoisonError::into_inner);
        let outcomes = state.outcomes;
        sequence(outcomes.map(move |outcome| outcome.map(|()| value.clone())))
    }
}

impl<T, E> Script<T, E> {
    /// Returns the outcome of this attempt.
    ///
    /// # Panics
    ///
    /// If the script has no outcomes left, because the code under test made too many attempts.
    #[track_caller]
    pub fn next(&self) -> Result<T, E> {
        let mut state = lock(&self.0);
        let outcome = state.outcomes.next();
        state.attempts = state.attempts.saturating_add(1);
        let attempts = state.attempts;
        drop(state);
        outcome.unwrap_or_else(|| panic!("the script has no outcome for attempt {attempts}"))
    }

    /// The number of attempts so far: the calls of [`next`](Self::next).
    pub fn attempts(&self) -> u32 {
        lock(&self.0).attempts
    }
}

impl<T, E> fmt::Debug for Script<T, E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let attempts = self.attempts();
        f.debug_struct("Script")
            .field("attempts", &attempts)
            .finish_non_exhaustive()
    }
}
