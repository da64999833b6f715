use std::time::Duration;

use retry_runtime::seam::Moment;
use serde::Serialize;
use serde::de::DeserializeOwned;

/// Stores a program's progress, so that the program continues where it stopped when it runs again.
///
/// A program that is run again must use the same names for the same steps. Each name identifies one step of a run.
///
/// Results are stored as JSON, which the engine must read with `serde_json`, or in a format that is not
/// [human-readable](serde::Deserializer::is_human_readable). If changed code can't read a stored error, calls still
/// work with JSON; with another format, the engine fails to read the attempt.
pub trait Engine: Sync {
    /// The error that the engine returns if it can't store or read a step.
    type Error;

    /// Runs `step` and stores its result under `name`. If a result is already stored under that name, returns it and
    /// doesn't run the step. A step that is dropped, or is running when the program ends, is not stored.
    ///
    /// A new result is also returned as it would be read back, without the parts that serialization omits. So the first
    /// run gets the same values as later runs.
    fn step<T, S>(
        &self,
        name: &str,
        step: S,
    ) -> impl Future<Output = Result<T, Self::Error>> + Send
    where
        T: Serialize + DeserializeOwned + Send,
        S: Future<Output = T> + Send;

    /// Sleeps for `pause`, counted from the first request for a sleep with this name. A program that runs again
    /// requests only the time that is left by its clock, or zero if its policy no longer allows the next attempt.
    fn sleep(
        &self,
        name: &str,
        pause: Duration,
    ) -> impl Future<Output = Result<(), Self::Error>> + Send;

    /// Sleeps for `pause`, if there is one, and then runs an attempt of `call` as a step. `number` starts at 1.
    ///
    /// Returns the attempt's number and its result. A call that is run again needs only its last two attempts. So an
    /// engine that has deleted earlier attempts may return the first attempt that it still has, with that attempt's
    /// number.
    ///
    /// By default, this method is a sleep and a step, and deletes nothing. An engine that wraps another engine must
    /// call that engine's `attempt`.
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

    /// The time on a clock that continues while the program doesn't run. A call reads the clock only inside steps and
    /// before a sleep. If the clock was set back, no time passes for the call's deadline until the clock has caught up.
    fn now(&self) -> Moment;

    /// Returns true if `error` means that the run was cancelled. A cancelled call reports its end, in a separate step.
    ///
    /// By default, returns false.
    fn is_cancelled(error: &Self::Error) -> bool {
        let _ = error;
        false
    }
}
