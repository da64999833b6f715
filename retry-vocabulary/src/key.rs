//! The keys of the attribute. A table has one row for each key, with its name, type and documentation.

use alloc::vec::Vec;
use core::fmt;
use core::time::Duration;

use crate::default;
use crate::word::{self, Word};

/// The kind of value that a key takes. Texts in variants complete the sentence "it takes …".
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ValueType {
    /// A number of retries.
    Count,
    /// A factor by which delays grow.
    Factor,
    /// A number of equal errors.
    Repeats,
    /// A share above zero.
    Share,
    /// A number of attempts, at least one.
    Attempts,
    /// A duration.
    Duration,
    /// A duration of at most `cap`. The field is the key's default.
    UpToCap(Duration),
    /// A duration above zero.
    DurationAboveZero,
    /// A word, or a list of durations.
    Backoff,
    /// A word, or a ratio.
    Jitter,
    /// A word for the handling of hints.
    Hint,
    /// A word, not an expression, because it determines the generated code. The default is the first word.
    Stream,
    /// `true` or `false`.
    Bool,
    /// A string.
    Text,
    /// Any expression except a literal.
    Expr(&'static str),
    /// An identifier.
    Name(&'static str),
    /// Identifiers in parentheses, or a single one.
    Names(&'static str),
    /// A name, optionally with a type parameter.
    Wrapper(&'static str),
    /// A path.
    Path,
    /// Paths in brackets.
    Paths,
    /// Nothing: the key has no value.
    Nothing,
    /// A section's keys, in parentheses.
    Section,
}

impl ValueType {
    /// True if the value is a duration.
    pub(crate) const fn is_duration(self) -> bool {
        matches!(
            self,
            Self::Duration | Self::UpToCap(_) | Self::DurationAboveZero
        )
    }

    /// The words that a policy's key takes.
    pub fn words(self) -> Vec<&'static str> {
        match self {
            Self::Count => Vec::from(["unlimited"]),
            Self::Backoff => word::Backoff::words(),
            Self::Jitter => word::Jitter::words(),
            Self::Hint => word::Hint::words(),
            _ => Vec::new(),
        }
    }

    /// The alternatives to a word, for messages.
    pub const fn other_values(self) -> &'static str {
        match self {
            Self::Backoff => r#"; or a list of delays, as in ["1s", "5s", "30s"]"#,
            Self::Jitter => "; or a ratio from 0 to 1",
            _ => "",
        }
    }
}

/// The owner of a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Owner {
    /// A policy and its sections, which both have a setter.
    Schedule,
    /// Only a policy, which has a setter.
    Policy,
    /// A call, regardless of its policy.
    Call,
    /// A trait.
    Trait,
    /// A method in a copy of another crate's trait.
    TraitCopy,
    /// A breaker or a limiter, in this key's section.
    Protection(Key),
}

struct Row {
    name: &'static str,
    owner: Owner,
    value_type: ValueType,
    example: &'static str,
    /// Other libraries' names for the key: with a `+` if they also count the first attempt, with a `!` if the name has
    /// the opposite meaning, with a `=` if the name is a value of this key.
    foreign_names: &'static [&'static str],
    description: &'static str,
}

/// The difference between another library's key and this one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ForeignName {
    SameMeaning,
    CountsFirstAttempt,
    Opposite,
    IsValue,
}

macro_rules! keys {
    ($($key:ident: $name:literal, $owner:expr, $takes:expr, $example:literal, $elsewhere:expr $(, $about:literal)?;)*) => {
        /// A key of the attribute. Keys are ordered as they are printed.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub enum Key {
            $(
                #[doc = concat!("`", $name, "`")]
                $key,
            )*
        }

        const KEYS: &[Key] = &[$(Key::$key,)*];

        const ROWS: &[Row] = {
            use Owner::*;
            use ValueType::*;
            &[$(Row {
                name: $name,
                owner: $owner,
                value_type: $takes,
                example: $example,
                foreign_names: &$elsewhere,
                description: concat!($($about)?),
            },)*]
        };
    };
}

keys! {
    Max: "max", Schedule, Count, "max = 5",
        ["+attempts", "backoff_limit", "count", "+max_attempts", "max_retries", "max_retry_attempts", "max_times", "+max_tries", "num_retries", "retries", "retry_limit", "stop", "times", "+total_attempts", "+tries", "=unlimited"],
        "Retries after the first attempt: a number, or `unlimited`";
    Backoff: "backoff", Schedule, Backoff, r#"backoff = "exp""#, ["backoff_type", "strategy"],
        "Shape of the delays: `exp`, `fixed`, `linear`, `fibonacci`, `none`, or a list of delays; the last one repeats";
    Base: "base", Schedule, UpToCap(default::BASE), r#"base = "250ms""#,
        ["base_delay", "base_interval", "delay", "initial", "initial_backoff", "initial_delay", "initial_interval", "interval", "min_backoff", "min_delay", "min_wait", "wait", "wait_duration"],
        "First delay";
    Factor: "factor", Schedule, Factor, "factor = 2", ["backoff_factor", "backoff_multiplier", "exp_base", "exponent", "exponential_backoff_multiplier", "multiplier"],
        "Growth of the delays of `exp`, at least 1";
    Cap: "cap", Schedule, Duration, r#"cap = "30s""#, ["exponential_max_wait_duration", "max_backoff", "max_delay", "max_interval", "max_wait"],
        "Longest delay, jitter included";
    Floor: "floor", Policy, UpToCap(default::FLOOR), r#"floor = "100ms""#, ["min_backoff", "min_delay", "min_wait"],
        "Shortest delay, jitter included";
    Jitter: "jitter", Schedule, Jitter, r#"jitter = "full""#, ["jitter_factor", "random", "randomization_factor", "randomized_wait_factor", "use_jitter"],
        "Randomness of the delays: `full`, `equal`, `decorrelated`, `none`, or a ratio from 0 to 1, where 0.2 is ±20 % and +0.2 is up to 20 % more";
    On: "on", Call, Expr("a function: a path or a closure"), "on = is_retryable",
        ["condition", "errors", "exclude", "include", "predicate", "retry_for", "retry_if", "retry_on", "retryable", "should_retry", "value", "when"];
    Until: "until", Call, Expr("a function: a path or a closure"), "until = |value| !value.is_empty()", [];
    Hint: "hint", Policy, Hint, r#"hint = "honor""#, ["respect_retry_after"],
        "Handling of a server's hint, such as `Retry-After`: `honor` waits at least as long as the hint, `exact` exactly as long, `clamp` at most `max_hint` (without it, 5s more than the policy's delay), `ignore` disregards the hint";
    MaxHint: "max_hint", Policy, Duration, r#"max_hint = "2m""#, [],
        "Longest hint: a longer one ends the call, or is shortened by `clamp`";
    Timeout: "timeout", Policy, DurationAboveZero, r#"timeout = "60s""#,
        ["attempt_timeout", "per_attempt_timeout", "per_try_timeout", "request_timeout"],
        "Time limit for each attempt";
    Deadline: "deadline", Policy, DurationAboveZero, r#"deadline = "2m""#,
        ["max_duration", "max_elapsed", "max_elapsed_time", "max_time"],
        "Time limit for the whole call: a retry that would start later is not made";
    TotalTimeout: "total_timeout", Policy, DurationAboveZero, r#"total_timeout = "2m""#,
        ["call_timeout", "operation_timeout", "overall_timeout"],
        "Time limit for the whole call, at which a running attempt is dropped";
    TotalDelay: "total_delay", Policy, DurationAboveZero, r#"total_delay = "1m""#, ["max_sleep", "max_total_delay"],
        "Limit for all pauses together";
    Enabled: "enabled", Policy, Bool, "enabled = false", ["active", "!disable", "!disabled", "retry_enabled"],
        "Turns retries on or off: `true` or `false`";
    Idempotent: "idempotent", Call, Bool, "idempotent = false", ["!non_idempotent", "!nonidempotent", "!not_idempotent"];
    Transient: "transient", Policy, Section, "transient(max = 10)", ["server_error"],
        "Settings for transient failures";
    Throttled: "throttled", Policy, Section, "throttled(max = 10)", ["rate_limited"],
        "Settings for requests that the server throttled";
    TimedOut: "timed_out", Policy, Section, "timed_out(max = 1)", [],
        "Settings for timeouts";
    Invalid: "invalid", Policy, Section, "invalid(max = 2)", [],
        "Settings for values that failed validation";
    Rejected: "rejected", Policy, Section, "rejected(max = 20)", [],
        "Settings for attempts that a breaker or a limiter rejects; without them, such attempts are not retried";
    Attempt: "attempt", Call, Name("the name that the body uses"), "attempt = attempt", [];
    Clone: "clone", Call, Names("the names of arguments"), "clone(request)", [];
    Validate: "validate", Call, Expr("a function: a path or a closure"), "validate = |value| …", [];
    Correct: "correct", Call, Expr("a function: a path or a closure"), "correct = async |value, error| …", [];
    BeforePause: "before_pause", Call, Expr("a function: a path or a closure"), "before_pause = async |error, next| …", [];
    BeforeRetry: "before_retry", Call, Expr("a function: a path or a closure"), "before_retry = async |error, next| …", [];
    GiveUp: "give_up", Call, Expr("a function: a path or a closure"), "give_up = |gave_up| gave_up.into_error()", [];
    Fallback: "fallback", Call, Expr("a function: a path or a closure"), "fallback = async |gave_up| …", ["recover"];
    Repeats: "repeats", Call, Repeats, "repeats = 2", [];
    Budget: "budget", Call, Expr("a `RetryBudget`"), "budget = &self.turns", [];
    Breaker: "breaker", Call, Expr("a circuit breaker"), "breaker = &BREAKER", ["circuit_breaker"];
    Limiter: "limiter", Call, Expr("a limiter"), "limiter = &LIMITER", ["bulkhead", "concurrency", "rate", "rate_limit", "rate_limiter"];
    Hedge: "hedge", Call, DurationAboveZero, r#"hedge = "200ms""#, ["hedge_after", "hedging", "hedging_delay"];
    Cancel: "cancel", Call, Expr("a future of `()` (on a blocking function a flag or a function)"),
        "cancel = token.cancelled()", ["cancellation", "shutdown", "signal", "stop", "token"];
    Abort: "abort", Call, Expr("a future of `()`"), "abort = token.cancelled()", [];
    Observe: "observe", Call, Expr("an `Observer` or a closure"), "observe = |event| …", ["before_sleep", "callback", "notify", "on_retry"];
    Show: "show", Call, Expr("a function: a path or a closure"), "show = |error, f| write!(f, …)", ["display", "format"];
    Span: "span", Call, Bool, "span = true", ["instrument", "spans", "trace"];
    Policy: "policy", Call, Expr("a `Policy`, or a closure from the error to one"), "policy = self.policy", [];
    Name: "name", Call, Text, r#"name = "model.complete""#, [];
    Timer: "timer", Call, Expr("a `Timer`, or a function from `Duration` to a future"),
        "timer = smol::Timer::after", ["sleep", "sleeper"];
    Stream: "stream", Call, Stream, r#"stream = "first""#, [];
    First: "first", Call, Expr("a function: a path or a closure"), "first = |item| item.is_text()", [];
    IdleTimeout: "idle_timeout", Call, DurationAboveZero, r#"idle_timeout = "30s""#, ["item_timeout", "read_timeout", "stream_idle_timeout"];
    Crate: "crate", Call, Path, "crate = my_reexports::retry_runtime", [];
    Wrapper: "wrapper", Trait, Wrapper("a name"), "wrapper = Retrying", [];
    Of: "of", Trait, Path, "of = other_crate::Model", [];
    Forward: "forward", Trait, Paths, "forward = [Box, Arc]", [];
    Body: "body", TraitCopy, Nothing, "#[retry(body)]", [];
    Ratio: "ratio", Protection(Key::Breaker), Share, "ratio = 0.8", [],
        "the share of failed attempts that opens the breaker";
    OpenFor: "open_for", Protection(Key::Breaker), DurationAboveZero, r#"open_for = "10s""#, [],
        "the time for which the breaker stays open; at least 1 ms";
    Least: "least", Protection(Key::Limiter), Attempts, "least = 1", [],
        "the lower bound of concurrent attempts";
    Most: "most", Protection(Key::Limiter), Attempts, "most = 5", [],
        "the upper bound of concurrent attempts";
}

/// The keys that are allowed in one place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyScope {
    /// All keys of the attribute.
    Attribute,
    /// The keys of a policy.
    Policy,
    /// The keys of an entry in a file of policies: a policy's keys, and the sections of protections.
    Entry,
    /// The keys in this key's parentheses.
    Section(Key),
}

impl KeyScope {
    /// The keys, in the order in which they are printed.
    pub fn keys(self) -> impl Iterator<Item = Key> {
        KEYS.iter().copied().filter(move |key| match self {
            Self::Attribute => !matches!(key.owner(), Owner::Protection(_)),
            Self::Policy => key.is_of_policy(),
            Self::Entry => key.is_of_policy() || key.is_protection(),
            Self::Section(section) if section.is_protection() => {
                key.owner() == Owner::Protection(section)
            }
            Self::Section(_) => key.owner() == Owner::Schedule,
        })
    }

    /// The key with this name.
    pub fn find(self, name: &str) -> Option<Key> {
        self.keys().find(|key| key.name() == name)
    }
}

impl Key {
    const fn row(self) -> &'static Row {
        &ROWS[self as usize]
    }

    /// The key as users write it.
    pub const fn name(self) -> &'static str {
        self.row().name
    }

    /// The owner of the key.
    pub const fn owner(self) -> Owner {
        self.row().owner
    }

    /// The kind of value that the key takes.
    pub const fn value_type(self) -> ValueType {
        self.row().value_type
    }

    /// An example of the key with a value, for messages.
    pub const fn example(self) -> &'static str {
        self.row().example
    }

    /// A one-sentence description without the default, for command-line help and schemas. Empty for keys that are not
    /// in text or files.
    pub const fn description(self) -> &'static str {
        self.row().description
    }

    /// True if other libraries use this name for the key.
    pub fn is_foreign_name(self, name: &str) -> bool {
        self.foreign_name(name).is_some()
    }

    pub(crate) fn foreign_name(self, name: &str) -> Option<ForeignName> {
        self.row().foreign_names.iter().find_map(|known| {
            let (alike, difference) = match known.as_bytes()[0] {
                b'+' => (&known[1..], ForeignName::CountsFirstAttempt),
                b'!' => (&known[1..], ForeignName::Opposite),
                b'=' => (&known[1..], ForeignName::IsValue),
                _ => (*known, ForeignName::SameMeaning),
            };
            (alike == name).then_some(difference)
        })
    }

    /// True if a policy has the key.
    pub const fn is_of_policy(self) -> bool {
        matches!(self.owner(), Owner::Schedule | Owner::Policy)
    }

    /// True if the key can't be combined with a policy, because a policy contains it. `enabled` can be combined,
    /// because both must be true, and so can `timeout`, because a call without the key has no timeout.
    pub const fn is_within_policy(self) -> bool {
        self.is_of_policy() && !matches!(self, Self::Enabled | Self::Timeout)
    }

    /// True if the key takes keys in parentheses.
    pub const fn is_section(self) -> bool {
        matches!(self.value_type(), ValueType::Section)
    }

    /// True if an entry in a file of policies can contain the key's settings, in parentheses.
    const fn is_protection(self) -> bool {
        matches!(self, Self::Breaker | Self::Limiter)
    }
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A key with its section, as messages show it: `throttled.base`. A policy's own keys are ordered before its sections'
/// keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct KeyPath {
    /// The section that contains the key, if any.
    pub section: Option<Key>,
    /// The key itself.
    pub key: Key,
}

impl fmt::Display for KeyPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(section) = self.section {
            write!(f, "{section}.")?;
        }
        self.key.fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    #[test]
    fn every_key_of_a_policy_has_a_meaning() {
        for key in KeyScope::Attribute.keys() {
            assert_eq!(key.description().is_empty(), !key.is_of_policy(), "{key}");
        }
    }

    #[test]
    fn every_word_is_named() {
        for key in KeyScope::Policy.keys() {
            for word in key.value_type().words() {
                assert!(
                    key.description().contains(&format!("`{word}`")),
                    "{key}: {word}"
                );
            }
        }
    }
}
