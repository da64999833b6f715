use alloc::format;
use alloc::string::String;
use alloc::string::ToString;
use alloc::vec::Vec;
use core::time::Duration;

use retry_vocabulary::complaint::{self, Bound};
use retry_vocabulary::duration;
use retry_vocabulary::key::{Among, At, Key};

use crate::classify::kind::Kind;
use crate::policy::Policy;
use crate::policy::error::{PolicyError, short};
use crate::policy::hint::Hint;
use crate::policy::schedule::Schedule;
use crate::policy::section::Section;
use crate::policy::value::{Entries, Value};

/// The keys of a policy that one text or table names: one layer of configuration.
///
/// [`Policy::overridden_by`] puts it over a policy, key by key. A program's layers are then its constructor, its
/// configuration file and its command line; the later one wins:
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
///     "max=2, backoff=exp, base=250ms, factor=2, cap=1m, jitter=full, hint=honor, \
///      max_hint=2m, throttled(max=20, base=10s)",
/// );
/// # Ok::<(), retry_runtime::PolicyError>(())
/// ```
///
/// # The text
///
/// Keys and values are the same as in the attribute: `key=value` or `key(value)`, separated by commas, with optional
/// white space and optional double quotes around values. An empty text names nothing.
///
/// | key | value |
/// |---|---|
/// | `max` | a whole number from 0 to 4294967294, or `unlimited` |
/// | `backoff` | `exp`, `fixed`, `linear`, `fibonacci` or `none`; or a list of durations, as `[1s, 5s, 30s]`, whose last one repeats |
/// | `base`, `cap` | a duration |
/// | `factor` | a number from 1 up |
/// | `floor` | a duration |
/// | `jitter` | `full`, `equal`, `decorrelated` or `none`; or a ratio from 0 to 1, of at most 9 decimals |
/// | `hint` | `honor`, `clamp` or `ignore` |
/// | `max_hint` | a duration |
/// | `timeout`, `deadline` | a duration above `0s` |
/// | `enabled` | `true` or `false` |
/// | `transient(…)`, `throttled(…)`, `timed_out(…)`, `invalid(…)` | any of `max`, `backoff`, `base`, `factor`, `cap`, `jitter` |
///
/// A duration is written with its units, as `250ms`, `1.5s`, `2m` and `1h30m`: `ns`, `us`, `ms`, `s`, `m`, `h`, `d` and `w`.
/// It may be up to 584 years long.
///
/// With the feature `serde`, a table with the same keys works, too: a section is a table in it, and a list is an array.
/// Numbers may be integers, floats or text. The format must be self-describing, as TOML, JSON and YAML are.
///
/// A text or table is refused for an unknown key or word, a key named twice, or a value out of range. Values are never
/// rounded into range. `Display` prints what the layer names, in the form above.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Overrides {
    /// What a section could name, too.
    own: Section,
    floor: Option<Duration>,
    hint: Option<Hint>,
    max_hint: Option<Duration>,
    timeout: Option<Duration>,
    deadline: Option<Duration>,
    enabled: Option<bool>,
    /// By kind. One that names nothing is none.
    sections: [Section; Kind::ALL.len()],
}

impl Policy {
    /// This policy, overridden key by key with what that layer names, in sections too.
    ///
    /// It is an error if the result has a `base` or `floor` above its `cap`, in the policy or in a section with what it
    /// inherits, or if the layer names a `base` or `factor` for delays that come from a list. A layer that names a list
    /// removes an earlier `base` and `factor`.
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
        let policy = self.with_overrides(overrides);
        policy.check(None, &overrides.own)?;
        for kind in Kind::ALL {
            policy.check(Some(kind), &overrides.sections[kind as usize])?;
        }
        Ok(policy)
    }

    /// The same unchecked, as by setters.
    pub(crate) fn with_overrides(self, overrides: &Overrides) -> Self {
        let mut policy = self.with(None, overrides.own);
        for kind in Kind::ALL {
            policy = policy.with(Some(kind), overrides.sections[kind as usize]);
        }
        if let Some(floor) = overrides.floor {
            policy = policy.floor(floor);
        }
        if let Some(hint) = overrides.hint {
            policy = policy.hint(hint);
        }
        if let Some(max_hint) = overrides.max_hint {
            policy = policy.max_hint(max_hint);
        }
        if let Some(timeout) = overrides.timeout {
            policy = policy.timeout(timeout);
        }
        if let Some(deadline) = overrides.deadline {
            policy = policy.deadline(deadline);
        }
        if let Some(enabled) = overrides.enabled {
            policy = policy.enabled(enabled);
        }
        policy
    }

    /// Checks the numbers for that kind, or the policy's own, after a layer that named `last`.
    fn check(&self, kind: Option<Kind>, last: &Section) -> Result<(), PolicyError> {
        let section = kind
            .map(|kind| self.rows.get(Some(kind)))
            .unwrap_or_default();
        let named = self.rows.get(None).overridden_by(section);
        let in_force = Schedule::new(named, self.floor.get());
        // A section's own keys are named as such, those that it takes from the policy are not.
        let at = |key, is_sections| At {
            section: kind.map(section_key).filter(|_| is_sections),
            key,
        };
        // No default is called that: it may be the program's own.
        let bound = |at, value| Bound {
            at,
            value,
            is_default: false,
        };
        let cap = bound(at(Key::Cap, section.cap.is_some()), in_force.cap);
        let complaint = if in_force.backoff.is_list() {
            let key = match last {
                Section { base: Some(_), .. } => Some(Key::Base),
                Section {
                    factor: Some(_), ..
                } => Some(Key::Factor),
                _ => None,
            };
            key.map(|key| complaint::no_effect(&at(key, true), complaint::BESIDE_LIST))
        } else {
            let base = at(Key::Base, section.base.is_some());
            complaint::above(bound(base, in_force.base), cap)
        };
        let floor = bound(at(Key::Floor, false), in_force.floor);
        match complaint.or_else(|| complaint::above(floor, cap)) {
            Some(complaint) => Err(PolicyError::new(complaint)),
            None => Ok(()),
        }
    }
}

impl Overrides {
    /// Names nothing.
    pub const fn new() -> Self {
        Self {
            own: Section::new(),
            floor: None,
            hint: None,
            max_hint: None,
            timeout: None,
            deadline: None,
            enabled: None,
            sections: [Section::new(); Kind::ALL.len()],
        }
    }

    /// Checks what it names together, whatever it is laid over.
    pub(crate) fn check(&self) -> Result<(), PolicyError> {
        let any = Policy::new().base(Duration::ZERO).cap(duration::LONGEST);
        any.overridden_by(self).map(drop)
    }

    /// This layer, overridden key by key with what a later one names, in sections too.
    ///
    /// If you merge the layers first, they are checked together: a file's `cap` may be below the constructor's `base`
    /// if the command line lowers the `base`, too.
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
        let mut sections = self.sections;
        for (section, later) in sections.iter_mut().zip(later.sections) {
            *section = section.overridden_by(later);
        }
        Self {
            own: self.own.overridden_by(later.own),
            floor: later.floor.or(self.floor),
            hint: later.hint.or(self.hint),
            max_hint: later.max_hint.or(self.max_hint),
            timeout: later.timeout.or(self.timeout),
            deadline: later.deadline.or(self.deadline),
            enabled: later.enabled.or(self.enabled),
            sections,
        }
    }

    /// What that policy says, every key named.
    pub(crate) fn all_of(policy: &Policy) -> Self {
        let named = policy.rows.get(None);
        let sections = Kind::ALL.map(|kind| {
            let section = policy.rows.get(Some(kind));
            match named.overridden_by(section) {
                in_force if in_force.names_list() => section.without_growth(),
                _ => section,
            }
        });
        // With its `max`, also where retries are off.
        let own = Schedule::new(named, policy.floor.get());
        let is_list = own.backoff.is_list();
        // Named, the default would clip lists.
        let has_list = is_list || sections.iter().any(Section::names_list);
        Self {
            own: Section {
                max: Some(own.max),
                backoff: Some(own.backoff),
                base: (!is_list).then_some(own.base),
                factor: (!is_list).then_some(own.factor),
                cap: if has_list { named.cap } else { Some(own.cap) },
                jitter: Some(own.jitter),
            },
            floor: policy.floor.get().filter(|floor| !floor.is_zero()),
            hint: Some(policy.hint_rule()),
            max_hint: Some(policy.longest_hint()),
            timeout: policy.attempt_limit(),
            deadline: policy.time_limit(),
            enabled: (!policy.is_enabled()).then_some(false),
            sections,
        }
    }

    /// The same without `enabled = true`, so that what others switch off stays off.
    pub(crate) fn without_enabling(mut self) -> Self {
        self.enabled = self.enabled.filter(|enabled| !enabled);
        self
    }

    pub(crate) fn from_entries(entries: &Entries) -> Result<Self, PolicyError> {
        let mut named = Self::default();
        for (at, value) in keys(entries, None)? {
            named.set(at, value)?;
        }
        Ok(named)
    }

    /// Whether one entry, of that section or of the policy, is right by itself.
    #[cfg(feature = "serde")]
    pub(crate) fn check_entry(
        section: Option<Key>,
        name: &str,
        value: &Value,
    ) -> Result<(), PolicyError> {
        let at = find(section, name, value)?;
        match section {
            Some(_) => set(&mut Section::new(), at, value),
            None => Self::default().set(at, value),
        }
    }

    fn set(&mut self, at: At, value: &Value) -> Result<(), PolicyError> {
        match at.key {
            Key::Floor => self.floor = Some(value.duration(at)?),
            Key::Hint => self.hint = Some(Hint::from_word(value.word(at)?)),
            Key::MaxHint => self.max_hint = Some(value.duration(at)?),
            Key::Timeout => self.timeout = Some(value.positive_duration(at)?),
            Key::Deadline => self.deadline = Some(value.positive_duration(at)?),
            Key::Enabled => self.enabled = Some(value.bool(at)?),
            key => match kind_of(key) {
                Some(kind) => self.sections[kind as usize] = read_section(at, value)?,
                None => set(&mut self.own, at, value)?,
            },
        }
        Ok(())
    }

    /// The reverse of [`Overrides::from_entries`].
    pub(crate) fn entries(&self) -> Entries {
        entries(Among::Policy, |key| match key {
            Key::Floor => self.floor.map(Value::from_duration),
            Key::Hint => self.hint.map(|hint| Value::from_word(Some(hint.word()))),
            Key::MaxHint => self.max_hint.map(Value::from_duration),
            Key::Timeout => self.timeout.map(Value::from_duration),
            Key::Deadline => self.deadline.map(Value::from_duration),
            Key::Enabled => self.enabled.map(Value::Bool),
            key => match kind_of(key) {
                Some(kind) => section_entries(key, &self.sections[kind as usize]),
                None => get(&self.own, key),
            },
        })
    }
}

/// The kind of failure that a section is for.
fn kind_of(section: Key) -> Option<Kind> {
    Kind::ALL
        .into_iter()
        .find(|kind| section_key(*kind) == section)
}

fn section_key(kind: Kind) -> Key {
    match kind {
        Kind::Transient => Key::Transient,
        Kind::Throttled => Key::Throttled,
        Kind::Timeout => Key::TimedOut,
        Kind::Invalid => Key::Invalid,
    }
}

/// The keys of that section, or of the policy, with their values.
fn keys(entries: &Entries, section: Option<Key>) -> Result<Vec<(At, &Value)>, PolicyError> {
    let mut keys: Vec<(At, &Value)> = Vec::new();
    for (name, value) in entries {
        let at = find(section, name, value)?;
        if keys.iter().any(|(known, _)| known.key == at.key) {
            return Err(PolicyError::new(complaint::given_twice(&at)));
        }
        keys.push((at, value));
    }
    Ok(keys)
}

/// The key of that name, which stands before that value.
fn find(section: Option<Key>, name: &str, value: &Value) -> Result<At, PolicyError> {
    let among = section.map_or(Among::Policy, Among::Section);
    match among.find(name) {
        Some(key) => Ok(At { section, key }),
        None => {
            let complaint = complaint::unknown_key(&short(name), &value.to_string(), among);
            Err(PolicyError::new(complaint))
        }
    }
}

fn read_section(at: At, value: &Value) -> Result<Section, PolicyError> {
    let Value::Table(entries) = value else {
        let why = format!("is not a section: write its keys, as in `{at}(max=5)`");
        return Err(value.refused(at, &why));
    };
    let mut section = Section::new();
    for (at, value) in keys(entries, Some(at.key))? {
        set(&mut section, at, value)?;
    }
    Ok(section)
}

fn section_entries(key: Key, section: &Section) -> Option<Value> {
    let entries = entries(Among::Section(key), |key| get(section, key));
    (!entries.is_empty()).then_some(Value::Table(entries))
}

fn set(section: &mut Section, at: At, value: &Value) -> Result<(), PolicyError> {
    match at.key {
        Key::Max => section.max = Some(value.count(at)?),
        Key::Backoff => section.backoff = Some(value.backoff(at)?),
        Key::Base => section.base = Some(value.duration(at)?),
        Key::Factor => section.factor = Some(value.factor(at)?),
        Key::Cap => section.cap = Some(value.duration(at)?),
        Key::Jitter => section.jitter = Some(value.jitter(at)?),
        _ => {}
    }
    Ok(())
}

fn get(section: &Section, key: Key) -> Option<Value> {
    match key {
        Key::Max => section.max.map(Value::from_count),
        Key::Backoff => section.backoff.map(Value::from_backoff),
        Key::Base => section.base.map(Value::from_duration),
        Key::Factor => section.factor.map(Value::Float),
        Key::Cap => section.cap.map(Value::from_duration),
        Key::Jitter => section.jitter.map(Value::from_jitter),
        _ => None,
    }
}

fn entries(among: Among, value: impl Fn(Key) -> Option<Value>) -> Entries {
    let mut entries = Entries::new();
    for key in among.keys() {
        if let Some(value) = value(key) {
            entries.push((String::from(key.name()), value));
        }
    }
    entries
}
