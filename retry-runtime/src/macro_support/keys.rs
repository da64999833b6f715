//! The keys of the attribute, documented for editors: generated code refers to each key at its position in the source.

#![allow(non_upper_case_globals, reason = "named as users write them")]

macro_rules! keys {
    ($($(#[doc = $doc:literal])+ $key:ident)*) => {$(
        $(#[doc = $doc])+
        // A URL, because editors can't resolve a path in text that a macro generates.
        #[doc = "\n\n[All keys](https://docs.rs/retry-runtime/0.1/retry_runtime/guide/keys/)"]
        pub const $key: () = ();
    )*};
}

keys! {
    /// `max = 5`: the number of retries after the first attempt, or `"unlimited"`. Default 3; 0 means none.
    max
    /// `backoff = "exp"`: the shape of the delays. `"exp"` (default), `"fixed"`, `"linear"`, `"fibonacci"`, `"none"`, a
    /// list `["1s", "5s", "30s"]` whose last delay repeats, a function `|retry| …` from the retry's number to a
    /// `Duration`, or a `Backoff`.
    backoff
    /// `base = "250ms"`: the first delay. Default 1 s.
    base
    /// `factor = 1.5`: the growth of delays with `backoff = "exp"`, at least 1. Default 2.
    factor
    /// `cap = "10s"`: the longest computed delay, including jitter. Default 30 s; lists and functions have none by
    /// default.
    cap
    /// `floor = "100ms"`: the shortest computed delay, including jitter. Default 0.
    floor
    /// `jitter = "full"`: the random part of a delay. `"full"` (default), `"equal"`, `"decorrelated"`, `"none"`, or a
    /// ratio from 0 to 1: 0.2 is ± 20 %, and `"+0.2"` is up to 20 % more.
    jitter
    /// `on = is_retryable`: a function from `&E` to a `bool` or a `Verdict` that decides which errors are retried.
    /// Without it, `E` must be `Classify`. `on::is::<Busy>` looks for your own type inside a `Box<dyn Error>` or an
    /// `anyhow::Error`.
    on
    /// `until = |value| !value.is_empty()`: an `Ok` value for which it returns false is retried, and returned when
    /// retries run out.
    until
    /// `hint = "honor"`: the effect of a server's `Retry-After`. `"honor"` (default) waits at least this time plus a
    /// random part, `"exact"` exactly this time, `"clamp"` at most `max_hint` or 5 s more than the policy's shortest
    /// delay, `"ignore"` ignores it.
    hint
    /// `max_hint = "5m"`: a longer hint ends the call; `"clamp"` cuts it to this. Default 120 s.
    max_hint
    /// `timeout = "30s"`: the time limit for each attempt, which is then dropped; for a stream, until its first item.
    /// The error type must be `From<TimedOut>`. `timeout` without a value uses the `policy`'s.
    timeout
    /// `deadline = "2m"`: the time limit for the whole call. No retry is planned that would start after it.
    deadline
    /// `total_timeout = "2m"`: the time limit for the whole call, at which a running attempt is dropped. The error type
    /// must be `From<TimedOut>`. The call ends with `Reason::Deadline`.
    total_timeout
    /// `total_delay = "1m"`: the limit for the sum of all pauses, regardless of how long attempts take.
    total_delay
    /// `enabled = false`: exactly one attempt, regardless of other keys. Breakers and limiters still apply. Default
    /// `true`. With `policy`, both must be `true` to retry.
    enabled
    /// `idempotent = false`: doesn't retry failures after which the request may have taken effect: timeouts, broken
    /// connections, HTTP 408 and every retried 5xx, except a 503 with a hint. Default `true`. With `false` or an
    /// expression, an `on` must return a `Verdict`.
    idempotent
    /// `transient(max = 5)`: other values for transient failures. With a `max`, they have their own count.
    transient
    /// `throttled(base = "5s")`: other values for requests that the server throttled. With a `max`, they have their own
    /// count.
    throttled
    /// `timed_out(max = 1)`: other values for timeouts. With a `max`, they have their own count.
    timed_out
    /// `invalid(max = 2)`: other values for rejected values, which are retried without delay by default.
    invalid
    /// `rejected(max = 20, base = "100ms")`: retries of attempts that the `breaker` or the `limiter` rejects. Without
    /// it, a rejection ends the call.
    rejected
    /// `attempt = attempt`: the name of the `&Attempt` in the body: its number, the errors so far, an idempotency key.
    /// `attempt.progress()` resets the count of retries.
    attempt
    /// `clone(request, key)`: arguments that are cloned for each attempt, as long as a retry can follow; the last
    /// attempt takes the arguments themselves.
    clone
    /// `validate = |value| check(value)`: an `Ok` value for which it returns an error is rejected, and the body runs
    /// again.
    validate
    /// `correct = async |value, error| …`: repairs a value that `validate` rejected, instead of running the body again.
    correct
    /// `before_pause = async |error, next| …`: called after a failure that is followed by a retry, before the pause. An
    /// `Err` ends the call with the failure.
    before_pause
    /// `before_retry = async |error, next| …`: called after the pause, before the retry, for example to refresh a token
    /// or shorten a request. An `Err` ends the call with the failure.
    before_retry
    /// `give_up = |gave_up| …`: converts the error of a call that gives up; in `retrying!` to any type.
    give_up
    /// `fallback = async |gave_up| …`: replaces the result of a call that gives up, for example by another model's or a
    /// cached answer.
    fallback
    /// `repeats = 2`: gives up once the same error occurred this many times in a row, at least 2. An expression below 2
    /// counts as 2.
    repeats
    /// `budget = &BUDGET`: pays for retries; a `Budget` or another `RetryBudget` that calls share. Without a value: one
    /// budget for all calls of this function.
    budget
    /// `breaker = &BREAKER`: rejects attempts while a server is down; a `Breaker` of `retry-protections` or another
    /// `AdmissionControl` that calls share. The error type must be `From<Rejected>`.
    breaker
    /// `limiter = &LIMITER`, `limiter = LIMITER.cost(n)`: makes each attempt wait for a limiter that calls share, such as
    /// a `RateLimiter` of `retry-protections`, and slows all of them down when the server throttles. The error type must
    /// be `From<Rejected>`.
    limiter
    /// `hedge = "200ms"`: starts another attempt next to one that takes longer; the first success wins, and the others
    /// are dropped. A duration, or a quantile of a `Latency` of `retry-protections`. For async functions whose body only
    /// borrows.
    hedge
    /// `cancel = token.cancelled()`: a future that ends the pause and the call; on a blocking function an `&AtomicBool`, a
    /// `Cancel` or a function that returns a `bool`.
    cancel
    /// `abort = token.cancelled()`: a future that ends the call at once, and drops the attempt in flight. The error
    /// type must be `From<Cancelled>`.
    abort
    /// `observe = |event| …`: a closure or an `Observer` that receives every event of the call.
    observe
    /// `show = |error, f| write!(f, "{}", error.code)`: a function that writes the error for the log and observers.
    /// Default: with its causes if it is an `Error`, else by `Display`, by `Classify::describe`, or its type's name.
    show
    /// `span = true`: a span around the call, and one around each attempt, for the body's log records. Default false.
    span
    /// `policy = self.policy`: a `Policy` known at run time, in place of literal values; also a `SharedPolicy`, or
    /// `Policies` by the call's name. `policy = |error| …` chooses one for each failure, with one common count.
    policy
    /// `name = "model.complete"`: the call's name in the log. Default `module::function` or `module::Type::method`, in a
    /// decorator `Client::method`.
    name
    /// `timer = smol::Timer::after`: a `Timer` or a function from `Duration` to a future, with which the call sleeps.
    /// Default tokio's. On a blocking function, a `BlockingTimer` or a function of a `Duration`. Default the thread's.
    timer
    /// `stream = "first"`: on a function that returns a stream, `"first"` retries until the first item arrives,
    /// `"buffer"` retries the stream as a whole, `"resume"` continues from where it broke.
    stream
    /// `first = |item| item.is_text()`: decides which item ends the retries of `stream = "first"`; items before it are
    /// held back, and yielded with it.
    first
    /// `idle_timeout = "30s"`: the time limit from one item of a stream to the next. The error type must be
    /// `From<TimedOut>`. Default: the `timeout`.
    idle_timeout
    /// `crate = my_crate::retry_runtime`: the path of the runtime, for crates that re-export it.
    crate_
    /// `wrapper = Retrying`: on a trait, the decorator to generate. `wrapper = Retrying<C: Clone>` names the wrapped
    /// client's type and its bounds.
    wrapper
    /// `of = other_crate::Model`: on a copy of another crate's trait, the path of the original.
    of
    /// `forward = [Box, Arc]`: on a trait, the pointers that implement it if their target does. With `of`, the pointers
    /// that the decorator wraps.
    forward
    /// `body`: on a method in a copy of another crate's trait, its own body is retried in place of the client's method.
    body
}
