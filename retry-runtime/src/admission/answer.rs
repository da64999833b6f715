use core::time::Duration;

/// The answer to an attempt that asks to begin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Admission {
    /// The attempt may begin.
    Admitted,
    /// Not yet.
    Wait {
        /// The number of attempts that wait before this one.
        ahead: usize,
        /// The time after which the attempt asks again, unless it is woken earlier. `None`: only when woken.
        at_least: Option<Duration>,
    },
    /// Never: the call ends.
    Rejected,
    /// Never, because too many attempts wait already: the call ends.
    QueueFull,
}
