use support::prelude::*;

const POLICY: Policy = Policy::new()
    .max(2)
    .base(millis(100))
    .factor(3.0)
    .cap(millis(250))
    .jitter(Jitter::None)
    .hint(Hint::Clamp)
    .throttled(Section::new().max(1).base(secs(2)).cap(secs(9)))
    .timed_out(Section::new().backoff(Backoff::None));

struct Client {
    policy: Policy,
}

impl Client {
    scripted! {
        #[retry(policy = self.policy)]
        async fn by_value(&self, script: &mut Script) -> Result<usize, Failure> = script.next();
        #[retry(policy = &self.policy)]
        async fn by_reference(&mut self, script: &mut Script) -> Result<usize, Failure> = {
            // A policy may change while the call runs.
            self.policy = self.policy.max(1);
            script.next()
        };
    }
}

#[tokio::test(start_paused = true)]
async fn a_policy_may_be_a_run_time_value() {
    let recording = testing::record();
    let mut client = Client { policy: POLICY };
    let mut script = Script::new([TRANSIENT, THROTTLED, TIMEOUT]);
    assert_eq!(client.by_value(&mut script).await, Ok(4));
    assert_eq!(recording.delays(), [millis(100), secs(2), Duration::ZERO]);
    let mut script = Script::new(vec![TRANSIENT; 9]);
    assert_eq!(client.by_reference(&mut script).await, Err(TRANSIENT));
    assert_eq!(script.attempts, 2);
}

scripted! {
    #[retry(policy = { asked.set(asked.get() + 1); POLICY }, name = { asked.set(asked.get() + 100); "computed" })]
    fn asking(asked: &Cell<u32>);
    #[retry(max = { asked.set(asked.get() + 1); 3_u32 }, backoff = "none", validate = |_| Ok(()))]
    async fn asking_for_a_number(asked: &Cell<u32>);
}

#[tokio::test]
async fn is_evaluated_after_failures_only() {
    let _skipped = testing::skip_sleeps();
    let asked = Cell::new(0);
    assert_eq!(asking(&asked, &mut Script::new([])), Ok(1));
    assert_eq!(asked.take(), 1, "once, for its deadline");
    assert_eq!(asking(&asked, &mut Script::new([TRANSIENT])), Ok(2));
    let expected = 202;
    assert_eq!(asked.take(), expected, "for the failure, and two names");
    let script = &mut Script::new([]);
    assert_eq!(asking_for_a_number(&asked, script).await, Ok(1));
    assert_eq!(asked.take(), 0);
}

#[test]
fn delays_are_without_jitter() {
    let delays: Vec<_> = POLICY.max(4).delays().collect();
    assert_eq!(delays, [100, 250, 250, 250].map(millis));
    assert_eq!(Policy::new().max(0).delays().count(), 0);
    let endless = Policy::none().max(u32::MAX);
    assert_eq!(endless.delays().take(1000).count(), 1000);
    let total: Duration = Policy::new().max(5).delays().sum();
    assert_eq!(total, secs(31));
}

#[tokio::test(start_paused = true)]
async fn calls_without_the_attribute() {
    let recording = testing::record();
    let start = Instant::now();
    let script = RefCell::new(Script::new([TRANSIENT, throttled_for(secs(3)), TIMEOUT]));
    let outcome = POLICY.call(async || script.borrow_mut().next()).await;
    assert_eq!(outcome, Ok(4));
    assert_eq!(recording.delays(), [millis(100), secs(3), Duration::ZERO]);
    // The timer has millisecond granularity.
    assert!((millis(3100)..=millis(3102)).contains(&start.elapsed()));
    let lines = recording.lines();
    let name = "calls::keys::policy::calls_without_the_attribute";
    assert!(lines[0].starts_with(&format!("retrying {name} attempt=1 ")));
    assert!(lines[3].starts_with(&format!("succeeded {name} attempt=4")));
}

#[tokio::test(start_paused = true)]
async fn calls_with_plain_closures_and_other_timers() {
    let mut attempts = 0;
    let chain = POLICY.on(|status: &u16| *status >= 500);
    let called = chain.call(|| {
        attempts += 1;
        let attempts = attempts;
        async move {
            if attempts < 3 {
                Err(503_u16)
            } else {
                Ok(attempts)
            }
        }
    });
    assert_eq!(called.await, Ok(3));
    let slept = Cell::new(Duration::ZERO);
    let timer = TimerFn::new(|pause: Duration| {
        slept.set(slept.get() + pause);
        ready(())
    });
    let chain = POLICY.on(|status: &u16| *status >= 500).timer(timer);
    let outcome: Result<(), u16> = chain.call(async || Err(503)).await;
    assert_eq!(outcome, Err(503));
    assert_eq!(slept.get(), millis(350));
}

#[tokio::test(start_paused = true)]
async fn the_futures_of_calls_are_send() {
    struct Holder {
        prompt: String,
    }

    impl Holder {
        async fn send(&self, suffix: &str) -> Result<String, Failure> {
            yield_now().await;
            Ok(format!("{}{suffix}", self.prompt))
        }

        async fn call(&self, suffix: &str) -> Result<String, Failure> {
            is_send(POLICY.call(|| self.send(suffix))).await
        }
    }

    let holder = Holder {
        prompt: String::from("a"),
    };
    let call = is_send(holder.call("b"));
    assert_eq!(call.await.as_deref(), Ok("ab"));
}

struct Strategies(Cell<Policy>);

impl Strategies {
    /// Keeps what suits the failure.
    fn choose(&self, failure: &Failure) -> bool {
        self.0.set(strategy(failure));
        true
    }

    #[retry(on = |failure| self.choose(failure), policy = self.0.get())]
    async fn kept(&self, script: &mut Script) -> Result<usize, Failure> {
        script.next()
    }
}

const PATIENT: Policy = Policy::fixed(secs(5)).max(4).jitter(Jitter::None);
const HASTY: Policy = Policy::fixed(secs(1)).max(2).jitter(Jitter::None);

fn strategy(failure: &Failure) -> Policy {
    if *failure == THROTTLED {
        PATIENT
    } else {
        HASTY
    }
}

scripted! {
    #[retry(policy = |failure| strategy(failure))] async fn chosen();
    #[retry(policy = |failure| if *failure == THROTTLED { &PATIENT } else { &HASTY })]
    async fn borrowed();
}

async fn in_expression(script: &mut Script) -> Result<usize, Failure> {
    retrying!(policy = |failure| strategy(failure), async {
        script.next()
    })
    .await
}

#[tokio::test(start_paused = true)]
async fn may_be_chosen_by_each_failure_under_one_count() {
    async fn ran(
        steps: &[Failure],
        call: impl AsyncFnOnce(&mut Script) -> Result<usize, Failure>,
    ) -> (Result<usize, Failure>, Vec<Duration>) {
        let recording = testing::record();
        let outcome = call(&mut Script::new(steps.to_vec())).await;
        (outcome, recording.delays())
    }

    for (steps, delays, outcome) in rows! {
        vec![TRANSIENT, THROTTLED, THROTTLED, THROTTLED], vec![1, 5, 5, 5], Ok(5);
        vec![THROTTLED, THROTTLED, TRANSIENT], vec![5, 5], Err(TRANSIENT);
        vec![THROTTLED; 5], vec![5; 4], Err(THROTTLED);
    } {
        let expected = (outcome, delays.into_iter().map(secs).collect());
        let strategies = Strategies(Cell::new(Policy::none().max(0)));
        assert_rows! {
            ran(&steps, async |script| strategies.kept(script).await).await => expected;
            ran(&steps, chosen).await => expected;
            ran(&steps, borrowed).await => expected;
            ran(&steps, in_expression).await => expected;
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_chosen_policy_sets_the_deadline() {
    #[retry(policy = |_| Policy::fixed(secs(2)).max(9).jitter(Jitter::None).deadline(limit), attempt = attempt)]
    async fn call(limit: Duration, max: &mut Vec<Option<u32>>) -> Result<(), Failure> {
        max.push(attempt.max());
        sleep(secs(1)).await;
        Err(TRANSIENT)
    }

    let (start, mut max) = (Instant::now(), Vec::new());
    assert_eq!(call(secs(8), &mut max).await, Err(TRANSIENT));
    assert_eq!(start.elapsed().as_secs(), 7);
    // It is unknown before the first failure.
    assert_eq!(max, [None, Some(9), Some(9)]);
}

#[test]
fn a_chosen_policy_may_be_disabled() {
    scripted! { #[retry(policy = |_| Policy::new().enabled(false))] fn call(); }

    assert_eq!(call(&mut Script::new([TRANSIENT])), Err(TRANSIENT));
}
