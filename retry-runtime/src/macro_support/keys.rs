//! The keys of the attribute, documented for editors: expansions mention each at its place.

#![allow(non_upper_case_globals, reason = "named as users write them")]

macro_rules! keys {
    ($($(#[doc = $doc:literal])+ $key:ident)*) => {$(
        $(#[doc = $doc])+
        // An address, since editors resolve no path in a text that a macro wrote.
        #[doc = "\n\n[All keys](https://docs.rs/retry-runtime/0.1/retry_runtime/guide/keys/)"]
        pub const $key: () = ();
    )*};
}

keys! {
    /// `max = 5`: how many retries follow the first attempt, a count or `"unlimited"`. Default 3; 0 is none.
    max
    /// `backoff = "exp"`: the shape of the delays. `"exp"` (default), `"fixed"`, `"linear"`, `"fibonacci"`, `"none"`, a
    /// list `["1s", "5s", "30s"]` whose last delay repeats, a function `|retry| …` from the retry's number to a
    /// `Duration`, or a `Backoff`.
    backoff
    /// `base = "250ms"`: the first delay. Default 1 s.
    base
    /// `factor = 1.5`: how delays of the shape `"exp"` grow, at least 1. Default 2.
    factor
    /// `cap = "10s"`: no computed delay is longer, jitter included. Default 30 s; lists and functions have none by default.
    cap
    /// `floor = "100ms"`: no computed delay is shorter, jitter included. Default 0.
    floor
    /// `jitter = "full"`: how much of a delay is random. `"full"` (default), `"equal"`, `"decorrelated"`, `"none"`, or a ratio
    /// from 0 to 1: 0.2 is ± 20 %.
    jitter
    /// `on = is_retryable`: which errors are worth a retry, a function from `&E` to a `bool` or a `Verdict`. Without it, `E` is
    /// `Classify`. `on::is::<Busy>` asks a type of yours inside a `Box<dyn Error>` or an `anyhow::Error`.
    on
    /// `until = |value| !value.is_empty()`: an `Ok` value for which it is false is retried, and returned when retries
    /// run out.
    until
    /// `hint = "honor"`: what a server's `Retry-After` does. `"honor"` (default) waits at least that long plus a random
    /// part, `"exact"` just that long, `"clamp"` as long as `max_hint` or 5 s more than the policy's shortest delay,
    /// `"ignore"` takes no notice.
    hint
    /// `max_hint = "5m"`: a longer hint ends the call; `"clamp"` cuts it to this. Default 120 s.
    max_hint
    /// `timeout = "30s"`: the time limit for each attempt, which is then dropped; for a stream, until its first item. The
    /// error type must be `From<TimedOut>`. `timeout` without a value takes the `policy`'s.
    timeout
    /// `deadline = "2m"`: the time limit for the whole call. No retry is planned that would begin after it.
    deadline
    /// `total_delay = "1m"`: the limit for all pauses together, however long attempts take.
    total_delay
    /// `enabled = false`: one attempt, whatever else is set. Breakers and limiters work on. Default `true`. Beside `policy`,
    /// both must be `true`.
    enabled
    /// `idempotent = false`: failures after which the request may have taken effect are not retried: timeouts, broken
    /// connections, HTTP 408 and every 5xx that is retried, but for a 503 with a hint. Default `true`. With `false` or an
    /// expression, an `on` must return a `Verdict`.
    idempotent
    /// `transient(max = 5)`: other numbers for passing faults. With a `max`, a count of its own.
    transient
    /// `throttled(base = "5s")`: other numbers for requests that the server throttled. With a `max`, a count of its own.
    throttled
    /// `timed_out(max = 1)`: other numbers for timeouts. With a `max`, a count of its own.
    timed_out
    /// `invalid(max = 2)`: other numbers for rejected values, which are retried without delay by default.
    invalid
    /// `rejected(max = 20, base = "100ms")`: numbers for attempts that the `breaker` or the `limiter` rejects. Without
    /// it, a rejection ends the call.
    rejected
    /// `attempt = attempt`: the name of the `&Attempt` in the body: its number, the errors so far, an idempotency key.
    /// `attempt.progress()` counts retries anew.
    attempt
    /// `clone(request, key)`: the arguments of which each attempt gets its own clone, as long as a retry can follow; the
    /// last attempt takes the arguments themselves.
    clone
    /// `validate = |value| check(value)`: an `Ok` value for which it returns an error is rejected, and the body runs
    /// again.
    validate
    /// `correct = async |value, error| …`: repairs a value that `validate` rejected, instead of running the body again.
    correct
    /// `before_pause = async |error, next| …`: runs after a failure that a retry follows, before the pause. An `Err` ends the
    /// call with the failure.
    before_pause
    /// `before_retry = async |error, next| …`: runs after the pause, before the retry: refreshes a token, shortens a request.
    /// An `Err` ends the call with the failure.
    before_retry
    /// `give_up = |gave_up| …`: shapes the error of a call that gives up.
    give_up
    /// `fallback = async |gave_up| …`: the last resort of a call that gives up: another model, a cached answer.
    fallback
    /// `repeats = 2`: gives up once the same error came this many times in a row, at least 2. An expression below 2 counts as 2.
    repeats
    /// `budget = &BUDGET`: what retries are paid from, a `Budget` or another `RetryBudget` that calls share. Alone: one for all
    /// calls of this function.
    budget
    /// `breaker = &BREAKER`: lets no attempt through while a server is down, a `Breaker` or another `AdmissionControl` that
    /// calls share. The error type must be `From<Rejected>`.
    breaker
    /// `limiter = &LIMITER`, `limiter = LIMITER.cost(n)`: has each attempt wait for its turn with a limiter that calls share,
    /// and slows all of them down when the server throttles. The error type must be `From<Rejected>`.
    limiter
    /// `hedge = "200ms"`: begins another attempt beside one that takes longer; the first success wins, and the others are
    /// dropped. A duration, or a quantile of a `Latency`. For async functions whose body only borrows.
    hedge
    /// `cancel = token.cancelled()`: a future that ends the pause and the call; on a blocking function an `&AtomicBool`, a
    /// `Cancel` or a function that returns a `bool`.
    cancel
    /// `abort = token.cancelled()`: a future that ends the call at once, and drops the attempt that runs. The error type must be
    /// `From<Cancelled>`.
    abort
    /// `observe = |event| …`: a closure or an `Observer` that sees every event of the call.
    observe
    /// `span = true`: a span around the call, and one around each attempt, for what the body logs. Default false.
    span
    /// `policy = self.policy`: a `Policy` known at run time, in place of the numbers; also a `SharedPolicy`, or `Policies` by
    /// the call's name. `policy = |error| …` chooses one for each failure, under one count.
    policy
    /// `name = "model.complete"`: the call's name in the log. Default `module::function`, in a decorator `Client::method`.
    name
    /// `timer = smol::Timer::after`: how to sleep, a `Timer` or a function from `Duration` to a future. Default tokio's. On a
    /// blocking function a `BlockingTimer` or a function of a `Duration`. Default the thread's.
    timer
    /// `stream = "first"`: on a function that returns a stream, `"first"` retries until the first item arrives,
    /// `"buffer"` retries the stream as a whole, `"resume"` goes on from where it broke.
    stream
    /// `first = |item| item.is_text()`: which item ends the retries of `stream = "first"`; what comes before it is held back,
    /// and yielded with it.
    first
    /// `idle_timeout = "30s"`: how long a stream may take from one item to the next. The error type must be
    /// `From<TimedOut>`. Default: the `timeout`.
    idle_timeout
    /// `crate = my_crate::retry_runtime`: the path of the runtime, for crates that re-export it.
    crate_
    /// `wrapper = Retrying`: on a trait, the decorator to generate. `wrapper = Retrying<C: Clone>` names the wrapped
    /// client and its bounds.
    wrapper
    /// `of = other_crate::Model`: on a copy of another crate's trait, the path of the original.
    of
    /// `forward = [Box, Arc]`: on a trait, the pointers that implement it where what they point to does.
    forward
    /// `body`: on a method in a copy of another crate's trait, its own body is retried in place of the client's method.
    body
}
