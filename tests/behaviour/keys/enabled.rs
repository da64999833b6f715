//! `enabled = false` means one attempt, even if other keys are set.

#![allow(async_fn_in_trait)]

use retry_runtime::configuration::Overrides;
use support::prelude::*;
use support::turns::Turns;

/// Retries throttled attempts 10 times, with any `max`.
const EAGER: Policy = Policy::new()
    .jitter(Jitter::None)
    .throttled(Section::new().max(10));
const OFF: Policy = EAGER.enabled(false);

fn verdict(failure: &Failure) -> Verdict {
    failure.0
}

#[tokio::test(start_paused = true)]
async fn an_expression_is_evaluated_at_each_failure() {
    struct Client {
        retries_on: bool,
    }

    impl Client {
        #[retry(enabled = self.retries_on, max = 9, backoff = "none", attempt = attempt)]
        async fn number(&mut self, script: &mut Script) -> Result<usize, Failure> {
            // They may be switched off while the call runs.
            self.retries_on &= attempt.number() < 3;
            script.next()
        }
    }

    for (retries_on, attempts) in [(true, 3), (false, 1)] {
        let mut client = Client { retries_on };
        let ran = run!([TRANSIENT; 9], |script| client.number(script).await);
        assert_eq!(ran, (Err(TRANSIENT), attempts));
    }
}

#[test]
fn is_a_key_of_text_and_tables() {
    let shown = OFF.to_string();
    assert_eq!(shown.parse(), Ok(OFF));
    let end = "max_hint=2m, enabled=false, throttled(max=10)";
    assert!(shown.ends_with(end), "{shown}");
    assert!(!EAGER.to_string().contains("enabled"));
    assert_eq!(OFF.enabled(true), EAGER);
    assert_eq!("enabled=true".parse(), Ok(Policy::new()));
    assert_eq!(OFF.delays().count(), 0);
    for table in ["enabled = false", "enabled = 'false'"] {
        let read: Policy = toml::from_str(table).unwrap();
        assert_eq!(read, Policy::new().enabled(false), "{table}");
    }
    let json = r#"{"enabled":false}"#;
    let layer: Overrides = serde_json::from_str(json).unwrap();
    assert_eq!(layer.to_string(), "enabled=false");
    assert_eq!(serde_json::to_string(&layer).unwrap(), json);
    let later: Overrides = "enabled=true".parse().unwrap();
    // A layer turns off keys that it does not contain.
    assert_eq!(EAGER.overridden_by(&layer), Ok(OFF));
    assert_eq!(OFF.overridden_by(&later), Ok(EAGER));
    assert_eq!(layer.overridden_by(&later), later);
    for (text, refused) in rows! {
        "enabled=no", "`enabled` can't be `no`: it takes `true` or `false`";
        "enabled=[1s]", "`enabled` can't be `[…]`: it takes `true` or `false`";
    } {
        let error = text.parse::<Policy>().unwrap_err();
        assert_eq!(error.to_string(), refused);
    }
    for (table, refused) in rows! {
        "enabled = 0", "`enabled` can't be `0`";
        "max = true", "`max` can't be `true`";
    } {
        let error = toml::from_str::<Policy>(table).unwrap_err();
        assert!(error.message().starts_with(refused), "{error}");
    }
}

#[test]
fn the_only_attempt_is_the_last() {
    scripted! {
        #[retry(enabled = false, max = 9, attempt = attempt, until = |value| value.0 == Some(9), name = "call")]
        fn rejected() -> Result<(Option<u32>, bool), Failure> = Ok((attempt.max(), attempt.is_last()));
    }

    let recording = testing::record();
    assert_eq!(rejected(), Ok((Some(0), true)));
    let line = "gave up call attempt=1 max=0 error=value rejected reason=exhausted";
    assert_eq!(recording.lines(), [line]);
}

#[tokio::test(start_paused = true)]
async fn disabled_calls_are_not_asked_again_or_corrected() {
    async fn never(_: usize, _: &Failure) -> Result<usize, Failure> {
        panic!("corrected")
    }

    scripted! {
        #[retry(enabled = false, validate = |_| Err(THROTTLED), invalid(max = 5), on = verdict)] async fn asked();
        #[retry(policy = OFF, validate = |_| Err(THROTTLED), correct = never)] async fn corrected();
    }

    assert_rows! {
        run!([], |script| asked(script).await) => (Err(THROTTLED), 1);
        run!([], |script| corrected(script).await) => (Err(THROTTLED), 1);
    }
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
}

#[tokio::test(start_paused = true)]
async fn decorators_heed_the_trait_the_method_and_the_policy() {
    let clones = Cell::new(0);
    let prompt = || Prompt(&clones);
    let busy = || Busy(Cell::new(0));
    let by_policy = |policy| Retrying::with_policy(busy(), policy);
    assert_eq!(Retrying::new(busy()).off(prompt()).await, Err(1));
    assert_eq!(clones.take(), 0, "the first attempt is the last");
    assert_eq!(Retrying::new(busy()).on(prompt()).await, Err(3));
    assert_eq!(clones.take(), 2);
    // The decorator's policy must be enabled, too.
    assert_eq!(by_policy(EAGER).off(prompt()).await, Err(1));
    assert_eq!(by_policy(EAGER).on(prompt()).await, Err(4));
    clones.take();
    assert_eq!(by_policy(OFF).on(prompt()).await, Err(1));
    assert_eq!(clones.take(), 0);
}

struct Block(u32);

#[retry(enabled = self.0 > 9, max = 2, backoff = "none", on = |_| true)]
impl Block {
    fn of_the_block(&mut self) -> Result<(), u32> {
        fail(&mut self.0)
    }

    #[retry(policy = Policy::none().max(4))]
    fn by_policy(&mut self) -> Result<(), u32> {
        fail(&mut self.0)
    }
}

fn fail(attempts: &mut u32) -> Result<(), u32> {
    *attempts += 1;
    Err(*attempts)
}

#[test]
fn methods_inherit_enabled_from_their_block() {
    assert_rows! {
        Block(0).of_the_block() => Err(1);
        Block(9).of_the_block() => Err(12);
        Block(0).by_policy() => Err(1);
        Block(9).by_policy() => Err(14);
    }
}

#[test]
fn a_disabled_call_does_not_report_failures_to_a_budget() {
    scripted! {
        #[retry(enabled = false, budget = turns, on = verdict)] fn body(turns: &Turns) = Err(TRANSIENT);
        #[retry(enabled = false, budget = turns, on = verdict, until = |()| false)] fn until(turns: &Turns) = Ok(());
        #[retry(enabled = false, budget = turns, on = verdict, validate = |()| Err(TRANSIENT))]
        fn validated(turns: &Turns) = Ok(());
    }

    let turns = Turns::new(9);
    let outcomes = [body(&turns), until(&turns), validated(&turns)];
    assert_eq!(outcomes, [Err(TRANSIENT), Ok(()), Err(TRANSIENT)]);
    assert_eq!(turns.notes(), ["called"; 3]);
}
