use std::error::Error;
use std::fmt;

use crate::policy::value::Value;

/// Why a text, a table or their combination is not a policy: an unknown key or word, a repeated key, a value
/// out of range, a `base` above its `cap`, or a text that is not a list of keys.
///
/// The message names the key, the value and what would be right, and is meant to be shown as it is.
///
/// ```
/// use retry_runtime::Policy;
///
/// let message = |text: &str| text.parse::<Policy>().unwrap_err().to_string();
/// assert_eq!(message("factor=0.5"), "`factor = 0.5` is out of range: a number from 1 up");
/// assert_eq!(message("base=5"), "`base = 5` is not a duration: write a unit, as in `5s`");
/// assert_eq!(
///     message("jitter=ful"),
///     "unknown word `ful` for `jitter`: did you mean `full`? \
///      The words are full, equal, decorrelated, none; or a ratio from 0 to 1",
/// );
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PolicyError(String);

impl fmt::Display for PolicyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Error for PolicyError {}

/// A key as messages name it: with its section, as in `throttled.base`.
#[derive(Clone, Copy)]
pub(crate) struct Key<'a> {
    pub(crate) section: Option<&'a str>,
    pub(crate) name: &'a str,
}

impl fmt::Display for Key<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(section) = self.section {
            write!(f, "{section}.")?;
        }
        f.write_str(&short(self.name))
    }
}

impl PolicyError {
    pub(crate) fn new(message: impl Into<String>) -> Self {
        Self(message.into())
    }

    pub(crate) fn unknown_key(key: Key<'_>, known: &[&str]) -> Self {
        let guess = nearest(key.name, known).map(|name| Key { name, ..key });
        let keys = format!("keys are {}", known.join(", "));
        Self(format!("unknown key `{key}`: {}", suggestion(guess, &keys)))
    }

    /// `or` is what may stand there instead of a word.
    pub(crate) fn unknown_word(key: Key<'_>, value: &Value, known: &[&str], or: &str) -> Self {
        let word = value.to_string();
        let words = format!("words are {}{or}", known.join(", "));
        Self(format!(
            "unknown word `{}` for `{key}`: {}",
            short(&word),
            suggestion(nearest(&word, known), &words),
        ))
    }

    pub(crate) fn repeated(key: Key<'_>) -> Self {
        Self(format!("`{key}` is named twice"))
    }

    pub(crate) fn out_of_range(key: Key<'_>, value: &Value, range: &str) -> Self {
        Self::wrong(key, value, &format!("is out of range: {range}"))
    }

    pub(crate) fn wrong(key: Key<'_>, value: &Value, why: &str) -> Self {
        Self(format!("`{key} = {}` {why}", short(&value.to_string())))
    }
}

fn suggestion(guess: Option<impl fmt::Display>, known: &str) -> String {
    match guess {
        Some(guess) => format!("did you mean `{guess}`? The {known}"),
        None => format!("the {known}"),
    }
}

/// The known name that is most like that one, if any is much like it. A common beginning counts most, so
/// that `exponential` finds `exp`.
pub(crate) fn nearest<'a>(name: &str, known: &[&'a str]) -> Option<&'a str> {
    let name = short(name).to_lowercase();
    known
        .iter()
        .map(|known| (strsim::jaro_winkler(&name, known), *known))
        .filter(|(likeness, _)| *likeness > 0.8)
        .max_by(|(a, _), (b, _)| a.total_cmp(b))
        .map(|(_, known)| known)
}

/// The start of a text on one line: a message is no place for a whole file given by mistake.
fn short(text: &str) -> String {
    const LONGEST: usize = 40;
    let mut short: String = text
        .chars()
        .take(LONGEST)
        .map(|c| if c.is_control() { ' ' } else { c })
        .collect();
    if text.chars().nth(LONGEST).is_some() {
        short.push('…');
    }
    short
}
