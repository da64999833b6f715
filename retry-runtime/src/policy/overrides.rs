use alloc::collections::BTreeMap;
use alloc::vec::Vec;
use core::time::Duration;

use retry_vocabulary::complaint;
use retry_vocabulary::duration;
use retry_vocabulary::key::{Among, At, Key, Owner};

use crate::classify::kind::Kind;
use crate::policy::error::{PolicyError, refused, short};
use crate::policy::fault::SECTIONS;
use crate::policy::schedule::Schedule;
use crate::policy::value::{Entries, KeyValue, RawValue, Setting};
use crate::policy::{Backoff, Policy, Section};

/// The policy keys set by one text or table: one layer of configuration.
///
/// [`Policy::overridden_by`] applies it to a policy, key by key. A program's layers are typically its constructor, its
/// configuration file and its command line. Later layers win:
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
/// whitespace and optional double quotes around values. An empty text sets nothing.
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
/// | `total_delay` | a duration above `0s`, counted in whole milliseconds |
/// | `enabled` | `true` or `false` |
/// | `transient(…)`, `throttled(…)`, `timed_out(…)`, `invalid(…)` | any of `max`, `backoff`, `base`, `factor`, `cap`, `jitter` |
///
/// A duration is written with its units, such as `250ms`, `1.5s`, `2m` or `1h30m`: `ns`, `us`, `ms`, `s`, `m`, `h`, `d`
/// and `w`. The longest is 584 years.
///
/// With the feature `serde`, a table with the same keys works, too: a section is a nested table, and a list is an
/// array. Numbers may be integers, floats or text. The format must be self-describing, as TOML, JSON and YAML are.
///
/// A text or table is rejected for an unknown key or word, a repeated key, or a value out of range. Values are never
/// rounded into range. `Display` prints the layer's keys in the form above.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Overrides {
    named: BTreeMap<At, KeyValue>,
}

impl Policy {
    /// Returns this policy, overridden key by key with a layer's values, including sections.
    ///
    /// Fails if the result has a `base` or `floor` above its `cap`, in the policy or in a section with its inherited
    /// values; if its shortest delay is above its `deadline` or `total_delay`, so that no retry could start; or if the
    /// layer sets a `base` or `factor` for delays that come from a list. A layer that sets a list removes an earlier
    /// `base` and `factor`.
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
        for (section, kind) in SECTIONS {
            policy.check(section, kind, overrides)?;
        }
        policy.check_deadline()?;
        Ok(policy)
    }

    /// This policy, overridden without checks, as by setters.
    pub(crate) fn with_overrides(self, overrides: &Overrides) -> Self {
        let named = overrides.named.iter();
        named.fold(self, |policy, (at, value)| policy.set(*at, *value))
    }

    /// This policy with those of a layer's values whose keys `own` doesn't set.
    pub(crate) fn with_defaults(self, defaults: &Overrides, own: &Self) -> Self {
        let unset = defaults.named.iter().filter(|(at, _)| !own.sets(**at));
        unset.fold(self, |policy, (at, value)| policy.set(*at, *value))
    }

    /// Returns true if the key differs from its default, in its section or for all failures. The keys for delays act
    /// together, and on inherited values, so any of them counts for all.
    fn sets(&self, at: At) -> bool {
        let is_of_delays = |key: Key| match key.owner() {
            Owner::Schedule => key != Key::Max,
            _ => key == Key::Floor,
        };
        SECTIONS.into_iter().any(|(section, kind)| {
            let is_here = section.is_none() || section == at.section;
            let counts = |key: &Key| {
                if is_of_delays(at.key) {
                    return is_of_delays(*key);
                }
                *key == at.key && is_here
            };
            Among::Policy.keys().filter(counts).any(|key| {
                let at = At { section, key };
                self.get(at, self.named(kind)) != Self::new().get(at, Section::new())
            })
        })
    }

    fn set(self, at: At, value: KeyValue) -> Self {
        let section = Section::new();
        let section = match (at.key, value) {
            (Key::Max, KeyValue::Count(max)) => section.max(max),
            (Key::Backoff, KeyValue::Backoff(backoff)) => section.backoff(backoff),
            (Key::Base, KeyValue::Duration(base)) => section.base(base),
            (Key::Factor, KeyValue::Factor(factor)) => section.factor(factor),
            (Key::Cap, KeyValue::Duration(cap)) => section.cap(cap),
            (Key::Jitter, KeyValue::Jitter(jitter)) => section.jitter(jitter),
            (Key::Floor, KeyValue::Duration(floor)) => return self.floor(floor),
            (Key::Hint, KeyValue::Hint(hint)) => return self.hint(hint),
            (Key::MaxHint, KeyValue::Duration(longest)) => return self.max_hint(longest),
            (Key::Timeout, KeyValue::Duration(timeout)) => return self.timeout(timeout),
            (Key::Deadline, KeyValue::Duration(deadline)) => return self.deadline(deadline),
            (Key::TotalDelay, KeyValue::Duration(limit)) => return self.total_delay(limit),
            (Key::Enabled, KeyValue::Bool(enabled)) => return self.enabled(enabled),
            _ => return self,
        };
        let kind = SECTIONS.iter().find(|known| known.0 == at.section);
        self.with(kind.and_then(|known| known.1), section)
    }

    /// The value of a key as printed: for the policy itself the one in force, for a section the one set.
    fn get(&self, at: At, named: Section) -> Option<KeyValue> {
        Some(match at.key {
            Key::Max => KeyValue::Count(named.max?),
            Key::Backoff => KeyValue::Backoff(named.backoff?),
            Key::Base => KeyValue::Duration(named.base?),
            Key::Factor => KeyValue::Factor(named.factor?),
            Key::Cap => KeyValue::Duration(named.cap?),
            Key::Jitter => KeyValue::Jitter(named.jitter?),
            Key::Floor => KeyValue::Duration(self.floor.filter(|floor| !floor.is_zero())?),
            Key::Hint => KeyValue::Hint(self.hint),
            Key::MaxHint => KeyValue::Duration(self.longest_hint()?),
            Key::Timeout => KeyValue::Duration(self.attempt_limit()?),
            Key::Deadline => KeyValue::Duration(self.time_limit()?),
            Key::TotalDelay => KeyValue::Duration(self.delay_limit()?),
            Key::Enabled if !self.enabled => KeyValue::Bool(false),
            _ => return None,
        })
    }

    /// Checks the values for a kind, or the policy's own, after the layer `last`.
    fn check(
        &self,
        section: Option<Key>,
        kind: Option<Kind>,
        last: &Overrides,
    ) -> Result<(), PolicyError> {
        let is_list = self
            .named(None)
            .overridden_by(self.named(kind))
            .names_list();
        for at in [Key::Base, Key::Factor].map(|key| At { section, key }) {
            if is_list && last.named.contains_key(&at) {
                let complaint = complaint::no_effect(&at, complaint::BESIDE_LIST);
                return Err(PolicyError::new(complaint));
            }
        }
        let fault = self.disorder(section, kind);
        fault.map_or(Ok(()), |fault| Err(fault.into()))
    }
}

impl Overrides {
    /// A layer that sets nothing.
    pub const fn new() -> Self {
        Self {
            named: BTreeMap::new(),
        }
    }

    /// Checks the combination of the layer's own keys, regardless of what it overrides.
    pub(crate) fn check(&self) -> Result<(), PolicyError> {
        let any = Policy::new().base(Duration::ZERO).cap(duration::LONGEST);
        any.overridden_by(self).map(drop)
    }

    /// Returns this layer, overridden key by key with a later one, including sections.
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
    pub fn overridden_by(mut self, later: &Self) -> Self {
        for (at, value) in &later.named {
            if let KeyValue::Backoff(Backoff::List(_)) = value {
                // If `later` sets these keys, they come after its `backoff`.
                for key in [Key::Base, Key::Factor] {
                    self.named.remove(&At { key, ..*at });
                }
            }
            self.named.insert(*at, *value);
        }
        self
    }

    /// All of the policy's values, including defaults.
    pub(crate) fn all_of(policy: &Policy) -> Self {
        let own = policy.named(None);
        let mut kinds = SECTIONS.iter().map(|(_, kind)| *kind);
        let has_list = kinds.any(|kind| policy.named(kind).names_list());
        let mut all = Self::new();
        for (section, kind) in SECTIONS {
            let mut named = policy.named(kind);
            if own.overridden_by(named).names_list() {
                named = named.without_growth();
            }
            if section.is_none() {
                named = Schedule::new(own, None).named();
                // The default is omitted here, because as an explicit value it would clip lists.
                named.cap = own.cap.or(named.cap.filter(|_| !has_list));
            }
            for key in section.map_or(Among::Policy, Among::Section).keys() {
                let at = At { section, key };
                all.named
                    .extend(policy.get(at, named).map(|value| (at, value)));
            }
        }
        all
    }

    /// Returns true if the layer sets the key, outside of sections.
    #[cfg(feature = "std")]
    pub(crate) fn names(&self, key: Key) -> bool {
        self.named.contains_key(&At { section: None, key })
    }

    /// This layer without `enabled = true`, so that it can't turn on retries that others turned off.
    pub(crate) fn without_enabling(mut self) -> Self {
        let on = (Key::Enabled, KeyValue::Bool(true));
        self.named.retain(|at, value| (at.key, *value) != on);
        self
    }

    pub(crate) fn from_entries(entries: Entries) -> Result<Self, PolicyError> {
        let mut named = Self::new();
        named.read_all(None, entries)?;
        Ok(named)
    }

    fn read_all(&mut self, section: Option<Key>, entries: Entries) -> Result<(), PolicyError> {
        let among = section.map_or(Among::Policy, Among::Section);
        let mut keys: Vec<(At, RawValue)> = Vec::new();
        for (name, raw) in entries {
            let Some(key) = among.find(&name) else {
                let complaint = complaint::unknown_key(&short(&name), raw.single(), among);
                return Err(PolicyError::new(complaint));
            };
            let at = At { section, key };
            if keys.iter().any(|(known, _)| *known == at) {
                return Err(PolicyError::new(complaint::given_twice(&at)));
            }
            keys.push((at, raw));
        }
        for (at, raw) in keys {
            match raw {
                _ if !at.key.is_section() => {
                    self.named.insert(at, KeyValue::read(at, &raw)?);
                }
                RawValue::Table(entries) => self.read_all(Some(at.key), entries)?,
                _ => {
                    let given = short(raw.single());
                    let remedy = "is not a section: write its keys, as in";
                    return Err(refused!("`{at} = {given}` {remedy} `{at}(max=5)`"));
                }
            }
        }
        Ok(())
    }

    /// The keys that are set, in the order of texts and tables: the policy's own keys, then the sections.
    pub(crate) fn settings(&self) -> Vec<(Key, Setting)> {
        let mut settings = Vec::new();
        for (at, value) in &self.named {
            match (at.section, settings.last_mut()) {
                (None, _) => settings.push((at.key, Setting::One(*value))),
                (Some(section), Some((last, Setting::Section(keys)))) if *last == section => {
                    keys.push((at.key, Setting::One(*value)));
                }
                (Some(section), _) => {
                    let keys = Vec::from([(at.key, Setting::One(*value))]);
                    settings.push((section, Setting::Section(keys)));
                }
            }
        }
        settings
    }
}

impl PartialEq for Policy {
    fn eq(&self, other: &Self) -> bool {
        Overrides::all_of(self) == Overrides::all_of(other)
    }
}
