//! The arguments of one attribute.

use std::time::Duration;

use proc_macro2::{Ident, Span, TokenStream};
use retry_vocabulary::key::Key;
use retry_vocabulary::word::{Backoff, Hint, Jitter};
use retry_vocabulary::words;
use syn::{Expr, Path, TypeParam};

use crate::as_variant::as_variant;
use crate::errors::Errors;
use crate::tokens::{code, runtime};

/// A list of keys.
macro_rules! keys {
    ($($key:ident)*) => {
        [$(retry_vocabulary::key::Key::$key),*]
    };
}

pub(crate) use keys;

/// The arguments of one attribute, and the errors in them.
#[derive(Clone, Default)]
pub(crate) struct Arguments {
    pub(crate) given: Vec<Argument>,
    /// For a member: the keys that only its block sets.
    pub(crate) from_block: Vec<Key>,
    pub(crate) errors: Errors,
}

/// `key = value` or `key(value)`.
#[derive(Clone)]
pub(crate) struct Argument {
    pub(crate) key: Key,
    /// The key as written.
    pub(crate) ident: Ident,
    pub(crate) value: KeyValue,
    /// The span of the value.
    pub(crate) span: Span,
}

/// A value. Literals have already been checked.
#[derive(Clone)]
pub(crate) enum KeyValue {
    /// A number of retries; `u32::MAX` is unlimited.
    Count(u32),
    Factor(f64),
    Duration(Duration),
    Backoff(Backoff),
    /// A list of delays.
    List(Vec<Duration>),
    /// A function that computes the delays. It is not part of a policy, because it is called at each failure.
    Delays(Expr),
    Jitter(Jitter),
    /// A jitter ratio that shortens or lengthens a delay.
    Ratio(f64),
    /// A jitter ratio that only lengthens a delay.
    Added(f64),
    Hint(Hint),
    Stream(Mode),
    Text(String),
    Bool(bool),
    Expr(Expr),
    /// A key without a value: the function's own budget, the policy's timeout, or a method's own body.
    NoValue,
    Name(Ident),
    Names(Vec<Ident>),
    /// A name, and its type parameter if there is one.
    Wrapper(Ident, Option<Box<TypeParam>>),
    Path(TokenStream),
    Paths(Vec<Path>),
    Section(Vec<Argument>),
}

words! {
    /// The retry mode of a returned stream.
    pub(crate) Mode {
        First = "first",
        Buffer = "buffer",
        Resume = "resume",
    }
}

/// Keys that don't work with every return type of `on`, unless the second key is set.
const ON_REQUIREMENTS: [(Key, Option<Key>); 6] = [
    (Key::Idempotent, None),
    (Key::Throttled, None),
    (Key::TimedOut, Some(Key::Timeout)),
    (Key::Invalid, Some(Key::Validate)),
    (Key::Hint, None),
    (Key::MaxHint, None),
];

/// Keys whose functions can use the attempt.
pub(crate) const ATTEMPT_KEYS: [Key; 6] = keys![On Policy Validate Correct BeforePause BeforeRetry];

impl Arguments {
    pub(crate) fn get(&self, key: Key) -> Option<&Argument> {
        find(&self.given, key)
    }

    /// The argument of the first of these keys that is set.
    pub(crate) fn first(&self, keys: &[Key]) -> Option<&Argument> {
        keys.iter().find_map(|key| self.get(*key))
    }

    /// True if any of the keys is set.
    pub(crate) fn has(&self, keys: &[Key]) -> bool {
        self.first(keys).is_some()
    }

    /// True if a key is `false`.
    pub(crate) fn is_off(&self, key: Key) -> bool {
        matches!(self.value(key), Some(KeyValue::Bool(false)))
    }

    /// The path to the runtime crate.
    pub(crate) fn krate(&self) -> TokenStream {
        runtime(as_variant!(self.value(Key::Crate), Some(KeyValue::Path(path)) => path.clone()))
    }

    /// Removes and returns an argument.
    pub(crate) fn take(&mut self, key: Key) -> Option<Argument> {
        let index = self.given.iter().position(|argument| argument.key == key)?;
        Some(self.given.remove(index))
    }

    pub(crate) fn value(&self, key: Key) -> Option<&KeyValue> {
        self.get(key).map(|argument| &argument.value)
    }

    /// The keys that the return type of `on` must support. A block's keys may have no effect for a member with its own
    /// `on`, except for `idempotent`: ignoring that would repeat requests that must not be repeated.
    pub(crate) fn requirements_of_on(&self) -> impl Iterator<Item = Key> {
        let is_of_block = |key| self.from_block.contains(&key);
        let is_of_other = move |key| is_of_block(key) && !is_of_block(Key::On);
        ON_REQUIREMENTS.into_iter().filter_map(move |(key, other)| {
            let argument = self.get(key)?;
            let is_served = matches!(argument.value, KeyValue::Bool(true))
                || other.is_some_and(|other| self.get(other).is_some())
                || key != Key::Idempotent && is_of_other(key);
            (!is_served).then_some(key)
        })
    }

    /// A block's arguments, as defaults for a member with the arguments `own`. The member's `max` also overrides the
    /// `max` of sections, except of `rejected`, because rejections are not attempts.
    pub(crate) fn defaults_for(&self, own: &Self) -> Self {
        let mut block = self.clone();
        if own.get(Key::Max).is_some() {
            block
                .given
                .retain_mut(|argument| match &mut argument.value {
                    KeyValue::Section(inner) if argument.key != Key::Rejected => {
                        inner.retain(|argument| argument.key != Key::Max);
                        !inner.is_empty()
                    }
                    _ => true,
                });
        }
        block
    }

    /// The arguments in force for one of the block's members. The member's keys override the block's, also within
    /// sections.
    pub(crate) fn for_member(&self, own: Self, member: &Ident) -> Self {
        let mut merged = Self::default();
        for mut argument in self.defaults_for(&own).given {
            if own.given.iter().any(|own| own.replaces(argument.key)) {
                continue;
            }
            if argument.key == Key::Name {
                argument.append_name(member);
            }
            merged.from_block.push(argument.key);
            merged.given.push(argument);
        }
        for argument in own.given {
            merged.from_block.retain(|key| *key != argument.key);
            let mut below = merged.given.iter_mut();
            match below.find(|below| below.key == argument.key) {
                Some(below) => below.merge(argument),
                None => merged.given.push(argument),
            }
        }
        merged
    }
}

impl Argument {
    /// True for a section: settings for one kind of failure.
    pub(crate) fn is_section(&self) -> bool {
        matches!(self.value, KeyValue::Section(_))
    }

    /// True for a section that has its own `backoff`.
    pub(crate) fn has_backoff(&self) -> bool {
        find(self.value.section(), Key::Backoff).is_some()
    }

    /// True if this argument of a member replaces the block's argument for `key`.
    fn replaces(&self, key: Key) -> bool {
        match self.key {
            Key::Policy => key == Key::Policy || key.is_within_policy(),
            Key::GiveUp | Key::Fallback => matches!(key, Key::GiveUp | Key::Fallback),
            Key::Cancel | Key::Abort => matches!(key, Key::Cancel | Key::Abort),
            Key::Hint => matches!(key, Key::Hint | Key::MaxHint),
            _ => key == self.key && !key.is_section(),
        }
    }

    /// Overrides this section's arguments with those of another section.
    fn merge(&mut self, section: Self) {
        if let (KeyValue::Section(below), KeyValue::Section(above)) =
            (&mut self.value, section.value)
        {
            below.retain(|argument| !above.iter().any(|above| above.key == argument.key));
            below.extend(above);
        }
    }

    /// Appends a member's name to the block's `name`.
    fn append_name(&mut self, member: &Ident) {
        let member = format!(".{}", member.to_string().trim_start_matches("r#"));
        match &mut self.value {
            KeyValue::Text(name) => name.push_str(&member),
            KeyValue::Expr(name) => {
                let name_of_member =
                    code!([::core::convert::AsRef::<str>::as_ref(&(#name)), #member].concat());
                *name = Expr::Verbatim(name_of_member);
            }
            _ => {}
        }
    }
}

pub(crate) fn find(given: &[Argument], key: Key) -> Option<&Argument> {
    given.iter().find(|argument| argument.key == key)
}

impl KeyValue {
    /// True if the value is known at compile time.
    pub(crate) fn is_literal(&self) -> bool {
        let mut inner = self.section().iter();
        !matches!(self, Self::Expr(_)) && inner.all(|argument| argument.value.is_literal())
    }

    /// The arguments of a section, empty for any other value.
    pub(crate) fn section(&self) -> &[Argument] {
        as_variant!(self, Self::Section(inner) => inner.as_slice()).unwrap_or_default()
    }

    pub(crate) fn is_no_backoff(&self) -> bool {
        matches!(self, Self::Backoff(Backoff::None))
    }

    pub(crate) fn is_closure(&self) -> bool {
        matches!(self, Self::Expr(Expr::Closure(_)))
    }
}
