use alloc::string::String;
use core::error::Error;
use core::fmt;

use retry_classify::macro_support::shown;

/// The error for a text or a table that is not a valid policy, alone or combined with others: an unknown key or word, a
/// repeated key, a value out of range, a `base` above its `cap`, or a text that is not a list of keys.
///
/// The message contains the key, the value and the fix. Show it to the user unchanged.
///
/// ```
/// use retry_runtime::Policy;
///
/// let message = |text: &str| text.parse::<Policy>().unwrap_err().to_string();
/// assert_eq!(
///     message("factor=0.5"),
///     "`factor = 0.5` is out of range: it takes a number from 1 up"
/// );
/// assert_eq!(
///     message("base=5"),
///     "`base = 5` has no unit: write `\"5s\"` for seconds, or `ms`, `m`, `h`",
/// );
/// assert_eq!(
///     message("jitter=ful"),
///     "unknown word `ful` for `jitter`: did you mean `full`? \
///      The words are full, equal, decorrelated, none; or a ratio from 0 to 1",
/// );
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct PolicyError(String);

/// Like `Display`, because a program whose `main` returns the error prints its `Debug` form.
impl fmt::Debug for PolicyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl fmt::Display for PolicyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        shown(&self.0).fmt(f)
    }
}

impl Error for PolicyError {}

impl PolicyError {
    pub(crate) fn new(message: impl Into<String>) -> Self {
        Self(message.into())
    }
}

/// The first 40 characters of a text, on one line, for messages. A user may pass a whole file by mistake.
pub(crate) fn short(text: &str) -> String {
    const MAX_CHARS: usize = 40;
    let on_one_line = |c: char| if c.is_control() { ' ' } else { c };
    let mut short: String = text.chars().take(MAX_CHARS).map(on_one_line).collect();
    if text.chars().nth(MAX_CHARS).is_some() {
        short.push('…');
    }
    short
}

/// Creates a [`PolicyError`] with a formatted message.
macro_rules! policy_error {
    ($($message:tt)*) => {
        $crate::policy::error::PolicyError::new(alloc::format!($($message)*))
    };
}
pub(crate) use policy_error;

/// Adds the name of an entry to an error.
pub(crate) fn with_entry_name(name: &str, error: &PolicyError) -> PolicyError {
    policy_error!("in `{}`: {error}", short(name))
}
