//! All forms of a call, the keys that each has, scenarios to run in each form, and the rules that hold in every form.

pub mod rules;
mod world;

use std::ops::Range;
use std::time::Duration;

use retry_protections::{Quota, RateLimiter};
use retry_runtime::{Budget, Jitter, Policy, Verdict};

use crate::failure::Failure;
pub use world::{Clock, Watched, World, differences, seen};

/// Declares an enum and its list `ALL` from one list of variants, so that none is missing in either.
macro_rules! enum_with_names {
    ($(#[$of_all:meta])* $name:ident: $($(#[$doc:meta])* $variant:ident,)*) => {
        $(#[$of_all])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum $name {
            $($(#[$doc])* $variant,)*
        }

        impl $name {
            /// All of them.
            pub const ALL: &[Self] = &[$(Self::$variant),*];
        }
    };
}

enum_with_names! {
    /// A form of a call.
    Form:
    /// `#[retry]` on an async function.
    Attribute,
    /// `#[retry]` on a blocking function.
    AttributeBlocking,
    /// `retrying!` with an async block.
    Expression,
    /// `retrying!` with a blocking block.
    ExpressionBlocking,
    /// `#[retry]` on an `impl` block.
    Block,
    /// `#[retry]` on a trait.
    Decorator,
    /// `stream = "first"`.
    StreamFirst,
    /// `stream = "buffer"`.
    StreamBuffer,
    /// `stream = "resume"`.
    StreamResume,
    /// The key `hedge`.
    Hedge,
    /// `Policy::call`.
    Chain,
    /// `Policy::call_blocking`.
    ChainBlocking,
    /// `retry_each`.
    Batch,
    /// `retry_each_blocking`.
    BatchBlocking,
    /// `Plan::run_until`.
    Plan,
    /// `Attempts` in an async loop.
    OwnLoop,
    /// `Attempts` in a blocking loop.
    OwnLoopBlocking,
    /// `RetryLayer::cloning`.
    LayerByClone,
    /// `RetryLayer::new`, over requests by HTTP.
    LayerOfHttp,
    /// `RetryMiddleware`, in a client of reqwest.
    Middleware,
}

enum_with_names! {
    /// A key, or something else that not every form has.
    Key:
    /// `max`, of the policy and of sections.
    Max,
    /// `backoff`, `base`, and the waits that servers ask for.
    Backoff,
    /// `deadline` and `total_delay`.
    Deadline,
    /// `cancel`.
    Cancel,
    /// `timeout`.
    Timeout,
    /// `breaker`.
    Breaker,
    /// `limiter`.
    Limiter,
    /// `budget`.
    Budget,
    /// `rejected`.
    Rejected,
    /// `until`.
    Until,
    /// `idempotent`.
    Idempotent,
    /// `enabled`.
    Enabled,
    /// `repeats`.
    Repeats,
    /// `fallback`.
    Fallback,
    /// `before_pause`.
    BeforePause,
    /// `before_retry`.
    BeforeRetry,
    /// `observe`.
    Observe,
    /// Not a key: drops the call before it ends.
    Drop,
}

impl Form {
    /// Returns true if the form retries a whole client. Such forms are tested in `tests/clients`, all others in
    /// `tests/behaviour`.
    pub const fn is_of_whole_client(self) -> bool {
        matches!(
            self,
            Self::LayerByClone | Self::LayerOfHttp | Self::Middleware
        )
    }

    /// Returns true if the deadline drops running attempts. In that case, no attempt starts after it, even if only
    /// slightly late.
    pub const fn is_dropped_at_deadline(self) -> bool {
        matches!(self, Self::Batch | Self::Plan)
    }

    /// The reason that a form has no such key. `None` if it has one.
    pub const fn lacks(self, key: Key) -> Option<&'static str> {
        use Form::{
            Attribute, AttributeBlocking, Batch, BatchBlocking, Block, Chain, ChainBlocking,
            Decorator, Expression, ExpressionBlocking, Hedge, LayerByClone, LayerOfHttp,
            Middleware, OwnLoop, OwnLoopBlocking, Plan, StreamBuffer, StreamFirst, StreamResume,
        };
        match key {
            Key::Max
            | Key::Backoff
            | Key::Deadline
            | Key::Cancel
            | Key::Breaker
            | Key::Limiter
            | Key::Budget
            | Key::Rejected
            | Key::Idempotent
            | Key::Enabled
            | Key::Observe => None,
            Key::Drop => match self {
                AttributeBlocking | ExpressionBlocking | ChainBlocking | BatchBlocking
                | OwnLoopBlocking => Some("a call that blocks its thread can't be dropped"),
                Attribute | Expression | Block | Decorator | StreamFirst | StreamBuffer
                | StreamResume | Hedge | Chain | Batch | Plan | OwnLoop | LayerByClone
                | LayerOfHttp | Middleware => None,
            },
            Key::Timeout => match self {
                OwnLoop => Some("a loop of your own ends its attempts itself"),
                AttributeBlocking | ExpressionBlocking | ChainBlocking | BatchBlocking
                | OwnLoopBlocking => Some("an attempt that blocks its thread can't be dropped"),
                Batch | Plan => Some("batches and plans have no key `timeout`"),
                Attribute | Expression | Block | Decorator | StreamFirst | StreamBuffer
                | StreamResume | Hedge | Chain | LayerByClone | LayerOfHttp | Middleware => None,
            },
            Key::Until => match self {
                StreamFirst | StreamBuffer | StreamResume => Some("a stream has no single value"),
                Batch | BatchBlocking | Plan => Some("batches and plans have no key `until`"),
                LayerByClone | LayerOfHttp | Middleware => Some("`on` judges answers, too"),
                OwnLoop | OwnLoopBlocking => Some("a loop of your own judges values itself"),
                Attribute | AttributeBlocking | Expression | ExpressionBlocking | Block
                | Decorator | Hedge | Chain | ChainBlocking => None,
            },
            Key::Repeats => match self {
                Chain | ChainBlocking | Batch | BatchBlocking | Plan | OwnLoop
                | OwnLoopBlocking | LayerByClone | LayerOfHttp | Middleware => {
                    Some("only the attribute has the key `repeats`")
                }
                Attribute | AttributeBlocking | Expression | ExpressionBlocking | Block
                | Decorator | StreamFirst | StreamBuffer | StreamResume | Hedge => None,
            },
            Key::Fallback => match self {
                StreamResume => Some("its reader has items already"),
                Batch | BatchBlocking | Plan => Some("batches and plans have no key `fallback`"),
                OwnLoop | OwnLoopBlocking => Some("a fallback is code of the loop"),
                Attribute | AttributeBlocking | Expression | ExpressionBlocking | Block
                | Decorator | StreamFirst | StreamBuffer | Hedge | Chain | ChainBlocking
                | LayerByClone | LayerOfHttp | Middleware => None,
            },
            Key::BeforePause | Key::BeforeRetry => match self {
                Batch | BatchBlocking | Plan => Some("batches and plans have no hooks"),
                OwnLoop | OwnLoopBlocking => Some("hooks are code of the loop"),
                Attribute | AttributeBlocking | Expression | ExpressionBlocking | Block
                | Decorator | StreamFirst | StreamBuffer | StreamResume | Hedge | Chain
                | ChainBlocking | LayerByClone | LayerOfHttp | Middleware => None,
            },
        }
    }
}

/// A failure after which the request may have taken effect.
pub const AMBIGUOUS: Failure = Failure(Verdict::TRANSIENT.ambiguous());

/// Returns the events in a text that separates them by semicolons.
pub fn events(text: &'static str) -> Vec<&'static str> {
    text.split("; ").collect()
}

/// The limiter of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Gate {
    /// None.
    Open,
    /// The rate limiter.
    Rate,
    /// The concurrency limiter.
    Slots,
}

/// The inputs of a call, and its expected outcome.
#[derive(Clone)]
pub struct Scenario {
    /// The keys that the scenario is about. A form that lacks one of them skips it. The
    /// call has a `fallback` only if it is among them.
    pub keys: &'static [Key],
    /// The forms that have this outcome, if not all have the same.
    pub forms: fn(Form) -> bool,
    /// The policy, before `policy` changes it.
    pub numbers: Policy,
    /// Changes the policy.
    pub policy: fn(Policy) -> Policy,
    /// The budget.
    pub budget: fn() -> Budget,
    /// The rate limiter.
    pub limiter: fn() -> RateLimiter<Quota>,
    /// The limiter of the key `limiter`.
    pub gate: Gate,
    /// The failures in a row that open the breaker.
    pub opens_after: u32,
    /// The time in which the breaker rejects every attempt, in any state, in milliseconds.
    pub down: Range<u64>,
    /// Runs before the call.
    pub before: fn(&World),
    /// The time between `before` and the call.
    pub starts: Duration,
    /// The failures of the first attempts, in order; later attempts succeed.
    pub steps: Vec<Failure>,
    /// The duration of each attempt, in milliseconds.
    pub takes: Vec<u64>,
    /// The time limit of each attempt.
    pub limit: Duration,
    /// The verdict that `on` returns; by default, the error's own.
    pub verdict: Option<Verdict>,
    /// The key `idempotent`.
    pub idempotent: bool,
    /// The key `enabled`.
    pub enabled: bool,
    /// The key `repeats`.
    pub repeats: u32,
    /// The attempts whose values `until` rejects: the first ones.
    pub rejects: u32,
    /// The duration of `before_pause` and `before_retry`, in milliseconds.
    pub hooks_take: [u64; 2],
    /// The hook that fails.
    pub failing_hook: Option<Key>,
    /// The time in which the clock stalls, in milliseconds: a sleep that would end then ends after it.
    pub stalls: Range<u64>,
    /// The time at which the call is cancelled.
    pub cancels: Option<Duration>,
    /// The time at which the call is dropped.
    pub drops: Option<Duration>,

    /// True if the call must succeed.
    pub succeeds: bool,
    /// The start times of the attempts, in milliseconds.
    pub begun: Vec<u64>,
    /// The events that observers see, and the hooks that ran.
    pub reported: Vec<&'static str>,
    /// The tokens left in the budget.
    pub tokens: f64,
    /// The number of attempts that the rate limiter would admit at the end, if checked.
    pub turns: Option<u32>,
    /// The time at which the call ends, in milliseconds; 0 if it is not checked.
    pub ends: u64,
}

/// A call without failures, delays or limits. The expected outcome must be set: by default it has no attempt.
impl Default for Scenario {
    fn default() -> Self {
        Self {
            keys: &[],
            forms: |_| true,
            numbers: Policy::new().jitter(Jitter::None),
            policy: |policy| policy,
            budget: Budget::standard,
            limiter: || RateLimiter::fixed(1, Duration::from_secs(1)),
            gate: Gate::Open,
            opens_after: 99,
            down: 0..0,
            before: |_| (),
            starts: Duration::ZERO,
            steps: Vec::new(),
            takes: Vec::new(),
            limit: Duration::MAX,
            verdict: None,
            idempotent: true,
            enabled: true,
            repeats: u32::MAX,
            rejects: 0,
            hooks_take: [0; 2],
            failing_hook: None,
            stalls: 0..0,
            cancels: None,
            drops: None,
            succeeds: false,
            begun: Vec::new(),
            reported: Vec::new(),
            tokens: 500.0,
            turns: None,
            ends: 0,
        }
    }
}

impl Scenario {
    /// Returns true if a form has the keys that the scenario needs.
    pub fn is_for(&self, form: Form) -> bool {
        (self.forms)(form) && self.keys.iter().all(|key| form.lacks(*key).is_none())
    }
}
