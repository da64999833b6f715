//! Keys have the same effect in an expression as in the attribute: the same attempts, delays, events and outcome. The
//! rules of all forms are about the other keys.

use support::prelude::*;

/// The outcomes of a call's attempts, in order, and the values of its keys.
struct Script {
    steps: Vec<Failure>,
    attempts: Cell<usize>,
    events: RefCell<Vec<String>>,
    limiter: ConcurrencyLimiter,
}

impl Script {
    fn new(steps: &[Failure]) -> Self {
        Self {
            steps: steps.to_vec(),
            attempts: Cell::new(0),
            events: RefCell::default(),
            limiter: ConcurrencyLimiter::aimd(),
        }
    }

    /// The next failure, or the number of the attempt once there is none.
    fn next(&self) -> Result<usize, Failure> {
        let attempt = self.attempts.get();
        self.attempts.set(attempt + 1);
        match self.steps.get(attempt) {
            Some(failure) => Err(failure.clone()),
            None => Ok(attempt + 1),
        }
    }

    fn tell(&self, event: impl ToString) {
        self.events.borrow_mut().push(event.to_string());
    }

    fn max(&self) -> u32 {
        u32::try_from(self.steps.len()).unwrap()
    }
}

fn is_throttled(failure: &Failure) -> bool {
    *failure == THROTTLED
}

fn is_even(value: &usize) -> Result<(), Failure> {
    if value.is_multiple_of(2) {
        Ok(())
    } else {
        Err(TRANSIENT)
    }
}

fn scripts() -> [Vec<Failure>; 8] {
    [
        vec![],
        vec![TRANSIENT],
        vec![STOP],
        vec![TIMEOUT, TIMEOUT],
        vec![THROTTLED, TRANSIENT, TIMEOUT],
        vec![TRANSIENT, throttled_for(Duration::from_secs(20))],
        vec![Failure(Verdict::TIMEOUT.ambiguous())],
        vec![TRANSIENT; 12],
    ]
}

/// All that can be seen of one call.
#[derive(Debug, PartialEq)]
struct Seen {
    outcome: Result<usize, Failure>,
    attempts: usize,
    events: Vec<String>,
    lines: Vec<String>,
    delays: Vec<Duration>,
    spent: Duration,
}

/// Makes a call with these outcomes. A blocking one skips its pauses.
async fn seen(
    steps: &[Failure],
    is_blocking: bool,
    call: impl AsyncFnOnce(&Script) -> Result<usize, Failure>,
) -> Seen {
    let script = Script::new(steps);
    let _seeded = testing::seed(7);
    let skipped = is_blocking.then(testing::skip_sleeps);
    let recording = testing::record();
    let start = Instant::now();
    let outcome = call(&script).await;
    Seen {
        outcome,
        attempts: script.attempts.get(),
        events: script.events.into_inner(),
        lines: recording.lines(),
        delays: recording.delays(),
        spent: start.elapsed() + skipped.map_or(Duration::ZERO, |skipped| skipped.total()),
    }
}

/// Calls an async function and an expression of the same keys and body.
macro_rules! waiting {
    ($([$($keys:tt)*] |$script:ident| { $($body:tt)* })*) => {$({
        #[retry(name = "call", $($keys)*)]
        async fn by_attribute($script: &Script) -> Result<usize, Failure> {
            $($body)*
        }

        for steps in scripts() {
            let expected = seen(&steps, false, async |script| by_attribute(script).await).await;
            let by_expression = async |$script: &Script| {
                retrying!(name = "call", $($keys)*, async { $($body)* }).await
            };
            assert_eq!(seen(&steps, false, by_expression).await, expected, "{}", stringify!($($keys)*));
        }
    })*};
}

/// The same for blocking blocks.
macro_rules! blocking {
    ($([$($keys:tt)*] |$script:ident| { $($body:tt)* })*) => {$({
        #[retry(name = "call", $($keys)*)]
        fn by_attribute($script: &Script) -> Result<usize, Failure> {
            $($body)*
        }

        for steps in scripts() {
            let expected = seen(&steps, true, async |script| by_attribute(script)).await;
            let by_expression = async |$script: &Script| {
                retrying!(name = "call", $($keys)*, { $($body)* })
            };
            assert_eq!(seen(&steps, true, by_expression).await, expected, "{}", stringify!($($keys)*));
        }
    })*};
}

/// Both.
macro_rules! same {
    ($([$($keys:tt)*] |$script:ident| { $($body:tt)* })*) => {
        waiting! { $([$($keys)*] |$script| { $($body)* })* }
        blocking! { $([$($keys)*] |$script| { $($body)* })* }
    };
}

#[tokio::test(start_paused = true)]
async fn keys_of_the_policy_and_the_decision_work() {
    const POLICY: Policy = Policy::new().max(2).base(Duration::from_millis(5));
    same! {
        [max = 2] |script| { script.next() }
        [max = script.max() / 2] |script| { script.next() }
        [max = "unlimited"] |script| { script.next() }
        [backoff = "linear"] |script| { script.next() }
        [backoff = ["1s", "5s"], jitter = "none"] |script| { script.next() }
        [backoff = |retry| Duration::from_secs(retry.into())] |script| { script.next() }
        [backoff = Backoff::Fixed] |script| { script.next() }
        [base = "10ms", factor = 3, cap = "1s", floor = "5ms"] |script| { script.next() }
        [jitter = "decorrelated"] |script| { script.next() }
        [jitter = 0.2] |script| { script.next() }
        [hint = "clamp"] |script| { script.next() }
        [max_hint = "10s"] |script| { script.next() }
        [transient(max = 1), throttled(base = "5s"), timed_out(max = 0)] |script| { script.next() }
        [invalid(max = 1), validate = is_even] |script| { script.next() }
        [policy = POLICY] |script| { script.next() }
        [on = is_throttled] |script| { script.next() }
        [on = |failure| *failure == TRANSIENT] |script| { script.next() }
        [validate = is_even] |script| { script.next() }
        [validate = is_even, correct = |value, _| Ok(value + 1)] |script| { script.next() }
        [budget] |script| { script.next() }
        [limiter = script.limiter.cost(2)] |script| { script.next() }
    }
    waiting! {
        [validate = async |value| is_even(value)] |script| { script.next() }
        [validate = is_even, correct = async |value, _| Ok(value + 1)] |script| { script.next() }
        [timer = DefaultTimer] |script| { script.next() }
        [timer = |pause: Duration| sleep(2 * pause)] |script| { script.next() }
    }
}

#[tokio::test(start_paused = true)]
async fn keys_that_show_attempts_work() {
    same! {
        [attempt = attempt] |script| {
            script.tell(attempt.number());
            script.tell(attempt.last_error().is_some_and(|failure| *failure == THROTTLED));
            script.next()
        }
        [attempt = attempt, validate = is_even] |script| {
            script.tell(format!("{:?}", attempt.last_value()));
            script.next()
        }
        [observe = |event: &Event<'_>| script.tell(event)] |script| { script.next() }
        [span = true] |script| { script.next() }
        [span = script.max() > 1, attempt = attempt] |script| {
            script.tell(attempt.number());
            script.next()
        }
        [crate = ::retry_runtime] |script| { script.next() }
    }
    let name = |script: &Script| format!("call.{}", script.max());
    let _skipped = testing::skip_sleeps();
    for steps in scripts() {
        let recording = testing::record();
        let script = &Script::new(&steps);
        let _: Result<_, _> = retrying!(name = name(script), backoff = "none", { script.next() });
        let named = format!(" call.{} ", script.max());
        assert!(recording.lines().iter().all(|line| line.contains(&named)));
    }
}

#[tokio::test(start_paused = true)]
async fn keys_of_the_end_work() {
    fn last(gave_up: GaveUp<Failure>) -> Failure {
        gave_up.errors().next().unwrap().clone()
    }

    same! {
        [give_up = last] |script| { script.next() }
        [give_up = |gave_up| if gave_up.attempts() > 1 { THROTTLED } else { STOP }] |script| {
            script.next()
        }
    }
    waiting! {
        [fallback = async |gave_up| Ok(gave_up.attempts() as usize)] |script| { script.next() }
    }
    blocking! {
        [fallback = |gave_up| Ok(gave_up.attempts() as usize)] |script| { script.next() }
    }
}
