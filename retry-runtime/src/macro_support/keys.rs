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
    /// `cap = "10s"`: the longest computed delay, including jitter. Default 30 s; for lists and functions, no cap.
    cap
    /// `floor = "100ms"`: the shortest computed delay, including jitter. Default 0.
    floor
    /// `jitter = "full"`: the random part of a delay. `"full"` (default), `"equal"`, `"decorrelated"`, `"none"`, or a
    /// ratio from 0 to 1: 0.2 is ± 20 %, and `"+0.2"` is up to 20 % more.
    jitter
    /// `on = is_retryable`: a function from `&E` to a `bool` or a `Verdict` that decides which errors are retried.
    /// Without `on`, `E` must be `Classify`. `on::is::<Busy>` finds your own type in a `Box<dyn Error>` or an
    /// `anyhow::Error`.
    on
    /// `until = |value| !value.is_empty()`: a function that returns true for an acceptable `Ok` value. Other values are
    /// retried; once retries run out, the last value is returned.
    until
    /// `hint = "honor"`: the effect of a server's `Retry-After`. `"honor"` (default) waits at least that time plus a
    /// random part, `"exact"` exactly that time, `"clamp"` at most `max_hint` (default: 5 s above the policy's shortest
    /// delay), `"ignore"` ignores the hint.
    hint
    /// `max_hint = "5m"`: the longest hint. A longer one ends the call; `"clamp"` cuts it to this time. Default 120 s.
    max_hint
    /// `timeout = "30s"`: the time limit for each attempt, or for a stream's first item. An attempt that takes longer
    /// is dropped. The error type must be `From<TimedOut>`. `timeout` without a value uses the `policy`'s.
    timeout
    /// `deadline = "2m"`: the time limit for the whole call. No retry starts after it.
    deadline
    /// `total_timeout = "2m"`: the time limit for the whole call, at which a running attempt is dropped. The error type
    /// must be `From<TimedOut>`. The call ends with `Reason::Deadline`.
    total_timeout
    /// `total_delay = "1m"`: the limit for the sum of all pauses, regardless of how long attempts take.
    total_delay
    /// `enabled = false`: exactly one attempt, regardless of other keys. Breakers and limiters still apply. Default
    /// `true`. With `policy`, both values must be `true` to retry.
    enabled
    /// `idempotent = false`: failures after which the request may have taken effect are not retried (timeouts, broken
    /// connections, HTTP 408, and all 5xx except a 503 with a hint). Default `true`. With `false` or an expression, an
    /// `on` must return a `Verdict`.
    idempotent
    /// `transient(max = 5)`: separate values for transient failures. With a `max`, these are counted separately.
    transient
    /// `throttled(base = "5s")`: separate values for throttled requests. With a `max`, these are counted separately.
    throttled
    /// `timed_out(max = 1)`: separate values for timeouts. With a `max`, these are counted separately.
    timed_out
    /// `invalid(max = 2)`: separate values for retries after an invalid value, which have no delay by default.
    invalid
    /// `rejected(max = 20, base = "100ms")`: retries of attempts that the `breaker` or the `limiter` rejects. Without
    /// this key, a rejection ends the call.
    rejected
    /// `attempt = attempt`: a name for the `&Attempt` in the body, with its number, the errors so far and an
    /// idempotency key. `attempt.progress()` resets the count of retries.
    attempt
    /// `clone(request, key)`: arguments that are cloned for each attempt that a retry may follow. The last attempt
    /// takes the arguments themselves.
    clone
    /// `validate = |value| check(value)`: a function that checks each `Ok` value. If it returns an error, the value is
    /// rejected, and the body runs again.
    validate
    /// `correct = async |value, error| …`: repairs a value that `validate` rejected, instead of running the body again.
    correct
    /// `before_pause = async |error, next| …`: called before the pause, after a failure that will be retried. An `Err`
    /// ends the call with the failure.
    before_pause
    /// `before_retry = async |error, next| …`: called after the pause, before the retry, for example to refresh a token
    /// or shorten a request. An `Err` ends the call with the failure.
    before_retry
    /// `give_up = |gave_up| …`: converts the error of a call that gives up; in `retrying!`, to any type.
    give_up
    /// `fallback = async |gave_up| …`: replaces the result of a call that gives up, for example with a cached answer or
    /// another model's.
    fallback
    /// `repeats = 2`: gives up once the same error has occurred this many times in a row, at least 2. An expression
    /// below 2 counts as 2.
    repeats
    /// `budget = &BUDGET`: pays for retries. A `Budget` or another `RetryBudget` that calls share. Without a value: one
    /// budget for all calls of this function.
    budget
    /// `breaker = &BREAKER`: rejects attempts while a server is down. A `Breaker` of `retry-protections` or another
    /// `AdmissionControl` that calls share. The error type must be `From<Rejected>`.
    breaker
    /// `limiter = &LIMITER`, `limiter = LIMITER.cost(n)`: makes attempts wait for a limiter that calls share, such as a
    /// `RateLimiter` of `retry-protections`, which slows all of these calls down when the server throttles. The error
    /// type must be `From<Rejected>`.
    limiter
    /// `hedge = "200ms"`: starts another attempt if an attempt takes longer than this. The first success wins, and the
    /// others are dropped. A duration, or a quantile of a `Latency` of `retry-protections`. For async functions whose
    /// body only borrows.
    hedge
    /// `cancel = token.cancelled()`: a future that ends the pause and the call; on a blocking function, an
    /// `&AtomicBool`, a `Cancel` or a function that returns a `bool`.
    cancel
    /// `abort = token.cancelled()`: a future that ends the call at once, and drops the attempt in flight. The error
    /// type must be `From<Cancelled>`.
    abort
    /// `observe = |event| …`: a closure or an `Observer` that receives every event of the call.
    observe
    /// `show = |error, f| write!(f, "{}", error.code)`: a function that writes the error for the log and observers.
    /// Default: an `Error` with its causes, another type by `Display`, by `Classify::describe` or by its name.
    show
    /// `span = true`: a span around the call, and one around each attempt, for the body's log records. Default false.
    span
    /// `policy = self.policy`: a `Policy` known at run time, in place of literal values; or a `SharedPolicy`, or
    /// `Policies` for calls by name. `policy = |error| …` chooses one for each failure, with one common count.
    policy
    /// `name = "model.complete"`: the call's name in the log. Default `module::function` or `module::Type::method`; in
    /// a decorator, `Client::method`.
    name
    /// `timer = smol::Timer::after`: a `Timer` or a function from `Duration` to a future, with which the call sleeps;
    /// by default tokio's. On a blocking function, a `BlockingTimer` or a function of a `Duration`; by default the
    /// thread's.
    timer
    /// `stream = "first"`: on a function that returns a stream, `"first"` retries until the first item arrives,
    /// `"buffer"` retries the stream as a whole, `"resume"` continues where the stream broke.
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
    /// `body`: in a copy of another crate's trait, retries this method's own body instead of the client's method.
    body
}
