use core::fmt;
use core::time::Duration;

use crate::budget::bucket::{ONE, billionths, now};
use crate::budget::keyed::Rest;
use crate::budget::retry_budget::RetryBudget;
use crate::classify::kind::Kind;
use crate::sync::{Mutex, MutexGuard, lock};

/// How many slices of the time are forgotten one by one.
const SLICES: usize = 10;

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
    /// How long a slice is, in nanoseconds.
    slice: u64,
    window: Mutex<Window>,
}

#[derive(Debug)]
struct Window {
    slices: [Slice; SLICES],
    /// The number of the newest slice since the clock's origin.
    newest: u64,
}

#[derive(Clone, Copy, Debug)]
struct Slice {
    given: u64,
    taken: u64,
}

const EMPTY: Slice = Slice { given: 0, taken: 0 };

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
        let slice = ttl.as_nanos() as u64 / SLICES as u64;
        Self {
            per_call: billionths(ratio, 1000.0),
            reserve: reserve as u64 * ONE,
            slice: if slice == 0 { 1 } else { slice },
            window: Mutex::new(Window {
                slices: [EMPTY; SLICES],
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
        let slice = now() / self.slice;
        let mut window = lock(&self.window);
        // Nothing is forgotten while a clock is set back.
        let passed = slice.saturating_sub(window.newest);
        for ago in 0..passed.min(SLICES as u64) {
            *window.slice(slice - ago) = EMPTY;
        }
        window.newest = window.newest.max(slice);
        window
    }

    fn left(&self, window: &Window) -> u64 {
        let sum = |tokens: fn(&Slice) -> u64| window.slices.iter().map(tokens).sum::<u64>();
        (self.reserve + sum(|slice| slice.given)).saturating_sub(sum(|slice| slice.taken))
    }
}

impl Window {
    #[expect(clippy::cast_possible_truncation, reason = "below ten")]
    fn slice(&mut self, number: u64) -> &mut Slice {
        &mut self.slices[(number % SLICES as u64) as usize]
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
            window.slice(newest).taken += ONE;
        }
        pays
    }

    fn refund(&self, kind: Kind) {
        if kind == Kind::Invalid {
            return;
        }
        let mut window = self.now();
        let all = SLICES as u64;
        let newest = window.newest + all;
        // The latest payment, which is forgotten last. What is forgotten came back already.
        let mut slices = (0..all).map(|ago| newest - ago);
        if let Some(slice) = slices.find(|slice| window.slice(*slice).taken >= ONE) {
            window.slice(slice).taken -= ONE;
        }
    }

    fn called(&self) {
        let mut window = self.now();
        let newest = window.newest;
        window.slice(newest).given += self.per_call;
    }
}

impl Rest for ExpiringBudget {
    fn is_at_rest(&self, is_unused: bool) -> bool {
        let is_empty = |slice: &Slice| slice.given == 0 && slice.taken == 0;
        is_unused || self.now().slices.iter().all(is_empty)
    }
}

/// Shows the tokens that are there: `12.5 tokens`.
impl fmt::Display for ExpiringBudget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} tokens", self.available())
    }
}
