//! Installed policies, which override the policies of all calls. They are global, so the tests run one at a time, in a
//! separate process.

#[path = "conformance/microprofile/configured.rs"]
mod configured;

use std::sync::{MutexGuard, PoisonError};

use retry_runtime::Policies;
use retry_runtime::testing::Script;
use support::prelude::*;

/// Holds the turn of a test, and takes back what it installed.
struct Turn(#[expect(dead_code, reason = "held")] MutexGuard<'static, ()>);

fn turn() -> Turn {
    static TURN: Mutex<()> = Mutex::new(());
    Turn(TURN.lock().unwrap_or_else(PoisonError::into_inner))
}

impl Drop for Turn {
    fn drop(&mut self) {
        Policies::new().install().unwrap();
    }
}

fn install(text: &str) {
    text.parse::<Policies>().unwrap().install().unwrap();
}

fn failures(times: u32) -> Script<(), Failure> {
    testing::fail_times(times, TRANSIENT)
}

scripted! {
    #[retry(max = 5, base = "1s", jitter = "none", name = "installed.plain")]
    async fn plain(server: &Script<(), Failure>) = server.next();
    #[retry(max = most, base = "1s", jitter = "none", name = "installed.numbers")]
    async fn numbers(server: &Script<(), Failure>, most: u32) = server.next();
    #[retry(max = 5, base = "1s", jitter = "none", attempt = _attempt, name = "installed.bound")]
    async fn bound(server: &Script<(), Failure>) = server.next();
    #[retry(policy = policy, name = "installed.policy")]
    async fn with_policy(server: &Script<(), Failure>, policy: &Policy) = server.next();
}

const OWN: Policy = Policy::new().max(5).jitter(Jitter::None);

/// Makes a call in each form to a server that never responds. Returns the number of attempts and the duration.
async fn forms() -> Vec<(&'static str, u32, u64)> {
    let mut made = Vec::new();
    macro_rules! call {
        ($form:literal, $server:ident, $call:expr) => {
            let ($server, start) = (failures(99), Instant::now());
            assert!($call.await.is_err());
            made.push(($form, $server.attempts(), start.elapsed().as_secs()));
        };
    }
    call!("plain", server, plain(&server));
    call!("numbers", server, numbers(&server, 5));
    call!("bound", server, bound(&server));
    call!("policy", server, with_policy(&server, &OWN));
    call!("expression", server, {
        retrying!(
            max = 5,
            jitter = "none",
            name = "installed.expression",
            async { server.next() }
        )
    });
    call!("chain", server, {
        OWN.name("installed.chain").call(async || server.next())
    });
    call!("batch", server, async {
        let send = async |items: Vec<u8>| {
            let answer = server.next();
            Ok(items.iter().map(|_| answer.clone()).collect())
        };
        let results = retry_each(OWN.name("installed.batch"), [1], send).await;
        results.into_iter().collect::<Result<Vec<()>, _>>()
    });
    made
}

#[tokio::test(start_paused = true)]
async fn every_form_uses_the_installed_policies() {
    let _turn = turn();
    let all = |attempts, seconds| {
        move |made: Vec<(&str, u32, u64)>| {
            for (form, made, took) in made {
                assert_eq!((made, took), (attempts, seconds), "{form}");
            }
        }
    };
    let own = all(6, 1 + 2 + 4 + 8 + 16);
    own(forms().await);
    install("installed(max=2)");
    all(3, 1 + 2)(forms().await);
    // The longer name wins, key by key.
    install("default(max=1), installed(max=3, backoff=fixed), other(max=9)");
    all(4, 3)(forms().await);
    install("installed(enabled=false)");
    all(1, 0)(forms().await);
    install("enabled=false, installed(max=2)");
    all(1, 0)(forms().await);
    install("other(enabled=false)");
    own(forms().await);
    install("");
    own(forms().await);
}

#[tokio::test(start_paused = true)]
async fn a_default_is_for_what_a_function_does_not_set() {
    scripted! {
        #[retry(name = "installed.unset", jitter = "none")]
        async fn unset(server: &Script<(), Failure>) = server.next();
        #[retry(max = 2, backoff = "fixed", base = "5s", jitter = "none", name = "installed.slow")]
        async fn slow(server: &Script<(), Failure>) = server.next();
    }

    let _turn = turn();
    for (text, attempts) in [
        // The attempts of `plain`, whose `max` is 5, and of `unset`.
        ("installed?(max=1)", [6, 2]),
        ("default?(max=1)", [6, 2]),
        ("installed?(max=1), default?(max=2)", [6, 2]),
        ("installed?(max=1), default(max=2)", [3, 3]),
        ("installed.plain?(max=1), installed.unset?(max=7)", [6, 8]),
        ("installed?(transient(max=1))", [6, 2]),
        ("installed?(enabled=false)", [1, 1]),
        ("installed(max=2), installed?(max=1, hint=ignore)", [3, 3]),
    ] {
        install(text);
        let (one, other) = (failures(99), failures(99));
        assert!(plain(&one).await.is_err() && unset(&other).await.is_err());
        assert_eq!([one.attempts(), other.attempts()], attempts, "{text}");
    }
    for (text, attempts, seconds) in [
        ("default?(backoff=[1s, 2s])", 3, 10),
        ("default?(cap=1s)", 3, 10),
        ("default?(floor=20s, jitter=equal)", 3, 10),
        ("default?(transient(max=9, base=1s))", 3, 10),
        ("default?(cap=1s), default(cap=2s)", 3, 4),
    ] {
        install(text);
        let (server, start) = (failures(99), Instant::now());
        assert!(slow(&server).await.is_err());
        let made = (server.attempts(), start.elapsed().as_secs());
        assert_eq!(made, (attempts, seconds), "{text}");
    }
    assert!("?(max=1)".parse::<Policies>().is_err());
    assert!("throttled?(max=1)".parse::<Policies>().is_err());
    let error = "default??(max=1)".parse::<Policies>().unwrap_err();
    assert_eq!(
        error.to_string(),
        "no call is named `default??`: write the beginning of a name, as in `redis`, or `default`, for all calls"
    );
}

#[tokio::test(start_paused = true)]
async fn a_running_call_uses_newly_installed_policies() {
    let _turn = turn();
    let (server, recording) = (failures(99), testing::record());
    let call = plain(&server);
    let switch = async {
        sleep(Duration::from_millis(1_500)).await;
        install("installed.plain(max=2)");
    };
    let (outcome, ()) = tokio::join!(call, switch);
    assert!(outcome.is_err());
    let expected = [
        "retrying installed.plain attempt=1 max=5 delay=1s error=transient reason=transient",
        "retrying installed.plain attempt=2 max=5 delay=2s error=transient reason=transient",
        "gave up installed.plain attempt=3 max=2 error=transient reason=exhausted",
    ];
    assert_eq!(recording.lines(), expected);
    // A success logs the `max` that applied, too.
    install("installed(max=9)");
    let recording = testing::record();
    plain(&failures(1)).await.unwrap();
    numbers(&failures(1), 5).await.unwrap();
    let lines = recording.lines();
    for last in [&lines[1], &lines[3]] {
        assert!(last.ends_with("attempt=2 max=9"), "{last}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_function_with_a_single_count_keeps_it() {
    let _turn = turn();
    install("installed(throttled(max=3, base=0s, cap=0s))");
    for (outcomes, attempts) in rows! {
        // Two others before it: a third retry, and no fourth.
        vec![TRANSIENT, TRANSIENT, THROTTLED, THROTTLED, THROTTLED], 4;
        vec![THROTTLED; 9], 4;
        vec![TRANSIENT; 9], 6;
    } {
        let server = testing::sequence(outcomes.into_iter().map(Err::<(), _>));
        assert!(plain(&server).await.is_err());
        assert_eq!(server.attempts(), attempts);
    }
}

#[tokio::test(start_paused = true)]
async fn no_hedge_starts_if_retries_are_off() {
    #[retry(hedge = "1s", max = 2, name = "installed.hedged", on = |_| Verdict::TRANSIENT)]
    async fn hedged(begun: &Cell<u32>) -> Result<(), Failure> {
        begun.set(begun.get() + 1);
        sleep(Duration::from_secs(10)).await;
        Ok(())
    }

    let _turn = turn();
    for (text, expected) in [
        ("", 3),
        ("installed(max=1)", 2),
        ("installed(transient(max=1))", 2),
        ("installed(enabled=false)", 1),
    ] {
        install(text);
        let begun = Cell::new(0);
        hedged(&begun).await.unwrap();
        assert_eq!(begun.get(), expected, "{text}");
    }
}

#[tokio::test(start_paused = true)]
async fn protections_record_calls_with_retries_off() {
    let _turn = turn();
    install("installed(enabled=false)");
    let breaker = Breaker::new().consecutive_failures(2);
    let policy = OWN.name("installed.shared").breaker(&breaker);
    let fail = async |_| Ok(vec![Err::<(), _>(TRANSIENT)]);
    let results = retry_each(policy, [()], fail).await;
    assert_eq!(results[0].as_ref().unwrap_err().reason(), Reason::Exhausted);
    assert_eq!(breaker.state(), BreakerState::Closed);
    let mut plan = Plan::<(), Failure>::new();
    plan.add("a", [], async |[]| Err(TRANSIENT));
    let end = plan.run_until(policy, async |_| Validity::Invalid("none".into()));
    assert_eq!(end.await.unwrap().to_string(), "gave up (exhausted): none");
    assert_eq!(breaker.state(), BreakerState::Open);
}

#[tokio::test(start_paused = true)]
async fn a_plan_waits_as_long_as_an_installed_hint_may_be() {
    let _turn = turn();
    install("installed(max_hint=10m)");
    let server = testing::fail_times(1, throttled_for(Duration::from_mins(5)));
    let (server, start): (&Script<(), Failure>, _) = (&server, Instant::now());
    let mut plan = Plan::local();
    plan.add("a", [], async move |[]| server.next());
    let end = plan.run_until(OWN.name("installed.p"), async |results| {
        match results.output("a") {
            Some(()) => Validity::Valid,
            None => Validity::Invalid("none".into()),
        }
    });
    assert!(end.await.unwrap().is_valid());
    assert_eq!(start.elapsed().as_secs(), 300);
}

#[tokio::test(start_paused = true)]
async fn sites_are_listed_from_their_first_failure() {
    scripted! {
        #[retry(max = 5, jitter = "none", name = name)]
        async fn listed(server: &Script<(), Failure>, name: &str) = server.next();
    }
    let named = || {
        let all = retry_runtime::sites().into_iter();
        let named = all.filter(|site| site.name.starts_with("listed"));
        let lines = named.map(|site| site.to_string().split(", ").next().map(str::to_owned));
        lines.collect::<Option<Vec<_>>>().unwrap()
    };

    let _turn = turn();
    listed(&failures(0), "listed.succeeds").await.unwrap();
    assert!(named().is_empty());
    install("listed.b(max=2)");
    for (name, failed) in [("listed.b", 9), ("listed.a", 1), ("listed.b", 1)] {
        let _ = listed(&failures(failed), name).await;
    }
    let expected = [
        "listed.a failures=1 retries=1 max=5",
        "listed.b failures=4 retries=3 max=2",
    ];
    assert_eq!(named(), expected);
    // Names that callers choose: cut, without secrets, and together once they are too many.
    let _ = listed(&failures(1), "listed.c/v1?key=SECRET").await;
    for digit in [1, 2] {
        let _ = listed(&failures(1), &format!("listed.{}{digit}", "d".repeat(300))).await;
    }
    let long = format!("listed.{}… (148 bytes cut)", "d".repeat(153));
    let expected = [
        String::from("listed.c/v1 failures=1 retries=1 max=5"),
        format!("{long} failures=2 retries=2 max=5"),
    ];
    assert_eq!(named()[2..], expected);
    // A round counts once for all items that failed alike, a value that is not there yet as a failure.
    let send = async |items: Vec<u8>| {
        let fail = |item| Err(if item > 2 { THROTTLED } else { TRANSIENT });
        Ok(items.into_iter().map(fail).collect())
    };
    let batch = Policy::new().max(1).name("listed.rounds");
    let _: Vec<Result<(), _>> = retry_each(batch, [1, 2, 3, 4], send).await;
    let polled = Policy::new().max(5).name("listed.until");
    let polls = testing::sequence([Ok(1), Ok(2), Ok(3)]);
    let polled = polled.until(|value| *value == 3);
    let _: Result<_, Failure> = polled.call(async || polls.next()).await;
    let expected = [
        "listed.rounds failures=4 retries=2 max=1",
        "listed.until failures=2 retries=2 max=5",
    ];
    assert_eq!(named()[4..], expected);
    for number in 0..1100 {
        let _ = listed(&failures(1), &format!("many.{number}")).await;
    }
    let all = retry_runtime::sites();
    assert_eq!((all.len(), &*all[0].name), (1001, "(others)"));
    let many = all.iter().filter(|site| site.name.starts_with("many."));
    assert_eq!(many.count() as u64 + all[0].failures, 1100);
}

/// The server responded, so the retry is refunded.
#[tokio::test(start_paused = true)]
async fn turning_retries_off_during_a_retry_refunds_the_budget() {
    let _turn = turn();
    install("");
    let (budget, attempts) = (Budget::standard(), Cell::new(0));
    let policy = OWN.name("installed.paid").budget(&budget);
    let called = policy.call(async || {
        attempts.set(attempts.get() + 1);
        if attempts.get() == 1 {
            return Err::<(), _>(TRANSIENT);
        }
        install("installed(enabled=false)");
        Err(STOP)
    });
    assert_eq!(called.await, Err(STOP));
    let expected = (2, "500".into());
    assert_eq!((attempts.get(), budget.available().to_string()), expected);
}

#[test]
fn a_function_with_retries_off_stays_off() {
    static BREAKER: Breaker = Breaker::new().consecutive_failures(3);

    scripted! {
        #[retry(max = 5, enabled = false, breaker = &BREAKER, name = "installed.off")]
        fn off() = Err(TRANSIENT);
    }

    let _turn = turn();
    install("default(enabled=true)");
    let recording = testing::record();
    assert_eq!(off(), Err(TRANSIENT));
    let expected = ["gave up installed.off attempt=1 max=0 error=transient reason=exhausted"];
    assert_eq!(recording.lines(), expected);
}

#[test]
fn invalid_policies_are_not_installed() {
    let _turn = turn();
    install("installed(max=7)");
    let of_time = |key: &str| {
        format!(
            "{key} can't be installed, because a function measures the time only if it sets the key itself: give the function `policy = …`"
        )
    };
    for (text, message) in rows! {
        "installed(max=1, deadline=5s)", &*of_time("in `installed`: `deadline`");
        "default(total_delay=5s)", &of_time("in `default`: `total_delay`");
        "default(timeout=5s)", &of_time("in `default`: `timeout`");
        "installed(capp=1s)", "in `installed`: unknown key `capp`: did you mean `cap`?";
        "installed=1", "`installed` can't be `1`: it takes keys, as in `max = 5`";
        "installed",
            "`installed` is not a key with a value: write both, as in `max=5, backoff=[1s, 5s], throttled(max=9)`";
        "enabled", "`enabled` has no value: write `enabled=…`";
        "max=1", "`max` is not the name of a call: write it in `default`, for all calls";
        "throttled(max=1)",
            "`throttled` is not the name of a call: write it in `default`, for all calls";
        "enabled=false, enabled=true", "`enabled` is given twice: keep one";
        "a(throttled(max(b=1)))", "`)` is missing after the value of `max`";
    } {
        let policies = text.parse::<Policies>();
        let error = policies.and_then(Policies::install).unwrap_err();
        assert_eq!(error.to_string(), message, "{text}");
    }
    let installed = Policies::installed();
    assert_eq!(installed.find("installed.plain").retries_allowed(), 7);
    assert_eq!(installed.unused().count(), 0);
}
