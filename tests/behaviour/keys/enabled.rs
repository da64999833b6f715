//! `enabled = false` means one attempt, even if other keys are set.

#![allow(async_fn_in_trait)]

use std::cell::Cell;
use std::future::pending;
use std::sync::atomic::{AtomicU32, Ordering::SeqCst};

use retry_runtime::configuration::Overrides;
use retry_runtime::own_loop::{Call, Failure as Failed, Site};
use retry_runtime::{Jitter, Policy, Reason, Section, Verdict, retry, testing};
use support::failure::{Failure, STOP, THROTTLED, TIMEOUT, TRANSIENT, throttled_for};
use support::rows;
use tokio::time::Instant;

use crate::keys::{Script, millis, secs};

/// Retries throttled attempts 10 times, with any `max`.
const EAGER: Policy = Policy::new()
    .jitter(Jitter::None)
    .throttled(Section::new().max(10));
const OFF: Policy = EAGER.enabled(false);

fn verdict(failure: &Failure) -> Verdict {
    failure.0
}

fn throttled() -> Script {
    Script::new(vec![throttled_for(secs(5)); 99])
}

#[test]
fn disabled_means_one_attempt_with_any_other_keys() {
    #[retry(
        enabled = false,
        max = "unlimited",
        throttled(max = 10),
        repeats = 2,
        deadline = "1h",
        idempotent = false,
        budget = budget,
        on = verdict
    )]
    fn call(script: &mut Script, budget: &Budget) -> Result<usize, Failure> {
        script.next()
    }

    scripted! { #[retry(enabled = false, on = verdict)] fn plain(); }

    struct Budget;

    impl retry_runtime::seam::RetryBudget for Budget {
        fn withdraw(&self, _: retry_runtime::Kind) -> bool {
            panic!("asked to pay")
        }

        fn refund(&self, _: retry_runtime::Kind) {}
    }

    let skipped = testing::skip_sleeps();
    let recording = testing::record();
    let mut script = throttled();
    assert_eq!(call(&mut script, &Budget), Err(throttled_for(secs(5))));
    assert_eq!(script.attempts, 1);
    let mut script = throttled();
    assert!(plain(&mut script).is_err());
    assert_eq!((script.attempts, skipped.total()), (1, secs(0)));
    let lines = recording.lines();
    assert_eq!(lines.len(), 2);
    for line in lines {
        assert!(
            line.ends_with("attempt=1 max=0 error=throttled reason=exhausted"),
            "{line}"
        );
    }
    assert_eq!(plain(&mut Script::new([])), Ok(1));
    assert!(plain(&mut Script::new([STOP])).is_err());
    let line = recording.lines().pop().unwrap();
    assert!(
        line.ends_with("attempt=1 max=0 error=stop reason=not retryable"),
        "{line}"
    );
}

#[test]
fn enabled_true_changes_nothing() {
    scripted! { #[retry(enabled = true, max = 2, backoff = "none")] fn call(); }

    assert_eq!(call(&mut Script::new([TRANSIENT, TRANSIENT])), Ok(3));
    assert!(call(&mut Script::new([TRANSIENT; 3])).is_err());
}

struct Client {
    retries_on: bool,
    policy: Policy,
}

impl Client {
    #[retry(enabled = self.retries_on, max = 9, backoff = "none", attempt = attempt)]
    async fn number(&mut self, script: &mut Script) -> Result<usize, Failure> {
        // They may be switched off while the call runs.
        self.retries_on &= attempt.number() < 3;
        script.next()
    }

    #[retry(enabled = self.retries_on, policy = self.policy)]
    async fn beside(&self, script: &mut Script) -> Result<usize, Failure> {
        script.next()
    }

    #[retry(enabled = false, policy = self.policy, on = verdict)]
    fn never(&self, script: &mut Script) -> Result<usize, Failure> {
        script.next()
    }
}

#[tokio::test(start_paused = true)]
async fn an_expression_is_evaluated_at_each_failure() {
    for (retries_on, attempts) in [(true, 3), (false, 1)] {
        let mut script = Script::new([TRANSIENT; 9]);
        let mut client = Client {
            retries_on,
            policy: EAGER,
        };
        assert_eq!(client.number(&mut script).await, Err(TRANSIENT));
        assert_eq!(script.attempts, attempts);
    }
}

#[tokio::test(start_paused = true)]
async fn with_a_policy_both_must_be_enabled() {
    for (retries_on, policy, attempts) in [
        (true, EAGER, 11),
        (true, OFF, 1),
        (false, EAGER, 1),
        (false, OFF, 1),
    ] {
        let client = Client { retries_on, policy };
        let mut script = throttled();
        assert!(client.beside(&mut script).await.is_err());
        assert_eq!(script.attempts, attempts, "{retries_on} {policy}");
        let mut script = throttled();
        assert!(client.never(&mut script).is_err());
        assert_eq!(script.attempts, 1);
    }
}

#[test]
fn a_layer_turns_off_keys_it_does_not_contain() {
    #[retry(policy = policy)]
    fn call(script: &mut Script, policy: Policy) -> Result<usize, Failure> {
        script.next()
    }

    let command_line: Overrides = "enabled=false".parse().unwrap();
    let policy = EAGER.overridden_by(&command_line).unwrap();
    let mut script = throttled();
    assert!(call(&mut script, policy).is_err());
    assert_eq!(script.attempts, 1);
    let again = policy.overridden_by(&"enabled=true".parse().unwrap());
    assert_eq!(again, Ok(EAGER));
}

#[test]
fn is_a_key_of_text_and_tables() {
    let shown = OFF.to_string();
    assert_eq!(shown.parse(), Ok(OFF));
    assert!(
        shown.ends_with("max_hint=2m, enabled=false, throttled(max=10)"),
        "{shown}"
    );
    assert!(!EAGER.to_string().contains("enabled"));
    assert_eq!(OFF.enabled(true), EAGER);
    assert_eq!("enabled=true".parse(), Ok(Policy::new()));
    assert_eq!(OFF.delays().count(), 0);
    for table in ["enabled = false", "enabled = 'false'"] {
        let read: Policy = toml::from_str(table).unwrap();
        assert_eq!(read, Policy::new().enabled(false), "{table}");
    }
    let layer: Overrides = serde_json::from_str(r#"{"enabled":false}"#).unwrap();
    assert_eq!(layer.to_string(), "enabled=false");
    assert_eq!(
        serde_json::to_string(&layer).unwrap(),
        r#"{"enabled":false}"#
    );
    let later: Overrides = "enabled=true".parse().unwrap();
    assert_eq!(layer.overridden_by(&later), later);
    for (text, refused) in rows! {
        "enabled=no", "`enabled` can't be `no`: it takes `true` or `false`";
        "enabled=0", "`enabled` can't be `0`: it takes `true` or `false`";
        "enabled=[1s]", "`enabled` can't be `[…]`: it takes `true` or `false`";
    } {
        let error = text.parse::<Policy>().unwrap_err();
        assert_eq!(error.to_string(), refused);
    }
    let error = toml::from_str::<Policy>("enabled = 0").unwrap_err();
    assert!(
        error.message().starts_with("`enabled` can't be `0`"),
        "{error}"
    );
    let error = toml::from_str::<Policy>("max = true").unwrap_err();
    assert!(
        error.message().starts_with("`max` can't be `true`"),
        "{error}"
    );
}

#[test]
fn loops_of_users_end_too() {
    let site = Site::new(&OFF, "call");
    let mut call = Call::new();
    let told = call.failed(&site, Verdict::THROTTLED, &"busy");
    assert_eq!(told, Err(Reason::Exhausted));
    let told = call.failed_with(Failed::new(&site, Verdict::INVALID, &"busy").correctable());
    assert_eq!((told, call.attempt()), (Err(Reason::Exhausted), 1));
}

#[tokio::test(start_paused = true)]
async fn the_ends_are_those_of_a_call_without_retries() {
    scripted! {
        #[retry(enabled = false, on = verdict, give_up = |gave_up| {
            assert_eq!((gave_up.reason(), gave_up.attempts()), (Reason::Exhausted, 1));
            gave_up.into_error()
        })]
        fn shaped();
        #[retry(policy = OFF, fallback = async |gave_up| {
            assert_eq!((gave_up.reason(), gave_up.attempts()), (Reason::Exhausted, 1));
            Ok(7)
        })]
        async fn fallen_back();
    }

    #[retry(enabled = false, max = 9, attempt = attempt, until = |value| *value > 9)]
    fn rejected(seen: &mut Vec<(Option<u32>, bool)>) -> Result<usize, Failure> {
        seen.push((attempt.max(), attempt.is_last()));
        Ok(1)
    }

    #[retry(policy = OFF, timeout = "1s")]
    async fn dropped(attempts: &mut u32) -> Result<(), Failure> {
        *attempts += 1;
        pending().await
    }

    assert_eq!(shaped(&mut throttled()), Err(throttled_for(secs(5))));
    assert_eq!(fallen_back(&mut throttled()).await, Ok(7));
    let mut seen = Vec::new();
    assert_eq!(rejected(&mut seen), Ok(1));
    assert_eq!(seen, [(Some(0), true)]);
    let (start, mut attempts) = (Instant::now(), 0);
    assert_eq!(dropped(&mut attempts).await, Err(TIMEOUT));
    assert_eq!((attempts, start.elapsed()), (1, secs(1)));
}

#[tokio::test(start_paused = true)]
async fn disabled_calls_are_not_asked_again_or_corrected() {
    fn check(_: &usize) -> Result<(), Failure> {
        Err(THROTTLED)
    }

    async fn never(_: usize, _: &Failure) -> Result<usize, Failure> {
        panic!("corrected")
    }

    #[retry(enabled = false, validate = check, invalid(max = 5), on = verdict)]
    async fn asked(attempts: &mut u32) -> Result<usize, Failure> {
        *attempts += 1;
        Ok(1)
    }

    #[retry(policy = OFF, validate = check, correct = never)]
    async fn corrected(attempts: &mut u32) -> Result<usize, Failure> {
        *attempts += 1;
        Ok(1)
    }

    let mut attempts = 0;
    assert_eq!(asked(&mut attempts).await, Err(THROTTLED));
    assert_eq!(corrected(&mut attempts).await, Err(THROTTLED));
    assert_eq!(attempts, 2);
}

/// Counts its clones.
struct Prompt<'a>(&'a Cell<u32>);

impl Clone for Prompt<'_> {
    fn clone(&self) -> Self {
        self.0.set(self.0.get() + 1);
        Self(self.0)
    }
}

#[retry(wrapper = Retrying, enabled = false, max = 2, jitter = "none", on = |_| true)]
trait Model {
    async fn off(&self, prompt: Prompt<'_>) -> Result<u32, u32>;

    #[retry(enabled = true)]
    async fn on(&self, prompt: Prompt<'_>) -> Result<u32, u32>;

    #[retry(policy = EAGER)]
    async fn by_policy(&self, prompt: Prompt<'_>) -> Result<u32, u32>;
}

struct Busy(Cell<u32>);

impl Model for Busy {
    async fn off(&self, _: Prompt<'_>) -> Result<u32, u32> {
        self.0.set(self.0.get() + 1);
        Err(self.0.get())
    }

    async fn on(&self, prompt: Prompt<'_>) -> Result<u32, u32> {
        self.off(prompt).await
    }

    async fn by_policy(&self, prompt: Prompt<'_>) -> Result<u32, u32> {
        self.off(prompt).await
    }
}

#[tokio::test(start_paused = true)]
async fn decorators_heed_the_trait_the_method_and_the_policy() {
    let clones = Cell::new(0);
    let prompt = || Prompt(&clones);
    let busy = || Busy(Cell::new(0));
    let model = Retrying::new(busy());
    assert_eq!(model.off(prompt()).await, Err(1));
    assert_eq!(clones.take(), 0, "the first attempt is the last");
    let model = Retrying::new(busy());
    assert_eq!(model.on(prompt()).await, Err(3));
    assert_eq!(clones.take(), 2);
    let model = Retrying::new(busy());
    assert_eq!(model.by_policy(prompt()).await, Err(1));
    // The decorator's policy must be enabled, too.
    let model = Retrying::with_policy(busy(), EAGER);
    assert_eq!(model.off(prompt()).await, Err(1));
    let model = Retrying::with_policy(busy(), EAGER);
    assert_eq!(model.on(prompt()).await, Err(4));
    let model = Retrying::with_policy(busy(), OFF);
    clones.take();
    assert_eq!(model.on(prompt()).await, Err(1));
    assert_eq!(clones.take(), 0);
}

struct Block(u32);

#[retry(enabled = self.0 > 9, max = 2, backoff = "none", on = |_| true)]
impl Block {
    fn of_the_block(&mut self) -> Result<(), u32> {
        self.0 += 1;
        Err(self.0)
    }

    #[retry(enabled = true)]
    fn of_its_own(&mut self) -> Result<(), u32> {
        self.0 += 1;
        Err(self.0)
    }

    #[retry(policy = Policy::none().max(4))]
    fn by_policy(&mut self) -> Result<(), u32> {
        self.0 += 1;
        Err(self.0)
    }
}

#[test]
fn methods_inherit_enabled_from_their_block() {
    assert_eq!(Block(0).of_the_block(), Err(1));
    assert_eq!(Block(9).of_the_block(), Err(12));
    assert_eq!(Block(0).of_its_own(), Err(3));
    assert_eq!(Block(0).by_policy(), Err(1));
    assert_eq!(Block(9).by_policy(), Err(14));
}

#[test]
fn pauses_are_still_those_of_a_policy_that_is_on() {
    let policy = EAGER.enabled(true).max(2);
    let recording = testing::record();
    let _skipped = testing::skip_sleeps();
    let mut script = Script::new([TRANSIENT, THROTTLED]);
    assert_eq!(policy.call_blocking(|| script.next()), Ok(3));
    assert_eq!(recording.delays(), [millis(1000), millis(1000)]);
}

#[test]
fn a_disabled_call_does_not_report_failures_to_a_budget() {
    struct Calls(AtomicU32);

    impl retry_runtime::seam::RetryBudget for Calls {
        fn withdraw(&self, _: retry_runtime::Kind) -> bool {
            panic!("asked to pay")
        }

        fn refund(&self, _: retry_runtime::Kind) {}

        fn called(&self) {
            self.0.fetch_add(1, SeqCst);
        }

        fn failed(&self, kind: retry_runtime::Kind) {
            panic!("told of a failure: {kind}")
        }
    }

    #[retry(enabled = false, budget = calls, on = verdict)]
    fn body(calls: &Calls) -> Result<(), Failure> {
        Err(TRANSIENT)
    }

    #[retry(enabled = false, budget = calls, on = verdict, until = |()| false)]
    fn until(calls: &Calls) -> Result<(), Failure> {
        Ok(())
    }

    #[retry(enabled = false, budget = calls, on = verdict, validate = |()| Err(TRANSIENT))]
    fn validated(calls: &Calls) -> Result<(), Failure> {
        Ok(())
    }

    let calls = Calls(AtomicU32::new(0));
    assert_eq!(body(&calls), Err(TRANSIENT));
    assert_eq!(until(&calls), Ok(()));
    assert_eq!(validated(&calls), Err(TRANSIENT));
    assert_eq!(calls.0.load(SeqCst), 3);
}
