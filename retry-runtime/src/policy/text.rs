//! Policies as text, in the grammar documented at `Overrides`.

use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;
use core::str::FromStr;

use retry_vocabulary::duration;
use retry_vocabulary::key::{Among, Key};

use crate::policy::error::{PolicyError, refused, short};
use crate::policy::value::{Entries, RawValue, Setting};
use crate::policy::{Overrides, Policy};

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
impl FromStr for Policy {
    type Err = PolicyError;

    fn from_str(text: &str) -> Result<Self, PolicyError> {
        Self::new().overridden_by(&text.parse()?)
    }
}

impl FromStr for Overrides {
    type Err = PolicyError;

    fn from_str(text: &str) -> Result<Self, PolicyError> {
        Self::from_entries(entries(text, OF_POLICY)?)
    }
}

/// The nesting depth of tables in a policy's text: its sections.
const OF_POLICY: u8 = 1;
/// The nesting depth in the text of [`Policies`](crate::Policies).
pub(crate) const OF_NAMES: u8 = 2;

/// Parses the keys of a whole text whose tables are nested at most `depth` deep.
pub(crate) fn entries(text: &str, depth: u8) -> Result<Entries, PolicyError> {
    let mut parser = Parser { rest: text, depth };
    let entries = parser.entries(None)?;
    if parser.delimiter().is_some() {
        return Err(refused!("`)` without a `(` before it"));
    }
    Ok(entries)
}

impl Overrides {
    /// Parses the text for a single key, without the key's name: a value, or the keys of a section.
    #[cfg(feature = "clap")]
    pub(crate) fn from_key(key: Key, text: &str) -> Result<Self, PolicyError> {
        let mut parser = Parser {
            rest: text,
            depth: 0,
        };
        let name = key.name();
        let section = None;
        let raw = if key.is_section() {
            RawValue::Table(parser.entries(Some(name))?)
        } else {
            parser.value(GivenKey { section, name })?
        };
        match parser.rest.trim() {
            "" => Self::from_entries(Entries::from([(String::from(name), raw)])),
            rest => Err(refused!(
                "`{key}` takes one value: what is `{}` after it?",
                short(rest)
            )),
        }
    }
}

/// Prints every key with its value. The text parses to the same policy if its values are in the ranges that texts
/// allow. `floor`, `deadline` and the sections are printed only if they are set. Keys that have no effect with a list
/// are left out.
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
        Setting::Section(self.settings()).fmt(f)
    }
}

/// A key as written, known or not.
#[derive(Clone, Copy)]
struct GivenKey<'a> {
    section: Option<&'a str>,
    name: &'a str,
}

impl fmt::Display for GivenKey<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(section) = self.section {
            write!(f, "{}.", short(section))?;
        }
        f.write_str(&short(self.name))
    }
}

struct Parser<'a> {
    rest: &'a str,
    /// The levels of tables that may still be nested here. Limited, so that no text can overflow the stack.
    depth: u8,
}

impl<'a> Parser<'a> {
    /// Takes the text before the next delimiter.
    fn word(&mut self) -> &'a str {
        let delimiters = [',', '=', '(', ')', '[', ']', '"'];
        let end = self.rest.find(delimiters).unwrap_or(self.rest.len());
        let (word, rest) = self.rest.split_at(end);
        self.rest = rest;
        word.trim()
    }

    /// The delimiter that [`Parser::word`] stopped at, `None` at the end.
    fn delimiter(&self) -> Option<char> {
        self.rest.chars().next()
    }

    /// Takes the delimiter if it comes next.
    fn take(&mut self, delimiter: char) -> bool {
        let rest = self.rest.trim_start().strip_prefix(delimiter);
        self.rest = rest.unwrap_or(self.rest);
        rest.is_some()
    }

    /// Parses keys up to the end of the text or to a `)`, which is not consumed.
    fn entries(&mut self, section: Option<&str>) -> Result<Entries, PolicyError> {
        let mut entries = Entries::new();
        loop {
            let name = self.word();
            let key = GivenKey { section, name };
            let is_policy =
                self.depth == OF_NAMES && name != Key::Enabled.name() && key_of(name).is_none();
            let raw = match self.delimiter() {
                None | Some(')') if name.is_empty() => return Ok(entries),
                Some(delimiter) if name.is_empty() => {
                    return Err(refused!("a key is missing before `{delimiter}`"));
                }
                _ if self.take('=') => self.value(key)?,
                _ if self.take('(') => self.in_brackets(key)?,
                _ if is_policy => return Err(takes_keys(name, "max=2")),
                _ => return Err(no_value(key)),
            };
            entries.push((String::from(name), raw));
            if !self.take(',') {
                return match (self.word(), self.delimiter()) {
                    ("", None | Some(')')) => Ok(entries),
                    _ => Err(refused!("a comma is missing after the value of `{key}`")),
                };
            }
        }
    }

    fn value(&mut self, key: GivenKey<'_>) -> Result<RawValue, PolicyError> {
        if !self.take('[') {
            return self.single(key).map(RawValue::One);
        }
        let mut values = Vec::new();
        while !self.take(']') {
            // A list can't contain lists.
            if self.take('[') {
                return Err(not_closed(']', key));
            }
            values.push(self.single(key)?);
            if !self.take(',') && !self.rest.trim_start().starts_with(']') {
                return Err(not_closed(']', key));
            }
        }
        Ok(RawValue::List(values))
    }

    /// Parses a value that is neither a list nor a section.
    fn single(&mut self, key: GivenKey<'_>) -> Result<String, PolicyError> {
        let word = self.word();
        if !word.is_empty() {
            return Ok(String::from(word));
        }
        if !self.take('"') {
            return Err(no_value(key));
        }
        let unclosed = || refused!("the value of `{key}` has no closing quote");
        let (text, rest) = self.rest.split_once('"').ok_or_else(unclosed)?;
        self.rest = rest;
        Ok(String::from(text))
    }

    /// Parses a value in parentheses, or the keys of a section.
    fn in_brackets(&mut self, key: GivenKey<'_>) -> Result<RawValue, PolicyError> {
        let start = self.rest;
        let word = self.word();
        let raw = match self.delimiter() {
            Some(')') if word.is_empty() => RawValue::Table(Entries::new()),
            Some(')') => RawValue::One(String::from(word)),
            Some('"' | '[') if word.is_empty() => self.value(key)?,
            Some(_) if self.depth != 0 => {
                self.rest = start;
                self.depth -= 1;
                let table = self.entries(Some(key.name))?;
                self.depth += 1;
                RawValue::Table(table)
            }
            _ => return Err(not_closed(')', key)),
        };
        if self.take(')') {
            return Ok(raw);
        }
        Err(not_closed(')', key))
    }
}

/// The error for a name with anything except keys.
pub(crate) fn takes_keys(name: &str, example: &str) -> PolicyError {
    let name = short(name);
    refused!("`{name}` takes keys: write them in parentheses, as in `{name}({example})`")
}

/// For a key without a value, or a value without a key.
fn no_value(key: GivenKey<'_>) -> PolicyError {
    let GivenKey { section, name } = key;
    let is_value = name.starts_with(|first: char| first.is_ascii_digit());
    let section = section.filter(|_| is_value);
    let value = short(name);
    match section.and_then(|section| Among::Policy.find(section)) {
        Some(section) if section.is_section() && name.parse::<u32>().is_ok() => refused!(
            "`{section}` takes keys, not `{value}` alone: write `max={value}` for a number of retries"
        ),
        Some(section) if section.is_section() => refused!(
            "`{section}` takes keys, not `{value}` alone: write them, as in `{section}(max=5)`"
        ),
        Some(Key::Backoff) => refused!(
            "`backoff` takes a list of delays in square brackets: write `backoff=[{value}, …]`"
        ),
        Some(section) => refused!("`{section}` takes one value: write `{section}={value}`"),
        None => match (name.split_once(':'), key_of(name)) {
            (Some((key, value)), _) => {
                let (key, value) = (short(key.trim()), short(value.trim()));
                refused!("`{key}` takes its value after `=`, not `:`: write `{key}={value}`")
            }
            (None, Some((key, meant))) => {
                refused!("`{value}` is a value without its key: write `{key}={meant}`")
            }
            (None, None) if key.section.is_none() && duration::parse(name).is_ok() => refused!(
                "`{value}` is a value without its key: several delays stand in brackets, as in `backoff=[1s, {value}]`"
            ),
            (None, None) if name.starts_with('{') => refused!(
                "`{{` begins no key: a policy's text is `max=5, base=1s`; let a parser of JSON read JSON"
            ),
            (None, None) if name == "default" => {
                refused!("`default` is no key: an empty text is the default policy")
            }
            (None, None) => refused!("`{key}` has no value: write `{key}=…`"),
        },
    }
}

/// The key to which a value without one belongs, and the value to suggest for it.
fn key_of(value: &str) -> Option<(Key, &str)> {
    match value {
        "off" | "false" | "no" | "disabled" => Some((Key::Enabled, "false")),
        "on" | "true" | "yes" => Some((Key::Enabled, "true")),
        _ if value.parse::<u32>().is_ok() => Some((Key::Max, value)),
        _ => {
            let mut keys = Among::Policy.keys();
            let key = keys.find(|key| key.takes().words().contains(&value))?;
            Some((key, value))
        }
    }
}

fn not_closed(bracket: char, key: GivenKey<'_>) -> PolicyError {
    refused!("`{bracket}` is missing after the value of `{key}`")
}
