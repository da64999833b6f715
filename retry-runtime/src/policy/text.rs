//! Policies as text, in the grammar documented at `Overrides`.

use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

use retry_vocabulary::key::{Key, KeyScope};

use crate::policy::{
    BreakerSettings, Entries, LimiterSettings, Overrides, Policy, PolicyError, RawValue, Settings,
    keys_text, policy_error, short,
};

/// Implements `FromStr` and, with the feature `serde`, `Deserialize` from a table.
macro_rules! readable {
    ($($(#[$doc:meta])* $type:ident: $read:expr, $build:expr;)*) => {$(
        $(#[$doc])*
        impl core::str::FromStr for $type {
            type Err = PolicyError;

            fn from_str(text: &str) -> Result<Self, PolicyError> {
                $read($crate::policy::text::parse(text)?).and_then($build)
            }
        }

        /// Reads a table with the same keys as the text. [`Overrides`] lists a policy's keys.
        #[cfg(feature = "serde")]
        impl<'de> ::serde::Deserialize<'de> for $type {
            fn deserialize<D: ::serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
                $crate::policy::serde::deserialize(from, $read, $build)
            }
        }
    )*};
}
pub(crate) use readable;

readable! {
    /// Parses the keys in a text, on top of [`Policy::new`]. [`Overrides`] documents the grammar.
    ///
    /// ```
    /// use std::time::Duration;
    /// use retry_runtime::Policy;
    ///
    /// let policy: Policy = "backoff=fixed, base=250ms, deadline=2m".parse()?;
    /// assert_eq!(
    ///     policy,
    ///     Policy::fixed(Duration::from_millis(250)).deadline(Duration::from_secs(120)),
    /// );
    /// # Ok::<(), retry_runtime::PolicyError>(())
    /// ```
    Policy: |entries| Overrides::read(KeyScope::Policy, entries), |layer| Self::new().overridden_by(&layer);
    Overrides: |entries| Self::read(KeyScope::Policy, entries), Ok;
    BreakerSettings: |entries| Self::read(Key::Breaker, entries), Ok;
    LimiterSettings: |entries| Self::read(Key::Limiter, entries), Self::checked;
}

/// Prints every key with its value. The text parses to an equal policy if the values are in the ranges that texts
/// allow. `floor`, the time limits, `enabled = false` and the sections are printed only if they are set. Keys that have
/// no effect with a list are left out.
///
/// ```
/// use retry_runtime::Policy;
///
/// assert_eq!(
///     Policy::new().to_string(),
///     "max=3, backoff=exp, base=1s, factor=2, cap=30s, jitter=full, hint=honor, \
///      max_hint=2m",
/// );
/// ```
impl fmt::Display for Policy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&keys_text(self.all_in_force().values()))
    }
}

impl fmt::Display for Overrides {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&keys_text(self.policy.values()))
    }
}

/// The maximum nesting depth of tables in a text: a name, and a section in it. Limited, so that no text can overflow
/// the stack.
const MAX_DEPTH: u8 = 2;

/// Parses the keys of a whole text.
pub(crate) fn parse(text: &str) -> Result<Entries, PolicyError> {
    let mut parser = Parser {
        rest: text,
        depth: MAX_DEPTH,
    };
    let entries = parser.parse_entries()?;
    if parser.delimiter().is_some() {
        return Err(policy_error!("`)` without a `(` before it"));
    }
    Ok(entries)
}

struct Parser<'a> {
    rest: &'a str,
    /// The nesting depth that is still allowed.
    depth: u8,
}

impl<'a> Parser<'a> {
    /// Consumes the text before the next delimiter.
    fn take_word(&mut self) -> &'a str {
        let delimiters = [',', '=', '(', ')', '[', ']', '"'];
        let end = self.rest.find(delimiters).unwrap_or(self.rest.len());
        let (word, rest) = self.rest.split_at(end);
        self.rest = rest;
        word.trim()
    }

    /// The delimiter at which [`Parser::take_word`] stopped. `None` at the end of the text.
    fn delimiter(&self) -> Option<char> {
        self.rest.chars().next()
    }

    /// Consumes the delimiter if it comes next. Returns true if it did.
    fn take(&mut self, delimiter: char) -> bool {
        let rest = self.rest.trim_start().strip_prefix(delimiter);
        self.rest = rest.unwrap_or(self.rest);
        rest.is_some()
    }

    /// Consumes the delimiter that must follow a value of `key`.
    fn expect(&mut self, delimiter: char, key: &str) -> Result<(), PolicyError> {
        if self.take(delimiter) {
            return Ok(());
        }
        let key = short(key);
        Err(policy_error!(
            "`{delimiter}` is missing after the value of `{key}`"
        ))
    }

    /// Parses keys up to the end of the text or to a `)`, which is not consumed.
    fn parse_entries(&mut self) -> Result<Entries, PolicyError> {
        let mut entries = Entries::new();
        loop {
            let key = self.take_word();
            let raw = match self.delimiter() {
                None | Some(')') if key.is_empty() => return Ok(entries),
                Some(delimiter) if key.is_empty() => {
                    return Err(policy_error!("a key is missing before `{delimiter}`"));
                }
                _ if self.take('=') => self.parse_value(key)?,
                _ if self.take('(') => self.parse_parens(key)?,
                _ => return Err(missing_value(key)),
            };
            entries.push((String::from(key), raw));
            self.rest = self.rest.trim_start();
            if !matches!(self.delimiter(), None | Some(')')) {
                self.expect(',', key)?;
            }
        }
    }

    fn parse_value(&mut self, key: &str) -> Result<RawValue, PolicyError> {
        if !self.take('[') {
            return self.parse_single(key).map(RawValue::One);
        }
        let mut values = Vec::new();
        while !self.take(']') {
            values.push(self.parse_single(key)?);
            if !self.take(',') {
                self.expect(']', key)?;
                break;
            }
        }
        Ok(RawValue::List(values))
    }

    /// Parses a value that is neither a list nor a section.
    fn parse_single(&mut self, key: &str) -> Result<String, PolicyError> {
        let word = self.take_word();
        if !word.is_empty() {
            return Ok(String::from(word));
        }
        if !self.take('"') {
            return Err(missing_value(key));
        }
        let unclosed = || policy_error!("the value of `{}` has no closing quote", short(key));
        let (text, rest) = self.rest.split_once('"').ok_or_else(unclosed)?;
        self.rest = rest;
        Ok(String::from(text))
    }

    /// Parses a value in parentheses, or the keys of a section.
    fn parse_parens(&mut self, key: &str) -> Result<RawValue, PolicyError> {
        let start = self.rest;
        let word = self.take_word();
        let raw = match self.delimiter() {
            Some(')') if word.is_empty() => RawValue::Table(Entries::new()),
            Some(')') => RawValue::One(String::from(word)),
            Some('"' | '[') if word.is_empty() => self.parse_value(key)?,
            Some(_) if self.depth != 0 => {
                self.rest = start;
                self.depth -= 1;
                let table = self.parse_entries()?;
                self.depth += 1;
                RawValue::Table(table)
            }
            _ => RawValue::Table(Entries::new()),
        };
        self.expect(')', key)?;
        Ok(raw)
    }
}

/// The error for a key without a value, or a value without a key.
fn missing_value(word: &str) -> PolicyError {
    let given = short(word);
    if KeyScope::Entry.find(word).is_some() {
        return policy_error!("`{given}` has no value: write `{given}=…`");
    }
    match guess_key(word) {
        Some((key, value)) => {
            policy_error!("`{given}` is a value without its key: write `{key}={value}`")
        }
        None => policy_error!(
            "`{given}` is not a key with a value: write both, as in `max=5, backoff=[1s, 5s], throttled(max=9)`"
        ),
    }
}

/// The key to suggest for a value that was written without its key, and that key's value.
fn guess_key(value: &str) -> Option<(Key, &str)> {
    match value {
        "off" | "false" | "no" | "disabled" => Some((Key::Enabled, "false")),
        "on" | "true" | "yes" => Some((Key::Enabled, "true")),
        _ if value.parse::<u32>().is_ok() => Some((Key::Max, value)),
        _ => {
            let mut keys = KeyScope::Policy.keys();
            let key = keys.find(|key| key.value_type().words().contains(&value))?;
            Some((key, value))
        }
    }
}
