use std::future::Future;
use std::time::Duration;

use retry_runtime::Moment;
use serde::Serialize;
use serde::de::DeserializeOwned;

/// Remembers how far a program has come, so that it goes on from there when it runs again.
///
/// A program that is run again asks for the same steps, by the same names. Each name stands for one step of a run.
///
/// Results are kept in JSON, read by `serde_json` itself, or in a format that is not
/// [human-readable](serde::Deserializer::is_human_readable). An error that changed code can't read
/// stops no call if it is JSON; in another format, the engine fails to read the attempt.
pub trait Engine: Sync {
    /// Why the engine can't keep a step or read one.
    type Error;

    /// Runs `step` and keeps its result under `name`. If a result is kept under that name already,
    /// returns it and runs nothing. A step that is dropped, or is under way when the program ends,
    /// is not kept.
    ///
    /// A result that was just computed is returned as it would be read back, too: without what
    /// serializing leaves out. This way, a first run sees the same values as a later one.
    fn step<T, S>(
        &self,
        name: &str,
        step: S,
    ) -> impl Future<Output = Result<T, Self::Error>> + Send
    where
        T: Serialize + DeserializeOwned + Send,
        S: Future<Output = T> + Send;

    /// Sleeps for `pause`, counted from when a sleep of that name was first asked for. A program
    /// that runs again asks for what is left by its clock, which may be less, or for no sleep at all
    /// if its policy no longer allows the attempt after it.
    fn sleep(
        &self,
        name: &str,
        pause: Duration,
    ) -> impl Future<Output = Result<(), Self::Error>> + Send;

    /// Sleeps for `pause`, if there is one, and then runs an attempt of `call` as a step. `number`
    /// counts from 1.
    ///
    /// Returns the attempt's number and its result. A call that is run again needs only its last
    /// two attempts. So an engine that has forgotten the earlier ones may return the first attempt
    /// that it still has, with its number.
    ///
    /// By default, this is a sleep and a step, and nothing is forgotten. An engine that wraps
    /// another calls the other's `attempt`.
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

    /// The time on a clock that goes on while the program doesn't run. A call reads it only within
    /// steps and before a sleep. While the clock says less than it did, no time passes for the
    /// call's deadline.
    fn now(&self) -> Moment;

    /// Tells whether `error` says that somebody has cancelled the run. A cancelled call reports its
    /// end, in a step of its own.
    ///
    /// By default, no error does.
    fn is_cancelled(error: &Self::Error) -> bool {
        let _ = error;
        false
    }
}
