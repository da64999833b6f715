//! Policies as text: the grammar that `Overrides` documents.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;
use core::str::FromStr;

use retry_vocabulary::key::{Among, Key};

use crate::policy::Policy;
use crate::policy::error::{PolicyError, short};
use crate::policy::overrides::Overrides;
use crate::policy::value::{Entries, Value};

/// The keys that the text names, on top of [`Policy::new`]. [`Overrides`] documents the grammar.
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
impl FromStr for Policy {
    type Err = PolicyError;

    fn from_str(text: &str) -> Result<Self, PolicyError> {
        Self::new().overridden_by(&text.parse()?)
    }
}

impl FromStr for Overrides {
    type Err = PolicyError;

    fn from_str(text: &str) -> Result<Self, PolicyError> {
        let mut parser = Parser { rest: text };
        let entries = parser.entries(None)?;
        if parser.delimiter().is_some() {
            return Err(PolicyError::new("`)` without a `(` before it"));
        }
        Self::from_entries(&entries)
    }
}

impl Overrides {
    /// What a text says of one key alone, without its name: a value, or the keys of a section.
    #[cfg(feature = "clap")]
    pub(crate) fn of_key(key: Key, text: &str) -> Result<Self, PolicyError> {
        let mut parser = Parser { rest: text };
        let section = key.is_section().then_some(key.name());
        let name = Name {
            section: None,
            name: key.name(),
        };
        let value = match section {
            Some(_) => Value::Table(parser.entries(section)?),
            None => parser.value(name)?,
        };
        if !parser.rest.trim().is_empty() {
            return Err(PolicyError::new(format!(
                "`{key}` takes one value: what is `{}` after it?",
                short(parser.rest.trim())
            )));
        }
        Self::from_entries(&Vec::from([(String::from(key.name()), value)]))
    }
}

/// Every key with its value: a text that parses to the same policy, if its values are in the ranges that texts allow.
/// `floor`, `deadline` and the sections appear only if they are set. With a list, keys that it makes ineffective are
/// left out.
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
        Overrides::all_of(self).fmt(f)
    }
}

impl fmt::Display for Overrides {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_entries(f, &self.entries())
    }
}

fn write_entries(f: &mut fmt::Formatter<'_>, entries: &Entries) -> fmt::Result {
    for (index, (name, value)) in entries.iter().enumerate() {
        let comma = if index > 0 { ", " } else { "" };
        let value = value.alone();
        match value.0 {
            Value::Table(_) => write!(f, "{comma}{name}({value})")?,
            _ => write!(f, "{comma}{name}={value}")?,
        }
    }
    Ok(())
}

/// A value as text, without its key.
pub(crate) struct Alone<'a>(&'a Value);

impl Value {
    pub(crate) const fn alone(&self) -> Alone<'_> {
        Alone(self)
    }
}

impl fmt::Display for Alone<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Value::Table(entries) => write_entries(f, entries),
            Value::List(values) => {
                f.write_str("[")?;
                for (index, value) in values.iter().enumerate() {
                    let comma = if index > 0 { ", " } else { "" };
                    write!(f, "{comma}{value}")?;
                }
                f.write_str("]")
            }
            value => value.fmt(f),
        }
    }
}

/// A key as written, known or not.
#[derive(Clone, Copy)]
struct Name<'a> {
    section: Option<&'a str>,
    name: &'a str,
}

impl fmt::Display for Name<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(section) = self.section {
            write!(f, "{}.", short(section))?;
        }
        f.write_str(&short(self.name))
    }
}

struct Parser<'a> {
    rest: &'a str,
}

impl<'a> Parser<'a> {
    /// Takes what stands before the next delimiter.
    fn word(&mut self) -> &'a str {
        let end = self
            .rest
            .find([',', '=', '(', ')', '[', ']', '"'])
            .unwrap_or(self.rest.len());
        let (word, rest) = self.rest.split_at(end);
        self.rest = rest;
        word.trim()
    }

    /// The delimiter that [`Parser::word`] stopped at, `None` at the end.
    fn delimiter(&self) -> Option<char> {
        self.rest.chars().next()
    }

    fn take(&mut self, delimiter: char) -> bool {
        match self.rest.strip_prefix(delimiter) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }

    /// The keys up to the end of the text or to a `)`, which is left.
    fn entries(&mut self, section: Option<&str>) -> Result<Entries, PolicyError> {
        let mut entries = Entries::new();
        loop {
            let name = self.word();
            let key = Name { section, name };
            let value = match self.delimiter() {
                None | Some(')') if name.is_empty() => return Ok(entries),
                Some(delimiter) if name.is_empty() => {
                    return Err(PolicyError::new(format!(
                        "a key is missing before `{delimiter}`"
                    )));
                }
                _ if self.take('=') => self.value(key)?,
                _ if self.take('(') => self.in_brackets(key)?,
                _ => return Err(no_value(key)),
            };
            entries.push((String::from(name), value));

            let follows = self.word();
            match self.delimiter() {
                None | Some(')') if follows.is_empty() => return Ok(entries),
                Some(',') if follows.is_empty() => self.take(','),
                _ => {
                    return Err(PolicyError::new(format!(
                        "a comma is missing after the value of `{key}`"
                    )));
                }
            };
        }
    }

    fn value(&mut self, key: Name<'_>) -> Result<Value, PolicyError> {
        let word = self.word();
        if !word.is_empty() {
            return Ok(Value::Text(String::from(word)));
        }
        if self.take('[') {
            return self.list(key);
        }
        if !self.take('"') {
            return Err(no_value(key));
        }
        let Some((text, rest)) = self.rest.split_once('"') else {
            return Err(PolicyError::new(format!(
                "the value of `{key}` has no closing quote"
            )));
        };
        self.rest = rest;
        Ok(Value::Text(String::from(text)))
    }

    /// The values up to a `]`, which is taken.
    fn list(&mut self, key: Name<'_>) -> Result<Value, PolicyError> {
        let mut values = Vec::new();
        loop {
            let start = self.rest;
            if self.word().is_empty() && self.take(']') {
                return Ok(Value::List(values));
            }
            self.rest = start;
            // No list holds another, so a text can't nest deep enough to exhaust the stack.
            if start.trim_start().starts_with('[') {
                return Err(not_closed(']', key));
            }
            values.push(self.value(key)?);
            if !self.word().is_empty() || !self.take(',') && self.delimiter() != Some(']') {
                return Err(not_closed(']', key));
            }
        }
    }

    /// `key(value)` or the keys of a section.
    fn in_brackets(&mut self, key: Name<'_>) -> Result<Value, PolicyError> {
        let start = self.rest;
        let word = self.word();
        let value = match self.delimiter() {
            Some(')') if word.is_empty() => Value::Table(Entries::new()),
            Some(')') => Value::Text(String::from(word)),
            Some('"' | '[') if word.is_empty() => self.value(key)?,
            None => return Err(not_closed(')', key)),
            // No section holds another, so a text can't nest deep enough to exhaust the stack.
            _ if key.section.is_some() => return Err(not_closed(')', key)),
            _ => {
                self.rest = start;
                Value::Table(self.entries(Some(key.name))?)
            }
        };
        if self.word().is_empty() && self.take(')') {
            Ok(value)
        } else {
            Err(not_closed(')', key))
        }
    }
}

fn no_value(key: Name<'_>) -> PolicyError {
    let Name { section, name } = key;
    let is_value = name.starts_with(|first: char| first.is_ascii_digit());
    let around = section
        .filter(|_| is_value)
        .and_then(|section| Among::Policy.find(section));
    let value = short(name);
    PolicyError::new(match around {
        Some(section) if section.is_section() && name.parse::<u32>().is_ok() => format!(
            "`{section}` takes keys, not `{value}` alone: write `max={value}` for a number of retries"
        ),
        Some(section) if section.is_section() => format!(
            "`{section}` takes keys, not `{value}` alone: write them, as in `{section}(max=5)`"
        ),
        Some(Key::Backoff) => format!(
            "`backoff` takes a list of delays in square brackets: write `backoff=[{value}, …]`"
        ),
        Some(section) => format!("`{section}` takes one value: write `{section}={value}`"),
        None => format!("`{key}` has no value: write `{key}=…`"),
    })
}

fn not_closed(bracket: char, key: Name<'_>) -> PolicyError {
    PolicyError::new(format!("`{bracket}` is missing after the value of `{key}`"))
}
