use std::future::Future;
use std::time::Duration;

use retry_runtime::Moment;
use serde::Serialize;
use serde::de::DeserializeOwned;

/// What remembers how far a program has come, and runs it again from there.
///
/// A program that is run again asks for the same steps, by the same names. Each name stands for one step of a run.
pub trait Engine: Sync {
    /// Why it can't remember.
    type Error;

    /// Runs `step` and keeps what it returns; or returns what is kept under that name, and runs nothing. A step that is
    /// dropped, or under way when the program ends, does not count.
    ///
    /// Even a result that was just computed is returned as it would be read back, without what serializing leaves out.
    /// So a first run sees the same as a later one.
    fn step<T, S>(
        &self,
        name: &str,
        step: S,
    ) -> impl Future<Output = Result<T, Self::Error>> + Send
    where
        T: Serialize + DeserializeOwned + Send,
        S: Future<Output = T> + Send;

    /// Sleeps that long, counted from when it was first asked for under that name. A program that is run again asks for
    /// what is left by its clock, and that may be less.
    fn sleep(
        &self,
        name: &str,
        pause: Duration,
    ) -> impl Future<Output = Result<(), Self::Error>> + Send;

    /// Sleeps, where there is a pause, and then runs an attempt of that call: a step. `number` counts from 1.
    ///
    /// Returns that number and the result. A call that is run again needs only its last two attempts. So an engine that
    /// has forgotten those before may return the first that it still has, and its number.
    ///
    /// By default, these are a sleep and a step, and nothing is forgotten. An engine around another passes it on.
    fn attempt<T, S>(
        &self,
        call: &str,
        number: u32,
        pause: Option<Duration>,
        attempt: S,
    ) -> impl Future<Output = Result<(u32, T), Self::Error>> + Send
    where
        T: Serialize + DeserializeOwned + Send,
        S: Future<Output = T> + Send,
    {
        async move {
            if let Some(pause) = pause {
                let name = format!("{call}: pause {}", number - 1);
                self.sleep(&name, pause).await?;
            }
            let name = format!("{call}: attempt {number}");
            Ok((number, self.step(&name, attempt).await?))
        }
    }

    /// The time on a clock that goes on while the program doesn't run. Only read within steps, and before a sleep.
    /// While it says less than it did, no time passes for a call's deadline.
    fn now(&self) -> Moment;

    /// Whether that error says that somebody has cancelled the run. A call then reports its end, in a step of its own.
    ///
    /// By default, none does.
    fn is_cancelled(error: &Self::Error) -> bool {
        let _ = error;
        false
    }
}
