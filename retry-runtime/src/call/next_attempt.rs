use core::time::Duration;

/// The attempt that follows a failure. The functions of the keys `before_pause` and `before_retry` receive it with the
/// error.
///
/// ```
/// use std::time::Duration;
/// use retry_runtime::own_loop::NextAttempt;
/// use retry_runtime::retry;
///
/// #[retry(max = 2, jitter = "none", base = "1ms", on = |_| true,
///     before_pause = |error: &String, next: NextAttempt| {
///         shown.push(format!("{error}: attempt {} in {:?}", next.number(), next.pause()));
///     })]
/// fn ask(shown: &mut Vec<String>) -> Result<(), String> {
///     Err(String::from("busy"))
/// }
///
/// let mut shown = Vec::new();
/// assert!(ask(&mut shown).is_err());
/// assert_eq!(shown, ["busy: attempt 2 in 1ms", "busy: attempt 3 in 2ms"]);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NextAttempt {
    number: u32,
    pause: Duration,
}

impl NextAttempt {
    #[doc(hidden)]
    pub const fn new(number: u32, pause: Duration) -> Self {
        Self { number, pause }
    }

    /// The attempt's number, from 2.
    pub const fn number(self) -> u32 {
        self.number
    }

    /// The pause before the attempt.
    pub const fn pause(self) -> Duration {
        self.pause
    }
}
