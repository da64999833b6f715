use alloc::string::String;
use alloc::vec::Vec;
use core::sync::atomic::{AtomicBool, Ordering};

use retry_vocabulary::key::{Key, KeyScope};
use retry_vocabulary::messages;

use crate::name::begins_with;
#[cfg(feature = "std")]
use crate::policy::Settings;
use crate::policy::text::readable;
use crate::policy::value::not_table;
use crate::policy::{
    BreakerSettings, Entries, LimiterSettings, Overrides, Policy, PolicyError, RawValue,
    policy_error, short, with_entry_name,
};

/// The entry for all calls.
const DEFAULT: &str = "default";
/// Marks an entry that only sets defaults for the calls' own policies.
const DEFAULTS_MARK: char = '?';

/// Policies by call name, for example from one file for all clients of a program. The key `policy` accepts them.
///
/// An entry applies to the call with its name, and to calls whose name continues after the entry's name with a `.`, a
/// `::` or another character that can't be part of an identifier. So `anthropic` applies to `anthropic.complete`, but
/// not to `anthropic2`. The entry `default` applies to every call. Entries with longer names override those with
/// shorter ones, key by key. A key that no entry sets keeps the call's own value, or the default.
///
/// An entry with a `?` after its name sets defaults: it applies only to keys that a call doesn't set. With
/// `anthropic?(max=8, throttled(max=10))`, a function with `max = 2` keeps its own value, for throttled requests too.
/// The keys for delays, from `backoff` to `jitter`, count as one: a call that sets any of them, even in a section,
/// keeps its delays.
///
/// ```
/// use std::time::Duration;
/// use retry_runtime::{Policies, Policy, retry};
///
/// struct Client { policies: Policies }
///
/// #[retry(policy = self.policies, name = "anthropic")]
/// impl Client {
///     async fn complete(&self) -> std::io::Result<String> { // `anthropic.complete`
///         Ok(String::from("hello"))
///     }
/// }
///
/// // From a file, with the feature `serde`:
/// //
/// // [retry.default]
/// // max = 2
/// //
/// // [retry.anthropic]
/// // throttled = { max = 10 }
/// let policies = Policies::of([
///     ("default", "max=2".parse()?),
///     ("anthropic", "throttled(max=10)".parse()?),
/// ])?;
/// assert_eq!(policies.find("anthropic.complete"), "max=2, throttled(max=10)".parse()?);
/// assert_eq!(policies.find("redis.get"), Policy::new().max(2));
/// let client = Client { policies };
/// # Ok::<(), retry_runtime::PolicyError>(())
/// ```
///
/// Entries are checked without the calls' own values. If, combined with a call's values, a `base` or `floor` is above
/// the `cap`, it is lowered to the `cap`; with a list of delays, `base` and `factor` are ignored.
///
/// An entry may also contain [`BreakerSettings`], under `breaker`, and [`LimiterSettings`], under `limiter`. The
/// program reads these settings with [`breaker`](Self::breaker) and [`limiter`](Self::limiter), and applies them.
///
/// # The table
///
/// With the feature `serde`, policies can be read from a table that has, for each name, a table of [`Overrides`]. Each
/// of these may also contain the tables `breaker` and `limiter`. A name with a dot or colons needs quotes in TOML:
/// `[retry."anthropic.complete"]`. `enabled = false` next to the entries turns off the retries of every call that uses
/// these policies. `enabled = true` there changes nothing, so an entry's own `enabled = false` still applies.
#[derive(Debug, Default)]
pub struct Policies {
    /// Defaults first, and within each group the shortest names first.
    entries: Vec<Entry>,
    /// Overrides all entries.
    overrides: Overrides,
}

#[derive(Debug)]
struct Entry {
    name: String,
    layer: Overrides,
    /// True once the entry has been used for a call.
    is_found: AtomicBool,
}

impl Policies {
    /// Creates policies without entries: every call keeps its own policy.
    pub const fn new() -> Self {
        Self {
            entries: Vec::new(),
            overrides: Overrides::new(),
        }
    }

    /// Creates policies with the given entries, in any order.
    ///
    /// Fails if two entries have the same name; if a name is empty, ends in `.`, `:` or `*`, or is `enabled` or the
    /// name of a section, such as `throttled`; or if an entry, combined with the entries that it overrides, sets a
    /// `base` or `floor` above its `cap`, or a `base` or `factor` with a list of delays.
    pub fn of<N: Into<String>>(
        entries: impl IntoIterator<Item = (N, Overrides)>,
    ) -> Result<Self, PolicyError> {
        let mut policies = Self::new();
        for (name, layer) in entries {
            policies.add(name.into(), layer)?;
        }
        policies.checked()
    }

    /// Returns these policies, overridden by another source for all entries, such as the environment or the command
    /// line. The source's `enabled = true` only undoes an `enabled = false` of an earlier source for all entries:
    /// retries that an entry or a function turns off stay off.
    ///
    /// ```
    /// use retry_runtime::{Policies, Policy};
    ///
    /// let file = Policies::of([("anthropic", "max=10".parse()?)])?;
    /// let off = file.overridden_by(&"enabled=false".parse()?)?;
    /// assert_eq!(off.find("anthropic.complete").delays().count(), 0);
    /// # Ok::<(), retry_runtime::PolicyError>(())
    /// ```
    pub fn overridden_by(mut self, later: &Overrides) -> Result<Self, PolicyError> {
        self.overrides = self.overrides.overridden_by(later);
        // This layer can't turn on retries that an entry or a function turns off.
        let enabled = &mut self.overrides.policy.call.enabled;
        *enabled = enabled.filter(|is_enabled| !is_enabled);
        self.checked()
    }

    /// Returns the policy for a call with this name that doesn't have its own policy.
    pub fn find(&self, name: &str) -> Policy {
        self.resolve(name, &Policy::new())
    }

    /// Applies the entries to a function's own policy, which keeps the keys that no entry sets.
    ///
    /// ```
    /// use retry_runtime::{Policies, Policy, retry};
    ///
    /// const PATIENT: Policy = Policy::new().max(8);
    ///
    /// #[retry(policy = policies.over(PATIENT), name = "archive.upload")]
    /// async fn upload(policies: &Policies) -> std::io::Result<()> {
    ///     Ok(())
    /// }
    /// ```
    pub const fn over(&self, own: Policy) -> OwnPolicy<'_, Self> {
        let policies = self;
        OwnPolicy { policies, own }
    }

    /// Returns the settings for the breaker of the named calls. As with policies, the longest name wins, key by key.
    /// `Breaker::set` of `retry-protections` applies the settings, and leaves unset ones unchanged.
    ///
    /// ```
    /// use retry_protections::Breaker;
    /// use retry_runtime::{Policies, PolicyError};
    ///
    /// static MODEL: Breaker = Breaker::new();
    ///
    /// fn reload(text: &str) -> Result<(), PolicyError> {
    ///     text.parse::<Policies>()?.install()?;
    ///     MODEL.set(Policies::installed().breaker("model"));
    ///     Ok(())
    /// }
    ///
    /// reload("default(breaker(open_for=10s)), model(max=1, breaker(ratio=0.8))")?;
    /// let error = reload("model(breaker(ratoi=0.8))").unwrap_err();
    /// assert_eq!(
    ///     error.to_string(),
    ///     "in `model`: unknown key `ratoi` in `breaker(…)`: did you mean `ratio`?",
    /// );
    /// # Ok::<(), PolicyError>(())
    /// ```
    pub fn breaker(&self, name: &str) -> BreakerSettings {
        let has_numbers = |entry: &Entry| entry.layer.breaker != BreakerSettings::new();
        let merged = self.merge(|entry| has_numbers(entry) && entry.mark_if_applies(name));
        merged.breaker
    }

    /// Returns the limits for the limiter of the named calls. The longest name wins, key by key.
    /// `ConcurrencyLimiter::set` of `retry-protections` applies the limits.
    pub fn limiter(&self, name: &str) -> LimiterSettings {
        let has_numbers = |entry: &Entry| entry.layer.limiter != LimiterSettings::new();
        let merged = self.merge(|entry| has_numbers(entry) && entry.mark_if_applies(name));
        merged.limiter
    }

    /// The values of the selected entries. Later entries override earlier ones.
    fn merge(&self, counts: impl Fn(&Entry) -> bool) -> Overrides {
        let entries = self.entries.iter().filter(|entry| counts(entry));
        entries.fold(Overrides::new(), |merged, entry| {
            merged.overridden_by(&entry.layer)
        })
    }

    /// Returns the names of the entries that no call has used yet. If the program has run for a while, they are
    /// probably misspelled. A call uses its entries when it starts, or, if the policies are [installed](Self::install),
    /// when an attempt has failed. Newly [stored](crate::SharedPolicy::store) policies count as unused.
    pub fn unused(&self) -> impl Iterator<Item = &str> {
        let entries = self.entries.iter();
        entries
            .filter(|entry| !entry.is_found.load(Ordering::Relaxed))
            .map(|entry| entry.name.as_str())
    }

    /// Checks that every entry applies to at least one of these calls, given by their names. Use it when the program
    /// starts.
    ///
    /// ```
    /// use retry_runtime::Policies;
    ///
    /// let policies = Policies::of([("antropic", "max=2".parse()?)])?;
    /// let error = policies.check_names(&["anthropic.complete", "redis.get"]).unwrap_err();
    /// assert_eq!(
    ///     error.to_string(),
    ///     "no call is named `antropic`: did you mean `anthropic.complete`?",
    /// );
    /// # Ok::<(), retry_runtime::PolicyError>(())
    /// ```
    pub fn check_names(&self, calls: &[&str]) -> Result<(), PolicyError> {
        let mut entries = self.entries.iter();
        match entries.find(|entry| !calls.iter().any(|call| entry.applies_to(call))) {
            Some(Entry { name, .. }) => {
                let (name, remedy) = (short(name), messages::suggestion(name, calls));
                Err(policy_error!("no call is named `{name}`: {remedy}"))
            }
            None => Ok(()),
        }
    }

    /// Rejects keys whose values must be known before the first failure.
    #[cfg(feature = "std")]
    pub(crate) fn check_installable(&self) -> Result<(), PolicyError> {
        use Key::{Deadline, Timeout, TotalDelay, TotalTimeout};

        let entries = self.entries.iter();
        let entries = entries.map(|entry| (&*entry.name, &entry.layer));
        for (name, layer) in entries.chain([(DEFAULT, &self.overrides)]) {
            let mut limits = [Deadline, TotalTimeout, TotalDelay, Timeout].into_iter();
            if let Some(key) = limits.find(|key| layer.policy.get(*key).is_some()) {
                let message = policy_error!(
                    "`{key}` can't be installed, because a function measures the time only if it sets the key itself: \
                     give the function `policy = …`"
                );
                return Err(with_entry_name(name, &message));
            }
        }
        Ok(())
    }

    pub(crate) fn from_entries(entries: Entries) -> Result<Self, PolicyError> {
        let (mut policies, mut switch) = (Self::new(), Entries::new());
        for (name, value) in entries {
            match value {
                value if name == Key::Enabled.name() => switch.push((name, value)),
                RawValue::Table(entries) => {
                    let layer = Overrides::read(KeyScope::Entry, entries)
                        .map_err(|error| with_entry_name(&name, &error))?;
                    policies.add(name, layer)?;
                }
                _ if KeyScope::Policy.find(&name).is_some() => return Err(key_as_name(&name)),
                value => return Err(not_table(&short(&name), &value, KeyScope::Policy)),
            }
        }
        policies.overridden_by(&Overrides::read(KeyScope::Policy, switch)?)
    }

    /// Adds an entry, without checking it in combination with the others.
    fn add(&mut self, name: String, layer: Overrides) -> Result<(), PolicyError> {
        check_name(&name)?;
        if self.entries.iter().any(|entry| entry.name == name) {
            return Err(PolicyError::new(messages::given_twice(&short(&name))));
        }
        let entry = Entry {
            name,
            layer,
            is_found: AtomicBool::new(false),
        };
        // Longer prefixes override shorter ones.
        let order = |entry: &Entry| (!entry.is_default(), entry.prefix().len());
        let below = |other: &Entry| order(other) <= order(&entry);
        let place = self.entries.partition_point(below);
        self.entries.insert(place, entry);
        Ok(())
    }

    /// Checks every entry in combination with the other entries that apply to its calls, and with the layer that
    /// overrides all entries.
    fn checked(self) -> Result<Self, PolicyError> {
        self.overrides.check()?;
        for entry in &self.entries {
            let merged = self.merge(|below| below.applies_to(entry.prefix()));
            let checked = merged.overridden_by(&self.overrides).check();
            checked.map_err(|error| with_entry_name(&entry.name, &error))?;
        }
        Ok(self)
    }
}

/// Checks that a call's name can be `name`, or start with it.
fn check_name(name: &str) -> Result<(), PolicyError> {
    let calls = name.strip_suffix(DEFAULTS_MARK).unwrap_or(name);
    let key = KeyScope::Policy.find(calls);
    if key.is_some_and(|key| key.is_section() || key == Key::Enabled) {
        return Err(key_as_name(calls));
    }
    if calls.is_empty() || calls.ends_with(['.', ':', '*', DEFAULTS_MARK]) {
        let name = short(name);
        return Err(policy_error!(
            "no call is named `{name}`: write the beginning of a name, as in `redis`, or `{DEFAULT}`, for all calls"
        ));
    }
    Ok(())
}

/// The error for a key in place of an entry's name.
fn key_as_name(key: &str) -> PolicyError {
    policy_error!("`{key}` is not the name of a call: write it in `{DEFAULT}`, for all calls")
}

impl Entry {
    /// The start of the names of the calls that the entry applies to.
    fn prefix(&self) -> &str {
        match self.name.strip_suffix(DEFAULTS_MARK).unwrap_or(&self.name) {
            DEFAULT => "",
            name => name,
        }
    }

    /// True if the entry only sets defaults for the calls' own policies.
    fn is_default(&self) -> bool {
        self.name.ends_with(DEFAULTS_MARK)
    }

    fn applies_to(&self, call: &str) -> bool {
        begins_with(call, self.prefix())
    }

    /// Returns true if the entry applies to this call. If so, marks the entry as used.
    fn mark_if_applies(&self, call: &str) -> bool {
        let applies = self.applies_to(call);
        self.is_found.fetch_or(applies, Ordering::Relaxed);
        applies
    }
}

readable! {
    /// Parses entries, each with its keys in parentheses, as in an environment variable. `enabled=false` next to the
    /// entries applies to all of them.
    ///
    /// ```
    /// use retry_runtime::Policies;
    ///
    /// let policies: Policies = "default(max=2), anthropic.complete(throttled(max=10))".parse()?;
    /// assert_eq!(policies.find("redis.get"), "max=2".parse()?);
    /// let off: Policies = "enabled=false".parse()?;
    /// assert_eq!(off.find("redis.get").delays().count(), 0);
    /// # Ok::<(), retry_runtime::PolicyError>(())
    /// ```
    Policies: Self::from_entries, Ok;
}

impl FindPolicy for Policies {
    fn resolve(&self, name: &str, own: &Policy) -> Policy {
        let layer = |is_default| {
            self.merge(|entry| entry.is_default() == is_default && entry.mark_if_applies(name))
        };
        own.with_defaults(&layer(true))
            .with_overrides(&layer(false))
            .with_overrides(&self.overrides)
    }
}

/// A function's own policy, overridden by named policies. Returned by [`Policies::over`].
#[derive(Clone, Copy, Debug)]
pub struct OwnPolicy<'a, P> {
    pub(crate) policies: &'a P,
    pub(crate) own: Policy,
}

/// A source of policies by call name.
pub(crate) trait FindPolicy {
    /// The policy of the named call, whose own policy is `own`.
    fn resolve(&self, name: &str, own: &Policy) -> Policy;
}

impl<P: FindPolicy> FindPolicy for OwnPolicy<'_, P> {
    fn resolve(&self, name: &str, _: &Policy) -> Policy {
        self.policies.resolve(name, &self.own)
    }
}
