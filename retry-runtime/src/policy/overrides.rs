use std::time::Duration;

use crate::policy::Policy;
use crate::policy::backoff::Backoff;
use crate::policy::error::Key;
use crate::policy::error::PolicyError;
use crate::policy::hint::Hint;
use crate::policy::schedule::Schedule;
use crate::policy::section::Section;
use crate::policy::sections::Sections;
use crate::policy::value::{Entries, Value};

/// The keys of a policy that some text or table names: one layer of configuration.
///
/// [`Policy::overridden_by`] puts it over a policy, key by key. The layers of a program are then its
/// constructor, its configuration file and its command line, the later winning:
///
/// ```
/// use std::time::Duration;
/// use retry_runtime::{Overrides, Policy};
///
/// let file: Overrides = "max=8, cap=1m, throttled(max=20, base=5s)".parse()?;
/// let command_line: Overrides = "max=2, throttled(base=10s)".parse()?;
/// let policy = Policy::new()
///     .base(Duration::from_millis(250))
///     .overridden_by(&file)?
///     .overridden_by(&command_line)?;
/// assert_eq!(
///     policy.to_string(),
///     "max=2, backoff=exp, base=250ms, factor=2, cap=1m, jitter=full, hint=honor, max_hint=1m, \
///      throttled(max=20, base=10s)",
/// );
/// # Ok::<(), retry_runtime::PolicyError>(())
/// ```
///
/// # The text
///
/// Keys and values are those of the attribute: `key=value` or `key(value)`, separated by commas, with white
/// space anywhere and the values in double quotes or not. An empty text names nothing.
///
/// | key | value |
/// |---|---|
/// | `max` | a whole number from 0 to 4294967294, or `unlimited` |
/// | `backoff` | `exp`, `fixed`, `linear`, `fibonacci` or `none` |
/// | `base`, `cap` | a duration |
/// | `factor` | a number from 1 up |
/// | `jitter` | `full`, `equal`, `decorrelated` or `none`, or a ratio from 0 to 1 |
/// | `hint` | `honor`, `clamp` or `ignore` |
/// | `max_hint` | a duration |
/// | `deadline` | a duration above `0s` |
/// | `transient(…)`, `throttled(…)`, `timed_out(…)`, `invalid(…)` | any of the keys from `max` to `jitter` |
///
/// A duration is written with its units, as `250ms`, `1.5s`, `2m` and `1h30m`.
///
/// With the feature `serde`, a table of the same keys gives the same, the sections being tables in it. Its
/// numbers may be integers, floats or text. The format must be self-describing, as TOML, JSON and YAML are.
///
/// A text or table is refused for an unknown key or word, a key named twice and a value out of range.
/// `Display` prints what the layer names, in the form above.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Overrides {
    /// The keys that a section could name, too.
    schedule: Section,
    hint: Option<Hint>,
    max_hint: Option<Duration>,
    deadline: Option<Duration>,
    sections: Sections,
}

const KEYS: &[&str] = &[
    "max",
    "backoff",
    "base",
    "factor",
    "cap",
    "jitter",
    "hint",
    "max_hint",
    "deadline",
    "transient",
    "throttled",
    "timed_out",
    "invalid",
];
const SECTION_KEYS: &[&str] = &["max", "backoff", "base", "factor", "cap", "jitter"];

impl Policy {
    /// This policy with what that layer names in place of its own, key by key, in sections too.
    ///
    /// It is an error if the result has a `base` above its `cap`, in the policy or in a section with what it
    /// takes from the policy.
    ///
    /// ```
    /// use retry_runtime::Policy;
    ///
    /// let error = Policy::new().overridden_by(&"cap=500ms".parse()?).unwrap_err();
    /// assert_eq!(
    ///     error.to_string(),
    ///     "`base = 1s` is above `cap = 500ms`: lower the first or raise the second",
    /// );
    /// # Ok::<(), retry_runtime::PolicyError>(())
    /// ```
    pub fn overridden_by(self, overrides: &Overrides) -> Result<Self, PolicyError> {
        let policy = Self {
            schedule: self.schedule.with(&overrides.schedule),
            hint: overrides.hint.unwrap_or(self.hint),
            max_hint: overrides.max_hint.unwrap_or(self.max_hint),
            deadline: overrides.deadline.or(self.deadline),
            sections: self.sections.overridden_by(&overrides.sections),
        };
        check_base(policy.schedule, None, Section::new())?;
        for (name, section) in policy.sections.entries() {
            check_base(policy.schedule, Some(name), section.unwrap_or_default())?;
        }
        Ok(policy)
    }
}

fn check_base(schedule: Schedule, name: Option<&str>, section: Section) -> Result<(), PolicyError> {
    let Schedule { base, cap, .. } = schedule.with(&section);
    if base <= cap {
        return Ok(());
    }
    // A section's own keys are named as such, those that it takes from the policy are not.
    let base_key = Key {
        section: name.filter(|_| section.base.is_some()),
        name: "base",
    };
    let cap_key = Key {
        section: name.filter(|_| section.cap.is_some()),
        name: "cap",
    };
    Err(PolicyError::wrong(
        base_key,
        &Value::from_duration(base),
        &format!(
            "is above `{cap_key} = {}`: lower the first or raise the second",
            Value::from_duration(cap),
        ),
    ))
}

impl Overrides {
    /// This layer with what a later one names in place of its own, key by key, in sections too.
    ///
    /// Layers that are put together first are checked together: a file's `cap` may be below the `base` of the
    /// constructor if the command line lowers that, too.
    ///
    /// ```
    /// use retry_runtime::{Overrides, Policy};
    ///
    /// let file: Overrides = "cap=500ms".parse()?;
    /// let command_line: Overrides = "base=100ms".parse()?;
    /// let policy = Policy::new().overridden_by(&file.overridden_by(&command_line))?;
    /// assert!(policy.to_string().contains("base=100ms, factor=2, cap=500ms"));
    /// # Ok::<(), retry_runtime::PolicyError>(())
    /// ```
    pub fn overridden_by(self, later: &Self) -> Self {
        Self {
            schedule: self.schedule.overridden_by(later.schedule),
            hint: later.hint.or(self.hint),
            max_hint: later.max_hint.or(self.max_hint),
            deadline: later.deadline.or(self.deadline),
            sections: self.sections.overridden_by(&later.sections),
        }
    }

    /// What that policy says, every key named.
    pub(crate) fn all_of(policy: &Policy) -> Self {
        let Schedule {
            max,
            backoff,
            base,
            factor,
            cap,
            jitter,
        } = policy.schedule;
        Self {
            schedule: Section::new()
                .max(max)
                .backoff(backoff)
                .base(base)
                .factor(factor)
                .cap(cap)
                .jitter(jitter),
            hint: Some(policy.hint),
            max_hint: Some(policy.max_hint),
            deadline: policy.deadline,
            sections: policy.sections,
        }
    }

    pub(crate) fn from_entries(entries: Entries) -> Result<Self, PolicyError> {
        let mut named = Self::default();
        for (name, value) in entries {
            let key = Key {
                section: None,
                name: &name,
            };
            match key.name {
                "hint" => put(&mut named.hint, key, value.word(key, Hint::WORDS)?)?,
                "max_hint" => put(&mut named.max_hint, key, value.duration(key)?)?,
                "deadline" => put(&mut named.deadline, key, value.positive_duration(key)?)?,
                name => match named.sections.named(name) {
                    Some(section) => put(section, key, read_section(key, value)?)?,
                    None => set(&mut named.schedule, key, &value, KEYS)?,
                },
            }
        }
        Ok(named)
    }

    /// The reverse of [`Overrides::from_entries`].
    pub(crate) fn entries(&self) -> Entries {
        let mut entries = entries_of(self.schedule);
        let hint = |hint| Value::from_word(hint, Hint::WORDS);
        add(&mut entries, "hint", self.hint.and_then(hint));
        let max_hint = self.max_hint.map(Value::from_duration);
        add(&mut entries, "max_hint", max_hint);
        let deadline = self.deadline.map(Value::from_duration);
        add(&mut entries, "deadline", deadline);
        for (name, section) in self.sections.entries() {
            let section = section.map(|section| Value::Table(entries_of(section)));
            add(&mut entries, name, section);
        }
        entries
    }
}

fn read_section(key: Key<'_>, value: Value) -> Result<Section, PolicyError> {
    let Value::Table(entries) = value else {
        let why = format!("is not a section: write its keys, as in `{key}(max=5)`");
        return Err(PolicyError::wrong(key, &value, &why));
    };
    let mut section = Section::new();
    for (name, value) in entries {
        let key = Key {
            section: Some(key.name),
            name: &name,
        };
        set(&mut section, key, &value, SECTION_KEYS)?;
    }
    Ok(section)
}

fn set(
    section: &mut Section,
    key: Key<'_>,
    value: &Value,
    known: &[&str],
) -> Result<(), PolicyError> {
    match key.name {
        "max" => put(&mut section.max, key, value.count(key)?),
        "backoff" => put(&mut section.backoff, key, value.word(key, Backoff::WORDS)?),
        "base" => put(&mut section.base, key, value.duration(key)?),
        "factor" => put(&mut section.factor, key, value.factor(key)?),
        "cap" => put(&mut section.cap, key, value.duration(key)?),
        "jitter" => put(&mut section.jitter, key, value.jitter(key)?),
        _ => Err(PolicyError::unknown_key(key, known)),
    }
}

fn put<T>(slot: &mut Option<T>, key: Key<'_>, value: T) -> Result<(), PolicyError> {
    match slot.replace(value) {
        None => Ok(()),
        Some(_) => Err(PolicyError::repeated(key)),
    }
}

fn entries_of(section: Section) -> Entries {
    let mut entries = Entries::new();
    let backoff = |backoff| Value::from_word(backoff, Backoff::WORDS);
    add(&mut entries, "max", section.max.map(Value::from_count));
    add(&mut entries, "backoff", section.backoff.and_then(backoff));
    add(&mut entries, "base", section.base.map(Value::from_duration));
    add(&mut entries, "factor", section.factor.map(Value::Float));
    add(&mut entries, "cap", section.cap.map(Value::from_duration));
    let jitter = section.jitter.and_then(Value::from_jitter);
    add(&mut entries, "jitter", jitter);
    entries
}

fn add(entries: &mut Entries, name: &str, value: Option<Value>) {
    if let Some(value) = value {
        entries.push((String::from(name), value));
    }
}
