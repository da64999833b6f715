use std::fmt;

macro_rules! keys {
    ($($variant:ident = $name:literal,)*) => {
        /// A key of the attribute.
        #[derive(Clone, Copy, PartialEq, Eq)]
        pub(crate) enum Key {
            $($variant,)*
        }

        impl Key {
            pub(crate) const ALL: &[Self] = &[$(Self::$variant,)*];

            pub(crate) const fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $name,)*
                }
            }
        }
    };
}

keys! {
    Max = "max",
    Backoff = "backoff",
    Base = "base",
    Factor = "factor",
    Cap = "cap",
    Jitter = "jitter",
    On = "on",
    Until = "until",
    Hint = "hint",
    MaxHint = "max_hint",
    Timeout = "timeout",
    Deadline = "deadline",
    Idempotent = "idempotent",
    Throttled = "throttled",
    Transient = "transient",
    TimedOut = "timed_out",
    Invalid = "invalid",
    Attempt = "attempt",
    Validate = "validate",
    Correct = "correct",
    GiveUp = "give_up",
    Fallback = "fallback",
    Repeats = "repeats",
    Budget = "budget",
    Observe = "observe",
    Policy = "policy",
    Name = "name",
    Timer = "timer",
    Stream = "stream",
    Crate = "crate",
    Wrapper = "wrapper",
    Of = "of",
}

impl Key {
    /// The keys of a section for one kind of failure.
    pub(crate) const OF_SECTION: &[Self] = &[
        Self::Max,
        Self::Backoff,
        Self::Base,
        Self::Factor,
        Self::Cap,
        Self::Jitter,
    ];

    /// The keys that a policy known at run time stands for.
    pub(crate) const OF_POLICY: &[Self] = &[
        Self::Max,
        Self::Backoff,
        Self::Base,
        Self::Factor,
        Self::Cap,
        Self::Jitter,
        Self::Hint,
        Self::MaxHint,
        Self::Deadline,
        Self::Throttled,
        Self::Transient,
        Self::TimedOut,
        Self::Invalid,
    ];

    pub(crate) const SECTIONS: &[Self] = &[
        Self::Throttled,
        Self::Transient,
        Self::TimedOut,
        Self::Invalid,
    ];
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
