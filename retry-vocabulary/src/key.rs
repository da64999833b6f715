//! The keys: one row each says all that reading one takes.

use core::fmt;
use core::time::Duration;

use crate::default;

/// How a key's value is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Takes {
    /// A number of retries.
    Count,
    /// A growth.
    Factor,
    /// A number of equal errors.
    Repeats,
    /// A duration.
    Duration,
    /// A duration of at most `cap`, with its default.
    UpToCap(Duration),
    /// A limit of time.
    DurationAboveZero,
    /// A word, or a list of durations.
    Backoff,
    /// A word, or a ratio.
    Jitter,
    /// A word.
    Hint,
    /// A word that decides what is generated, so no expression; without one, the first.
    Stream,
    /// `true` or `false`.
    Bool,
    /// A string.
    Text,
    /// Any expression but a literal. The text ends "it takes …".
    Expr(&'static str),
    /// An identifier. The text ends "it takes …".
    Name(&'static str),
    /// A name, and what is known of the parameter behind it. The text ends "it takes …".
    Wrapper(&'static str),
    /// A path.
    Path,
    /// Paths in brackets.
    Paths,
    /// Nothing: the key stands alone.
    Nothing,
    /// Keys of its own, in parentheses.
    Section,
}

impl Takes {
    /// What may stand there instead of a word, for messages.
    pub const fn beside_words(self) -> &'static str {
        match self {
            Self::Backoff => r#"; or a list of delays, as in ["1s", "5s", "30s"]"#,
            Self::Jitter => "; or a ratio from 0 to 1",
            _ => "",
        }
    }
}

/// Where a key belongs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// To a policy and to its sections: a setter of both.
    Schedule,
    /// To a policy alone: a setter of it.
    Policy,
    /// To a call, whatever its policy.
    Call,
    /// To a trait.
    Trait,
    /// To a method in a copy of another crate's trait.
    Copied,
}

struct Row {
    name: &'static str,
    place: Place,
    takes: Takes,
    example: &'static str,
    /// What other libraries call it.
    elsewhere: &'static [&'static str],
}

macro_rules! keys {
    ($($key:ident: $name:literal, $place:ident, $takes:expr, $example:literal, $elsewhere:expr;)*) => {
        /// A key of the attribute.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Key {
            $(
                #[doc = concat!("`", $name, "`")]
                $key,
            )*
        }

        const KEYS: &[Key] = &[$(Key::$key,)*];

        const ROWS: &[Row] = {
            use Takes::*;
            &[$(Row {
                name: $name,
                place: Place::$place,
                takes: $takes,
                example: $example,
                elsewhere: &$elsewhere,
            },)*]
        };
    };
}

keys! {
    Max: "max", Schedule, Count, "max = 5",
        ["attempts", "backoff_limit", "count", "max_attempts", "max_retries", "max_retry_attempts", "max_times", "max_tries", "num_retries", "retries", "retry_limit", "times", "total_attempts", "tries"];
    Backoff: "backoff", Schedule, Backoff, r#"backoff = "exp""#, ["backoff_type", "strategy"];
    Base: "base", Schedule, UpToCap(default::BASE), r#"base = "250ms""#,
        ["base_delay", "base_interval", "delay", "initial", "initial_backoff", "initial_delay", "initial_interval", "interval", "min_backoff", "min_delay", "min_wait", "wait", "wait_duration"];
    Factor: "factor", Schedule, Factor, "factor = 2", ["backoff_factor", "backoff_multiplier", "exponent", "exponential_backoff_multiplier", "multiplier"];
    Cap: "cap", Schedule, Duration, r#"cap = "30s""#, ["exponential_max_wait_duration", "max_backoff", "max_delay", "max_interval", "max_wait"];
    Floor: "floor", Policy, UpToCap(default::FLOOR), r#"floor = "100ms""#, ["min_backoff", "min_delay", "min_wait"];
    Jitter: "jitter", Schedule, Jitter, r#"jitter = "full""#, ["jitter_factor", "random", "randomization_factor", "randomized_wait_factor", "use_jitter"];
    On: "on", Call, Expr("a function: a path or a closure"), "on = is_retryable",
        ["condition", "predicate", "retry_if", "retry_on", "retryable", "should_retry", "when"];
    Until: "until", Call, Expr("a function: a path or a closure"), "until = |value| !value.is_empty()", [];
    Hint: "hint", Policy, Hint, r#"hint = "honor""#, [];
    MaxHint: "max_hint", Policy, Duration, r#"max_hint = "2m""#, [];
    Timeout: "timeout", Policy, DurationAboveZero, r#"timeout = "60s""#,
        ["attempt_timeout", "per_attempt_timeout", "per_try_timeout", "request_timeout"];
    Deadline: "deadline", Policy, DurationAboveZero, r#"deadline = "2m""#,
        ["max_duration", "max_elapsed", "max_elapsed_time", "total_timeout"];
    Enabled: "enabled", Policy, Bool, "enabled = false", ["active", "disable", "disabled", "retry_enabled"];
    Idempotent: "idempotent", Call, Bool, "idempotent = false", ["non_idempotent", "nonidempotent", "not_idempotent"];
    Transient: "transient", Policy, Section, "transient(max = 10)", [];
    Throttled: "throttled", Policy, Section, "throttled(max = 10)", [];
    TimedOut: "timed_out", Policy, Section, "timed_out(max = 1)", [];
    Invalid: "invalid", Policy, Section, "invalid(max = 2)", [];
    Attempt: "attempt", Call, Name("the name that the body uses"), "attempt = attempt", [];
    Validate: "validate", Call, Expr("a function: a path or a closure"), "validate = |value| …", [];
    Correct: "correct", Call, Expr("a function: a path or a closure"), "correct = async |value, error| …", [];
    GiveUp: "give_up", Call, Expr("a function: a path or a closure"), "give_up = |gave_up| gave_up.into_error()", [];
    Fallback: "fallback", Call, Expr("a function: a path or a closure"), "fallback = async |gave_up| …", [];
    Repeats: "repeats", Call, Repeats, "repeats = 2", [];
    Budget: "budget", Call, Expr("a `RetryBudget`"), "budget = &self.turns", [];
    Breaker: "breaker", Call, Expr("a `CircuitBreaker`"), "breaker = &BREAKER", ["circuit_breaker"];
    Limiter: "limiter", Call, Expr("a `Limiter`"), "limiter = &LIMITER", ["bulkhead", "rate_limit", "rate_limiter"];
    Hedge: "hedge", Call, DurationAboveZero, r#"hedge = "200ms""#, ["hedge_after", "hedging", "hedging_delay"];
    Cancel: "cancel", Call, Expr("a future of `()` (on a blocking function a flag or a function)"),
        "cancel = token.cancelled()", ["abort", "cancellation", "shutdown", "signal", "stop", "token"];
    Observe: "observe", Call, Expr("an `Observer` or a closure"), "observe = |event| …", ["notify", "on_retry"];
    Span: "span", Call, Bool, "span = true", ["instrument", "spans", "trace"];
    Policy: "policy", Call, Expr("a `Policy`"), "policy = self.policy", [];
    Name: "name", Call, Text, r#"name = "model.complete""#, [];
    Timer: "timer", Call, Expr("a `Timer`, or a function from `Duration` to a future"),
        "timer = smol::Timer::after", ["sleep", "sleeper"];
    Stream: "stream", Call, Stream, r#"stream = "first""#, [];
    Crate: "crate", Call, Path, "crate = my_reexports::retry_runtime", [];
    Wrapper: "wrapper", Trait, Wrapper("a name"), "wrapper = Retrying", [];
    Of: "of", Trait, Path, "of = other_crate::Model", [];
    Forward: "forward", Trait, Paths, "forward = [Box, Arc]", [];
    Body: "body", Copied, Nothing, "#[retry(body)]", [];
}

/// Which keys are meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Among {
    /// All of the attribute.
    Attribute,
    /// Those of a policy.
    Policy,
    /// Those of a policy's section, in the parentheses of that key.
    Section(Key),
}

impl Among {
    /// Whether that key is one of these.
    pub const fn has(self, key: Key) -> bool {
        match self {
            Self::Attribute => true,
            Self::Policy => key.is_of_policy(),
            Self::Section(_) => matches!(key.place(), Place::Schedule),
        }
    }

    /// The keys, in the order in which they are printed.
    pub fn keys(self) -> impl Iterator<Item = Key> {
        KEYS.iter().copied().filter(move |key| self.has(*key))
    }

    /// The key of that name.
    pub fn find(self, name: &str) -> Option<Key> {
        self.keys().find(|key| key.name() == name)
    }
}

impl Key {
    const fn row(self) -> &'static Row {
        &ROWS[self as usize]
    }

    /// As users write it.
    pub const fn name(self) -> &'static str {
        self.row().name
    }

    /// Where it belongs.
    pub const fn place(self) -> Place {
        self.row().place
    }

    /// How its value is read.
    pub const fn takes(self) -> Takes {
        self.row().takes
    }

    /// What an argument of that key looks like, for messages.
    pub const fn example(self) -> &'static str {
        self.row().example
    }

    /// Whether other libraries call it that.
    pub fn is_elsewhere(self, name: &str) -> bool {
        self.row().elsewhere.contains(&name)
    }

    /// Whether a policy has it.
    pub const fn is_of_policy(self) -> bool {
        matches!(self.place(), Place::Schedule | Place::Policy)
    }

    /// Whether it can't stand beside a policy, which has it: `enabled` can, as both must say yes, and `timeout`, as it says
    /// that the call has one.
    pub const fn is_within_policy(self) -> bool {
        self.is_of_policy() && !matches!(self, Self::Enabled | Self::Timeout)
    }

    /// Whether it takes keys of its own.
    pub const fn is_section(self) -> bool {
        matches!(self.takes(), Takes::Section)
    }
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Whether other libraries count the first attempt as well under that name of `max`.
pub fn counts_first_attempt(name: &str) -> bool {
    const NAMES: [&str; 5] = [
        "attempts",
        "max_attempts",
        "max_tries",
        "total_attempts",
        "tries",
    ];
    NAMES.contains(&name)
}

/// Whether that name says the opposite of the key for which it stands.
pub fn is_opposite(name: &str) -> bool {
    const NAMES: [&str; 5] = [
        "disable",
        "disabled",
        "non_idempotent",
        "nonidempotent",
        "not_idempotent",
    ];
    NAMES.contains(&name)
}

/// A key with its section, as messages name it: `throttled.base`.
#[derive(Clone, Copy, Debug)]
pub struct At {
    /// Where it stands in one.
    pub section: Option<Key>,
    /// The key itself.
    pub key: Key,
}

impl fmt::Display for At {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(section) = self.section {
            write!(f, "{section}.")?;
        }
        self.key.fmt(f)
    }
}
