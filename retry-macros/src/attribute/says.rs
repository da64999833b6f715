//! Which keys are void where `on` returns less than a `Verdict`.

use retry_vocabulary::key::Key;

use crate::attribute::argument::{Arguments, Value};

/// Keys that need `on` to say something, and the keys that say it as well.
const NEEDS: [(Key, Option<Key>); 6] = [
    (Key::Idempotent, None),
    (Key::Throttled, None),
    (Key::TimedOut, Some(Key::Timeout)),
    (Key::Invalid, Some(Key::Validate)),
    (Key::Hint, None),
    (Key::MaxHint, None),
];

impl Arguments {
    /// The keys that the type of what `on` returns must serve. What a block says for all its members may be void for one
    /// that has an `on` of its own, except for `idempotent`, whose silence would repeat what must not be repeated.
    pub(crate) fn what_on_must_say(&self) -> impl Iterator<Item = Key> {
        let is_of_block = |key| self.of_block.contains(&key);
        let is_of_other = move |key| is_of_block(key) && !is_of_block(Key::On);
        NEEDS.into_iter().filter_map(move |(key, other)| {
            let argument = self.get(key)?;
            let is_served = matches!(argument.value, Value::Bool(true))
                || other.is_some_and(|other| self.get(other).is_some())
                || key != Key::Idempotent && is_of_other(key);
            (!is_served).then_some(key)
        })
    }
}
