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

impl Admission {
    /// The time after which it is worthwhile to ask again, if a success may admit an attempt at any time: no call is
    /// rejected for a wait that is no longer.
    pub const SOON: Duration = Duration::from_millis(20);

    /// An attempt that asks that much too late may be passed by those behind it. It keeps its position.
    pub const ABSENT: Duration = Duration::from_secs(1);
}
