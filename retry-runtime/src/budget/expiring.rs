use core::fmt;
use core::time::Duration;

use crate::budget::bucket::{ONE, billionths, now};
use crate::budget::keyed::Rest;
use crate::budget::retry_budget::RetryBudget;
use crate::classify::kind::Kind;
use crate::sync::{Mutex, MutexGuard, lock};

/// How many parts of the time are forgotten one by one.
const PARTS: usize = 10;

/// A share of the calls of the last seconds, shared by all calls that name it: the key `budget`. Each call gives `ratio`
/// tokens, each retry takes one, and both are forgotten after a time, so that a good hour does not pay for the retries of
/// the outage that follows it. A reserve is always there: it lets a program with few calls retry.
///
/// Finagle and Linkerd use this budget, with 0.2, 10 s and 100. tower calls it `TpsBudget`.
/// [`Budget::ratio`](crate::Budget::ratio) forgets nothing, but holds no more than 100 tokens.
///
/// ```
/// use std::time::Duration;
/// use retry_runtime::{ExpiringBudget, retry};
///
/// static MODEL_API: ExpiringBudget = ExpiringBudget::new(0.2, Duration::from_secs(10), 3);
///
/// #[retry(max = 5, backoff = "none", budget = &MODEL_API, on = |_| true)]
/// fn complete() -> Result<String, &'static str> {
///     Err("overloaded")
/// }
///
/// for _ in 0..10 {
///     assert!(complete().is_err());
/// }
/// // The reserve, and a fifth of ten calls, are spent.
/// assert_eq!(MODEL_API.available(), 0.0);
/// ```
///
/// Time is forgotten in tenths: what calls gave counts for nine to ten tenths of `ttl`.
#[derive(Debug)]
pub struct ExpiringBudget {
    /// What a call gives, in billionths of a token, as all numbers of tokens here.
    per_call: u64,
    reserve: u64,
    /// How long a part is, in nanoseconds.
    part: u64,
    window: Mutex<Window>,
}

#[derive(Debug)]
struct Window {
    parts: [Part; PARTS],
    /// The number of the newest part since the clock's origin.
    newest: u64,
}

#[derive(Clone, Copy, Debug)]
struct Part {
    given: u64,
    taken: u64,
}

const EMPTY: Part = Part { given: 0, taken: 0 };

impl ExpiringBudget {
    /// The share of the calls that are retried, for how long a call counts, and how many retries are always allowed in
    /// that time.
    ///
    /// A ratio below 0 counts as 0, one above 1000 as 1000, and a `ttl` below 10 ns as 10 ns.
    #[expect(
        clippy::cast_possible_truncation,
        reason = "584 years are longer than any program runs"
    )]
    pub const fn new(ratio: f64, ttl: Duration, reserve: u32) -> Self {
        let part = ttl.as_nanos() as u64 / PARTS as u64;
        Self {
            per_call: billionths(ratio, 1000.0),
            reserve: reserve as u64 * ONE,
            part: if part == 0 { 1 } else { part },
            window: Mutex::new(Window {
                parts: [EMPTY; PARTS],
                newest: 0,
            }),
        }
    }

    /// The tokens that are there.
    #[expect(clippy::cast_precision_loss, reason = "a number to show")]
    pub fn available(&self) -> f64 {
        self.left(&self.now()) as f64 / ONE as f64
    }

    /// The window without what is too old.
    fn now(&self) -> MutexGuard<'_, Window> {
        let part = now() / self.part;
        let mut window = lock(&self.window);
        // Nothing is forgotten while a clock is set back.
        let passed = part.saturating_sub(window.newest);
        for ago in 0..passed.min(PARTS as u64) {
            *window.part(part - ago) = EMPTY;
        }
        window.newest = window.newest.max(part);
        window
    }

    fn left(&self, window: &Window) -> u64 {
        let sum = |tokens: fn(&Part) -> u64| window.parts.iter().map(tokens).sum::<u64>();
        (self.reserve + sum(|part| part.given)).saturating_sub(sum(|part| part.taken))
    }
}

impl Window {
    #[expect(clippy::cast_possible_truncation, reason = "below ten")]
    fn part(&mut self, number: u64) -> &mut Part {
        &mut self.parts[(number % PARTS as u64) as usize]
    }
}

impl RetryBudget for ExpiringBudget {
    fn withdraw(&self, kind: Kind) -> bool {
        // The server is well: it answered with a value.
        if kind == Kind::Invalid {
            return true;
        }
        let mut window = self.now();
        let pays = self.left(&window) >= ONE;
        if pays {
            let newest = window.newest;
            window.part(newest).taken += ONE;
        }
        pays
    }

    fn refund(&self, kind: Kind) {
        if kind == Kind::Invalid {
            return;
        }
        let mut window = self.now();
        let all = PARTS as u64;
        let newest = window.newest + all;
        // The latest payment, which is forgotten last. What is forgotten came back already.
        let mut parts = (0..all).map(|ago| newest - ago);
        if let Some(part) = parts.find(|part| window.part(*part).taken >= ONE) {
            window.part(part).taken -= ONE;
        }
    }

    fn called(&self) {
        let mut window = self.now();
        let newest = window.newest;
        window.part(newest).given += self.per_call;
    }
}

impl Rest for ExpiringBudget {
    fn is_at_rest(&self, is_unused: bool) -> bool {
        let is_empty = |part: &Part| part.given == 0 && part.taken == 0;
        is_unused || self.now().parts.iter().all(is_empty)
    }
}

/// Shows the tokens that are there: `12.5 tokens`.
impl fmt::Display for ExpiringBudget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} tokens", self.available())
    }
}
