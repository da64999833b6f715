//! The key `policy` with policies that are found by name, and with policies that change while calls run.

use retry_runtime::configuration::Overrides;
use retry_runtime::{Policies, SharedPolicy};
use support::prelude::*;

fn named(text: &str) -> Overrides {
    text.parse().unwrap()
}

const FILE: &str = "
default = { max = 2, backoff = 'fixed', jitter = 'none' }

[anthropic]
base = '5s'
throttled = { max = 3 }

[\"anthropic.complete\"]
base = '7s'
";

#[test]
fn the_longer_name_is_laid_over_the_shorter() {
    let policies: Policies = toml::from_str(FILE).unwrap();
    let of_default = "max=2, backoff=fixed, jitter=none";
    let of_anthropic = "max=2, backoff=fixed, jitter=none, base=5s, throttled(max=3)";
    let of_complete = "max=2, backoff=fixed, jitter=none, base=7s, throttled(max=3)";
    for (name, expected) in [
        ("redis.get", of_default),
        ("", of_default),
        ("anthropic", of_anthropic),
        ("anthropic.count", of_anthropic),
        ("anthropic::count", of_anthropic),
        ("anthropic2.count", of_default),
        ("anthropic_beta", of_default),
        ("my.anthropic", of_default),
        ("anthropic.complete", of_complete),
        ("anthropic.completeness", of_anthropic),
    ] {
        assert_eq!(policies.find(name), expected.parse().unwrap(), "{name}");
    }
    // In any order.
    let reversed = Policies::of([
        ("anthropic.complete", named("base=7s")),
        ("anthropic", named("base=5s, throttled(max=3)")),
        ("default", named("max=2, backoff=fixed, jitter=none")),
    ])
    .unwrap();
    for name in ["redis.get", "anthropic.count", "anthropic.complete"] {
        assert_eq!(reversed.find(name), policies.find(name), "{name}");
    }
}

struct Client(Arc<Policies>);

const OWN: Policy = Policy::new().max(5).base(secs(1));

#[retry(policy = self.0, name = "anthropic")]
impl Client {
    async fn complete(&self, script: &mut Script) -> Result<usize, Failure> {
        script.next()
    }

    fn count(&self, script: &mut Script) -> Result<usize, Failure> {
        script.next()
    }

    #[retry(policy = self.0.over(OWN), name = "archive")]
    async fn upload(&self, script: &mut Script) -> Result<usize, Failure> {
        script.next()
    }
}

#[tokio::test(start_paused = true)]
async fn a_call_has_the_entries_of_its_name() {
    let client = Client(Arc::new(toml::from_str(FILE).unwrap()));
    let recording = testing::record();
    let failing = [THROTTLED; 9];
    let ran = run!(failing, |script| client.complete(script).await);
    assert_eq!(ran, (Err(THROTTLED), 4));
    assert_eq!(recording.delays(), [secs(7); 3]);

    let skipped = testing::skip_sleeps();
    let ran = run!([TRANSIENT; 9], |script| client.count(script));
    assert_eq!((ran, skipped.total()), ((Err(TRANSIENT), 3), secs(10)));
    drop(skipped);

    // Over what the function has of its own.
    let recording = testing::record();
    let failing = [TRANSIENT; 9];
    let ran = run!(failing, |script| is_send(client.upload(script)).await);
    assert_eq!(ran, (Err(TRANSIENT), 3));
    assert_eq!(recording.delays(), [secs(1); 2]);
}

scripted! {
    #[retry(policy = policies.over(Policy::new().enabled(false)), name = "redis")] fn once(policies: &Policies);
}

#[test]
fn the_top_level_switch_overrides_all_entries() {
    for switch in ["enabled = false", "enabled = 'false'"] {
        let file = format!("{switch}\n[anthropic]\nenabled = true\nthrottled = {{ max = 3 }}");
        let client = Client(Arc::new(toml::from_str(&file).unwrap()));
        let ran = run!([THROTTLED], |script| client.count(script));
        assert_eq!(ran, (Err(THROTTLED), 1));
    }
    // Back on, the switch leaves what one entry, or the function itself, switches off.
    let policies: Policies =
        toml::from_str("enabled = true\n[anthropic]\nenabled = false").unwrap();
    assert_eq!(policies.find("anthropic"), Policy::new().enabled(false));
    // The same for another source, which overrides the file.
    for file in [
        "[anthropic]\nenabled = false",
        "enabled = false\n[anthropic]\nenabled = false",
    ] {
        let policies = toml::from_str::<Policies>(file).unwrap();
        let policies = policies.overridden_by(&named("enabled=true")).unwrap();
        assert_eq!(policies.find("anthropic"), Policy::new().enabled(false));
        assert_eq!(policies.find("redis"), Policy::new());
        let ran = run!([TRANSIENT], |script| once(&policies, script));
        assert_eq!(ran, (Err(TRANSIENT), 1));
    }
    let policies = toml::from_str::<Policies>("[anthropic]\nmax = 9").unwrap();
    let policies = policies.overridden_by(&named("max=1")).unwrap();
    assert_eq!(policies.find("anthropic"), Policy::new().max(1));
    assert_eq!(policies.find("redis"), Policy::new().max(1));
}

#[test]
fn an_entry_that_matches_no_call_is_reported() {
    let names = ["anthropic.count", "anthropic.cuont"];
    let policies = Policies::of(names.map(|name| (name, named("max=9")))).unwrap();
    let policies = Arc::new(policies);
    assert_eq!(policies.unused().count(), 2);
    let client = Client(Arc::clone(&policies));
    assert_eq!(client.count(&mut Script::new([])), Ok(1));
    assert_eq!(policies.unused().collect::<Vec<_>>(), ["anthropic.cuont"]);
    let calls = ["anthropic.count", "anthropic.complete"];
    let error = policies.check_names(&calls).unwrap_err();
    let message = "no call is named `anthropic.cuont`: did you mean `anthropic.count`?";
    assert_eq!(error.to_string(), message);
    let fitting = toml::from_str::<Policies>(FILE).unwrap();
    assert_eq!(fitting.check_names(&calls), Ok(()));
}

#[test]
fn contradictory_entries_are_rejected() {
    for (file, message) in rows! {
        "default = { base = '9s' }\nredis = { cap = '3s' }",
            "in `redis`: `base = 9s` is above `cap = 3s`: lower the first or raise the second";
        "redis = { throttled = { base = '9s' }, cap = '3s' }",
            "in `redis`: `throttled.base = 9s` is above `cap = 3s`: lower the first or raise the second";
        "redis = { backoff = ['1s'], base = '3s' }",
            "in `redis`: `base` has no effect with a list of delays: remove one of them";
        "redis = { maxx = 3 }", "in `redis`: unknown key `maxx`: did you mean `max`?";
        "enabled = 3", "`enabled` can't be `3`: it takes `true` or `false`";
        "max = 3", "`max` is not the name of a call: write it in `default`, for all calls";
        "redis = 3", "`redis` can't be `3`: it takes keys, as in `max = 5`";
        "throttled = { max = 3 }",
            "`throttled` is not the name of a call: write it in `default`, for all calls";
    } {
        let error = toml::from_str::<Policies>(file).unwrap_err();
        assert_eq!(error.message(), message, "{file}");
    }
    // The error points at its own entry, not at the first.
    let file = "[default]\nmax = 2\n[redis]\nbase = '9s'\ncap = '3s'\n";
    let error = toml::from_str::<Policies>(file).unwrap_err();
    let place = &file[error.span().expect("a place")];
    assert!(place.starts_with("[redis]"), "{place}");
    let error = Policies::of([("enabled", named("max=1"))]).unwrap_err();
    let expected = "`enabled` is not the name of a call: write it in `default`, for all calls";
    assert_eq!(error.to_string(), expected);
    let twice = [("redis", named("max=1")), ("redis", named("max=2"))];
    let error = Policies::of(twice).unwrap_err();
    assert_eq!(error.to_string(), "`redis` is given twice: keep one");
    for name in ["redis.*", "redis::", "*", ""] {
        let error = Policies::of([(name, named("max=1"))]).unwrap_err();
        let advice = "write the beginning of a name, as in `redis`, or `default`, for all calls";
        let message = format!("no call is named `{name}`: {advice}");
        assert_eq!(error.to_string(), message);
    }
    // A `cap` below the default `base` may be below a call's own, or not: then both are the same.
    let policies: Policies = toml::from_str("redis = { cap = '500ms' }").unwrap();
    let recording = testing::record();
    let _skipped = testing::skip_sleeps();
    assert_eq!(quick(&policies, &mut Script::new([TRANSIENT])), Ok(2));
    assert_eq!(recording.delays(), [millis(100)]);
}

const QUICK: Policy = Policy::fixed(millis(100)).jitter(Jitter::None);

scripted! { #[retry(policy = policies.over(QUICK), name = "redis")] fn quick(policies: &Policies); }

static SHARED: SharedPolicy = SharedPolicy::new(Policy::fixed(secs(1)).max(5));
static NAMED: SharedPolicy<Policies> = SharedPolicy::new(Policies::new());

scripted! {
    #[retry(policy = SHARED)]
    async fn shared(script: &mut Script, at: usize) -> Result<usize, Failure> = {
        if script.attempts == at {
            SHARED.store(SHARED.load().max(2));
        }
        script.next()
    };
    #[retry(policy = NAMED.over(OWN), name = "redis")] fn by_name();
}

#[tokio::test(start_paused = true)]
async fn a_running_call_uses_a_newly_stored_policy() {
    SHARED.store(Policy::fixed(secs(1)).max(5));
    assert_rows! {
        run!([TRANSIENT; 9], |script| shared(script, usize::MAX).await) => (Err(TRANSIENT), 6);
        run!([TRANSIENT; 9], |script| is_send(shared(script, 1)).await) => (Err(TRANSIENT), 3);
    }
}

#[test]
fn named_policies_change_while_the_program_runs() {
    let _skipped = testing::skip_sleeps();
    let attempts = || run!([TRANSIENT; 9], |script| by_name(script)).1;
    // Without an entry, the call has its own numbers.
    assert_eq!(attempts(), 6);
    NAMED.store(toml::from_str("redis = { max = 1 }").unwrap());
    assert_eq!(attempts(), 2);
    assert_eq!(NAMED.read(|policies| policies.unused().count()), 0);
    NAMED.store(toml::from_str("enabled = false").unwrap());
    assert_eq!(attempts(), 1);
}

#[tokio::test(start_paused = true)]
async fn limits_of_time_are_found_by_name() {
    scripted! {
        #[retry(policy = policies, timeout, name = "slow")] async fn slow(policies: &Policies) = pending().await;
    }

    let file =
        "slow = { max = 9, backoff = 'fixed', jitter = 'none', timeout = '2s', deadline = '10s' }";
    let policies: Policies = toml::from_str(file).unwrap();
    let start = Instant::now();
    assert_eq!(slow(&policies).await, Err(TIMEOUT));
    // Attempts from 0 to 2, 3 to 5, 6 to 8 and 9 to 11 s.
    assert_eq!(start.elapsed(), secs(11));
}

static EVERYWHERE: SharedPolicy<Policies> = SharedPolicy::new(Policies::new());

#[retry(wrapper = Retrying, policy = EVERYWHERE)]
trait Model {
    fn complete(&self) -> Result<usize, Failure>;
}

struct Opus(RefCell<Script>);

impl Model for Opus {
    fn complete(&self) -> Result<usize, Failure> {
        self.0.borrow_mut().next()
    }
}

#[test]
fn decorators_and_blocks_are_found_by_their_names() {
    let _skipped = testing::skip_sleeps();
    let file = "
        Opus = { max = 1 }
        'calls::keys::policies::decorators_and_blocks_are_found_by_their_names' = { max = 2 }
    ";
    EVERYWHERE.store(toml::from_str(file).unwrap());
    let model = Retrying::new(Opus(RefCell::new(Script::failing())));
    assert_eq!(model.complete(), Err(TRANSIENT));
    assert_eq!(model.into_inner().0.into_inner().attempts, 2);
    let mut attempts = 0;
    let outcome: Result<(), _> = retrying!(policy = &EVERYWHERE, {
        attempts += 1;
        Err(TRANSIENT)
    });
    assert_eq!((outcome, attempts), (Err(TRANSIENT), 3));
    assert_eq!(EVERYWHERE.read(|policies| policies.unused().count()), 0);
}

/// The settings of shared protections are next to the policies.
#[test]
fn an_entry_may_set_its_breaker_and_limiter() {
    let text = "default(max=1, breaker(ratio=0.9, open_for=10s)), model(breaker(ratio=0.5), \
        limiter(least=2, most=3)), model.slow(limiter(most=2)), modle(limiter(most=1)), other(max=1)";
    let file = "
        default = { max = 1, breaker = { ratio = 0.9, open_for = '10s' } }
        model = { breaker = { ratio = 0.5 }, limiter = { least = 2, most = 3 } }
        'model.slow' = { limiter = { most = 2 } }
        modle = { limiter = { most = 1 } }
        other = { max = 1 }
    ";
    for policies in [
        text.parse::<Policies>().unwrap(),
        toml::from_str::<Policies>(file).unwrap(),
    ] {
        for (name, breaker, limiter) in [
            ("other", "ratio=0.9, open_for=10s", ""),
            ("model", "ratio=0.5, open_for=10s", "least=2, most=3"),
            ("model.slow", "ratio=0.5, open_for=10s", "least=2, most=2"),
        ] {
            assert_eq!(policies.breaker(name), breaker.parse().unwrap(), "{name}");
            assert_eq!(policies.limiter(name), limiter.parse().unwrap(), "{name}");
        }
        assert_eq!(policies.find("model"), Policy::new().max(1));
        let unused: Vec<_> = policies.unused().collect();
        assert_eq!(unused, ["modle", "other"]);
    }
    for (text, message) in rows! {
        "model(braker(ratio=0.8))", "in `model`: unknown key `braker`: did you mean `breaker`?";
        "model(breaker=0.8)",
            "in `model`: `breaker` can't be `0.8`: it takes keys, as in `ratio = 0.8`";
        "model(limiter(most=5), limiter(most=6))", "in `model`: `limiter` is given twice: keep one";
        "default(limiter(least=5)), model(limiter(most=2))",
            "in `model`: `least = 5` is above `most = 2`";
    } {
        let error = text.parse::<Policies>().unwrap_err();
        assert_eq!(error.to_string(), message, "{text}");
    }
    for (file, at, message) in rows! {
        "[model]\nmax = 2\nbreaker = { open_for = '1s', ratio = 1.5 }",
            "1.5",
            "in `model`: `breaker.ratio = 1.5` is out of range: it takes a number above 0, and at most 1";
        "[model.limiter]\nleast = 1\nmost = 0", "0",
            "in `model`: `limiter.most = 0` is out of range: it takes a whole number from 1 up";
        "[model.limiter]\nmots = 5", "5",
            "in `model`: unknown key `mots` in `limiter(…)`: did you mean `most`?";
    } {
        let error = toml::from_str::<Policies>(file).unwrap_err();
        let place = error.span().expect("a place");
        assert_eq!((&file[place], error.message()), (at, message));
    }
}
