//! The same call in every compared way: one table for both instructions and time.

use std::cell::Cell;
use std::fmt;
use std::future::Future;
use std::hint::black_box;
use std::pin::{Pin, pin};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

mod boxed;
mod by_hand;
mod chained;
mod expressed;
mod keys;
mod peers;
mod retried;
pub(crate) mod sizes;

/// One way of making a call.
pub(crate) struct Case {
    pub(crate) group: Group,
    pub(crate) way: Way,
    /// Makes this number of calls.
    pub(crate) run: fn(u64),
    /// The size of the call's future, if there is one.
    pub(crate) future: Option<usize>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Group {
    Async,
    Large,
    Blocking,
    Failure,
    Delayed,
    Boxed,
    Keys,
}

impl Group {
    pub(crate) const ALL: [Self; 7] = [
        Self::Async,
        Self::Large,
        Self::Blocking,
        Self::Failure,
        Self::Delayed,
        Self::Boxed,
        Self::Keys,
    ];

    pub(crate) fn title(self) -> &'static str {
        match self {
            Self::Async => "async, Result<u64, E>, success at once",
            Self::Large => "async, a value of 1 KiB, success at once",
            Self::Blocking => "blocking, Result<u64, E>, success at once",
            Self::Failure => "async, Result<u64, E>, one failure, no pause, success",
            Self::Delayed => {
                "async, Result<u64, E>, one failure, a pause of up to 1 s (full jitter), success"
            }
            Self::Boxed => "a boxed future, Result<u64, E>, success at once",
            Self::Keys => "async, Result<u64, E>, success at once, by the keys that it names",
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Way {
    ByHand,
    /// A loop with the body in a block, which a `?` in the body requires.
    ByHandInBlock,
    Retry,
    Expression,
    Chain,
    Backon,
    BackonMacros,
    TokioRetry,
    TokioRetry2,
    Tryhard,
    Tower,
    Again,
    Key(&'static str),
    /// A loop with a deadline.
    ByHandDeadline,
    BackonDeadline,
}

impl Way {
    pub(crate) fn title(self) -> &'static str {
        match self {
            Self::ByHand => "by hand",
            Self::ByHandInBlock => "by hand, body in a block",
            Self::Retry => "#[retry]",
            Self::Expression => "retrying!",
            Self::Chain => "policy.call",
            Self::Backon => "backon 1.6",
            Self::BackonMacros => "backon-macros 1.0",
            Self::TokioRetry => "tokio-retry 0.3",
            Self::TokioRetry2 => "tokio-retry2 0.9",
            Self::Tryhard => "tryhard 0.5",
            Self::Tower => "tower 0.5",
            Self::Again => "again 0.1",
            Self::Key(keys) => keys,
            Self::ByHandDeadline => "by hand, with a deadline",
            Self::BackonDeadline => "backon 1.6, with a total delay",
        }
    }

    pub(crate) fn is_peer(self) -> bool {
        matches!(
            self,
            Self::Backon
                | Self::BackonMacros
                | Self::TokioRetry
                | Self::TokioRetry2
                | Self::Tryhard
                | Self::Tower
                | Self::Again
        )
    }
}

/// An error with a destructor, like real errors.
#[derive(Debug)]
pub(crate) enum ModelError {
    Overloaded,
    Refused(String),
}

impl ModelError {
    pub(crate) fn is_transient(&self) -> bool {
        matches!(self, Self::Overloaded)
    }
}

impl fmt::Display for ModelError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Overloaded => f.write_str("overloaded"),
            Self::Refused(reason) => write!(f, "refused: {reason}"),
        }
    }
}

/// A value that is expensive to move.
pub(crate) struct Page {
    _text: [u8; 1024],
}

/// The client. Its methods, one for each way, are in the sibling modules.
pub(crate) struct Model {
    /// True if the first attempt of each call fails.
    fails_first: bool,
    attempts: Cell<u64>,
}

impl Model {
    fn new(fails_first: bool) -> Self {
        Self {
            fails_first,
            attempts: Cell::new(0),
        }
    }

    /// Returns the outcome of an attempt. Never inlined, like a real client's code, so that it isn't optimised together
    /// with the call.
    #[inline(never)]
    fn answer(&self, prompt: &str) -> Result<u64, ModelError> {
        let attempts = self.attempts.get();
        self.attempts.set(attempts + 1);
        if prompt.is_empty() {
            Err(ModelError::Refused(String::from("no prompt")))
        } else if self.fails_first && attempts.is_multiple_of(2) {
            Err(ModelError::Overloaded)
        } else {
            Ok(attempts)
        }
    }

    fn send<'a>(&'a self, prompt: &'a str) -> Answer<'a> {
        Answer {
            model: self,
            prompt,
        }
    }

    fn send_large<'a>(&'a self, prompt: &'a str) -> LargeAnswer<'a> {
        LargeAnswer(self.send(prompt))
    }

    /// The body of every async case. The other crates retry it.
    async fn call(&self, prompt: &str) -> Result<u64, ModelError> {
        self.send(prompt).await
    }

    async fn call_large(&self, prompt: &str) -> Result<Page, ModelError> {
        self.send_large(prompt).await
    }
}

/// A future that is ready at once.
struct Answer<'a> {
    model: &'a Model,
    prompt: &'a str,
}

impl Future for Answer<'_> {
    type Output = Result<u64, ModelError>;

    #[inline(never)]
    fn poll(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Self::Output> {
        Poll::Ready(self.model.answer(self.prompt))
    }
}

struct LargeAnswer<'a>(Answer<'a>);

impl Future for LargeAnswer<'_> {
    type Output = Result<Page, ModelError>;

    #[inline(never)]
    fn poll(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Self::Output> {
        Poll::Ready(
            self.0
                .model
                .answer(self.0.prompt)
                .map(|_| Page { _text: [7; 1024] }),
        )
    }
}

/// Polls until ready. Never inlined, as in a runtime: the future is created in one place and polled in another.
#[inline(never)]
fn drive<F: Future>(mut future: Pin<&mut F>) -> F::Output {
    let mut context = Context::from_waker(Waker::noop());
    loop {
        if let Poll::Ready(output) = future.as_mut().poll(&mut context) {
            return output;
        }
    }
}

const PROMPT: &str = "Why is the sky blue?";

/// Calls that succeed at once need no runtime.
fn drive_many<F: Future>(calls: u64, call: impl Fn(&'static Model, &'static str) -> F) {
    // Leaked once per run, so that `F` doesn't borrow.
    let model: &Model = Box::leak(Box::new(Model::new(false)));
    for _ in 0..calls {
        let future = pin!(call(black_box(model), black_box(PROMPT)));
        black_box(drive(future));
    }
}

/// Makes calls whose first attempt fails. Their sleeps end at once on a paused clock.
fn fail_many<F: Future>(calls: u64, call: impl Fn(&'static Model, &'static str) -> F) {
    let model: &Model = Box::leak(Box::new(Model::new(true)));
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .start_paused(true)
        .build()
        .expect("a runtime without I/O needs nothing of the system");
    runtime.block_on(async {
        for _ in 0..calls {
            black_box(call(black_box(model), black_box(PROMPT)).await);
        }
    });
}

fn call_many<R>(calls: u64, call: impl Fn(&Model, &str) -> R) {
    let model = Model::new(false);
    for _ in 0..calls {
        black_box(call(black_box(&model), black_box(PROMPT)));
    }
}

fn size_of_future<F>(call: impl Fn(&'static Model, &'static str) -> F) -> usize {
    let model: &Model = Box::leak(Box::new(Model::new(false)));
    size_of_val(&call(model, PROMPT))
}

macro_rules! cases {
    ($($group:ident: $run:ident { $($way:ident $(($key:literal))? => $method:ident,)* })*) => {
        vec![$($(cases!(@ $group $run ($way $(($key))?) $method)),*),*]
    };
    (@ Blocking $run:ident ($($way:tt)*) $method:ident) => {
        Case {
            group: Group::Blocking,
            way: Way::$($way)*,
            run: |calls| $run(calls, Model::$method),
            future: None,
        }
    };
    (@ $group:ident $run:ident ($($way:tt)*) $method:ident) => {
        Case {
            group: Group::$group,
            way: Way::$($way)*,
            run: |calls| $run(calls, Model::$method),
            future: Some(size_of_future(Model::$method)),
        }
    };
}

/// Every case, in the order of the tables.
pub(crate) fn all() -> Vec<Case> {
    cases! {
        Async: drive_many {
            ByHand => by_hand,
            ByHandInBlock => by_hand_in_block,
            Retry => retried,
            Expression => expressed,
            Chain => chained,
            Backon => backon,
            BackonMacros => backon_macros,
            TokioRetry => tokio_retry,
            TokioRetry2 => tokio_retry2,
            Tryhard => tryhard,
            Tower => tower,
            Again => again,
        }
        Large: drive_many {
            ByHand => by_hand_large,
            ByHandInBlock => by_hand_in_block_large,
            Retry => retried_large,
            Expression => expressed_large,
            Chain => chained_large,
            Backon => backon_large,
            BackonMacros => backon_macros_large,
            TokioRetry => tokio_retry_large,
            TokioRetry2 => tokio_retry2_large,
            Tryhard => tryhard_large,
            Tower => tower_large,
            Again => again_large,
        }
        Blocking: call_many {
            ByHand => by_hand_blocking,
            ByHandInBlock => by_hand_in_block_blocking,
            Retry => retried_blocking,
            Expression => expressed_blocking,
            Chain => chained_blocking,
            Backon => backon_blocking,
            BackonMacros => backon_macros_blocking,
        }
        Failure: fail_many {
            ByHand => by_hand_at_once,
            ByHandInBlock => by_hand_in_block_at_once,
            Retry => retried_at_once,
            Chain => chained_at_once,
            Backon => backon_at_once,
            BackonMacros => backon_macros_at_once,
            TokioRetry => tokio_retry_at_once,
            TokioRetry2 => tokio_retry2_at_once,
            Tryhard => tryhard_at_once,
            Tower => tower_at_once,
        }
        Delayed: fail_many {
            ByHandInBlock => by_hand_with_delay,
            Retry => retried_with_delay,
            Chain => chained_with_delay,
            Backon => backon,
            TokioRetry => tokio_retry,
            Tryhard => tryhard,
            Tower => tower,
        }
        Boxed: drive_many {
            ByHandInBlock => by_hand_boxed,
            Retry => retried_boxed,
            Backon => backon_boxed,
        }
        Keys: drive_many {
            ByHandInBlock => by_hand_without_key,
            Retry => with_none,
            Key("policy = &POLICY") => with_policy,
            Key("max = expression") => with_max,
            Key("name = expression") => with_name,
            Key("deadline") => with_deadline,
            ByHandDeadline => by_hand_deadline,
            BackonDeadline => backon_deadline,
            Key("timeout") => with_timeout,
            Key("idempotent") => with_idempotent,
            Key("cancel") => with_cancel,
            Key("abort") => with_abort,
            Key("total_delay") => with_total_delay,
            Key("before_pause") => with_before_pause,
            Key("before_retry") => with_before_retry,
            Key("policy = |error| …") => with_policy_by_error,
            Key("until") => with_until,
            Key("repeats") => with_repeats,
            Key("attempt, unused") => with_attempt,
            Key("attempt, its number") => with_attempt_numbered,
            Key("attempt, its elapsed time") => with_attempt_timed,
            Key("give_up") => with_give_up,
            Key("fallback") => with_fallback,
            Key("observe") => with_observe,
            Key("validate") => with_validate,
            Key("breaker") => with_breaker,
            Key("limiter, of concurrency") => with_concurrency_limiter,
            Key("limiter, of the rate") => with_rate_limiter,
            Key("hedge") => with_hedge,
            Key("a section with a max of its own") => with_section,
            Key("budget") => with_budget,
            Key("budget, a ratio") => with_ratio,
        }
    }
}

/// The policy of every case: exponential backoff from 1 s to 30 s with factor 2, 5 retries, jitter.
const BASE: Duration = Duration::from_secs(1);
const FACTOR: u32 = 2;
const CAP: Duration = Duration::from_secs(30);
const MAX: u32 = 5;

/// Returns the pause before a retry, for ways that compute it themselves.
fn pause(retries: u32) -> Duration {
    let delay = BASE.saturating_mul(FACTOR.saturating_pow(retries)).min(CAP);
    delay.mul_f64(fastrand::f64())
}
