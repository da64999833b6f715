//! The values of keys, as set by setters, texts and tables.

use alloc::vec::Vec;
use core::time::Duration;

use retry_vocabulary::key::{Key, KeyPath, KeyScope};
use retry_vocabulary::messages;

use crate::policy::{Entries, Hint, KeyValue, PolicyError, RawValue, Section, short};
use retry_classify::Kind;

/// A struct with an optional value for each key in a set of keys.
pub(crate) trait Settings: Default {
    fn get(&self, key: Key) -> Option<KeyValue>;

    /// Sets the value. Does nothing if the struct doesn't have this key.
    fn set(&mut self, key: Key, value: KeyValue);

    /// The values that are set, in the order in which they are printed.
    fn values(&self) -> impl Iterator<Item = (&'static str, KeyValue)> {
        let keys = KeyScope::Policy.keys();
        keys.filter_map(|key| Some((key.name(), self.get(key)?)))
    }

    /// Reads the keys in the parentheses of `section`.
    fn read(section: Key, entries: Entries) -> Result<Self, PolicyError> {
        let mut settings = Self::default();
        for (at, raw) in known_keys(KeyScope::Section(section), entries)? {
            settings.set(at.key, KeyValue::read(at, raw)?);
        }
        Ok(settings)
    }
}

/// Looks up the keys of the entries. Each key may occur once.
pub(crate) fn known_keys(
    scope: KeyScope,
    entries: Entries,
) -> Result<Vec<(KeyPath, RawValue)>, PolicyError> {
    let section = match scope {
        KeyScope::Section(section) => Some(section),
        _ => None,
    };
    let mut known: Vec<(KeyPath, RawValue)> = Vec::new();
    for (name, raw) in entries {
        let Some(key) = scope.find(&name) else {
            let message = messages::unknown_key(&short(&name), raw.as_text(), scope);
            return Err(PolicyError::new(message));
        };
        let at = KeyPath { section, key };
        if known.iter().any(|(other, _)| *other == at) {
            return Err(PolicyError::new(messages::given_twice(&at)));
        }
        known.push((at, raw));
    }
    Ok(known)
}

/// Defines a struct of settings: each key with its field and the type of its values.
macro_rules! settings {
    (
        $(#[$attr:meta])*
        $visible:vis $settings:ident {
            $($(#[$doc:meta])* $field_visible:vis $key:ident $field:ident: $variant:ident($value:ty),)*
        }
    ) => {
        $(#[$attr])*
        #[derive(Clone, Copy, Debug, Default, PartialEq)]
        $visible struct $settings {
            $($(#[$doc])* $field_visible $field: Option<$value>,)*
        }

        impl $settings {
            /// Creates settings without values.
            $visible const fn new() -> Self {
                Self { $($field: None,)* }
            }

            /// These values, and the values of `below` for unset keys.
            pub(crate) const fn or(self, below: Self) -> Self {
                Self { $($field: $crate::policy::settings::or(self.$field, below.$field),)* }
            }
        }

        impl Settings for $settings {
            fn get(&self, key: Key) -> Option<KeyValue> {
                match key {
                    $(Key::$key => self.$field.map(KeyValue::$variant),)*
                    _ => None,
                }
            }

            fn set(&mut self, key: Key, value: KeyValue) {
                match (key, value) {
                    $((Key::$key, KeyValue::$variant(value)) => self.$field = Some(value),)*
                    _ => {}
                }
            }
        }
    };
}
pub(crate) use settings;

/// Defines setters that replace one value.
macro_rules! setters {
    ($($(#[$doc:meta])* $name:ident($value:ident: $type:ty): [$($place:tt)+] = $set:expr;)*) => {$(
        $(#[$doc])*
        pub const fn $name(mut self, $value: $type) -> Self {
            self.$($place)+ = Some($set);
            self
        }
    )*};
}
pub(crate) use setters;

pub(crate) const fn or<T: Copy>(first: Option<T>, second: Option<T>) -> Option<T> {
    if first.is_some() { first } else { second }
}

settings! {
    /// The values of keys that a policy has, but its sections don't.
    pub(crate) CallSettings {
        pub(crate) Floor floor: Duration(Duration),
        pub(crate) Hint hint: Hint(Hint),
        pub(crate) MaxHint max_hint: Duration(Duration),
        pub(crate) Timeout timeout: Duration(Duration),
        pub(crate) Deadline deadline: Duration(Duration),
        pub(crate) TotalTimeout total_timeout: Duration(Duration),
        pub(crate) TotalDelay total_delay: Duration(Duration),
        pub(crate) Enabled enabled: Bool(bool),
    }
}

/// The policy itself, and then its sections with their kinds of failure.
pub(crate) const SECTIONS: [(Option<Key>, Option<Kind>); 1 + Kind::ALL.len()] = [
    (None, None),
    (Some(Key::Transient), Some(Kind::Transient)),
    (Some(Key::Throttled), Some(Kind::Throttled)),
    (Some(Key::TimedOut), Some(Kind::Timeout)),
    (Some(Key::Invalid), Some(Kind::Invalid)),
    (Some(Key::Rejected), Some(Kind::Rejected)),
];

/// The index of a kind in [`SECTIONS`].
pub(crate) const fn row(kind: Option<Kind>) -> usize {
    match kind {
        Some(kind) => 1 + kind as usize,
        None => 0,
    }
}

/// The values of all keys of a policy.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct PolicySettings {
    /// In the order of [`SECTIONS`].
    pub(crate) sections: [Section; SECTIONS.len()],
    pub(crate) call: CallSettings,
}

impl PolicySettings {
    pub(crate) const fn new() -> Self {
        Self {
            sections: [Section::new(); SECTIONS.len()],
            call: CallSettings::new(),
        }
    }

    /// These settings with the values of `later` in place of their own, key by key, including sections. A list removes
    /// an earlier `base` and `factor`, even from sections that inherit the list.
    pub(crate) fn overridden_by(mut self, later: &Self) -> Self {
        let is_list = later.sections[0].has_list();
        for (section, later) in self.sections.iter_mut().zip(later.sections) {
            if is_list && section.backoff.or(later.backoff).is_none() {
                *section = section.without_growth();
            }
            *section = section.overridden_by(later);
        }
        self.call = later.call.or(self.call);
        self
    }
}

impl Settings for PolicySettings {
    fn get(&self, key: Key) -> Option<KeyValue> {
        match section_row(key) {
            Some(row) => {
                let section = Some(self.sections[row]).filter(|section| *section != Section::new());
                section.map(KeyValue::Section)
            }
            None => self.sections[0].get(key).or_else(|| self.call.get(key)),
        }
    }

    fn set(&mut self, key: Key, value: KeyValue) {
        match (section_row(key), value) {
            (Some(row), KeyValue::Section(section)) => self.sections[row] = section,
            _ => {
                self.sections[0].set(key, value);
                self.call.set(key, value);
            }
        }
    }
}

fn section_row(key: Key) -> Option<usize> {
    SECTIONS
        .iter()
        .position(|(section, _)| *section == Some(key))
}
