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
        assert_rows! {
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
