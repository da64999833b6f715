//! `retry_runtime::testing`, as users' tests use it: scripted outcomes, recorders, and scopes, which apply to the future
//! that they run, on any thread, and nowhere else.

use std::time::Instant;

use retry_runtime::testing::{Recorder, Scope, Script, fail_times, record, sequence, skip_sleeps};
use support::prelude::*;

const SECOND: Duration = secs(1);

#[test]
fn a_script_fails_a_number_of_times_and_then_succeeds_with_its_value() {
    for times in [0, 1, 5] {
        let script: Script<&str, &str> = fail_times(times, "busy").then("hello");
        let failures = (0..10).take_while(|_| script.next() == Err("busy"));
        assert_eq!(u32::try_from(failures.count()), Ok(times));
        assert_eq!(script.next(), Ok("hello"));
        assert_eq!(script.attempts(), times + 2);
    }
    assert_eq!(fail_times(0, "busy").next(), Ok(()));
}

#[test]
fn a_sequence_may_be_endless_and_shared() {
    fn is_shared<T: Send + Sync>(_: &T) {}

    let script = sequence((0..).map(|number| {
        if number % 2 == 0 {
            Err(number)
        } else {
            Ok(number)
        }
    }));
    is_shared(&script);
    let policy = Policy::none().on(|_: &i32| true);
    assert_eq!(policy.call_blocking(|| script.next()), Ok(1));
    assert_eq!(policy.call_blocking(|| script.next()), Ok(3));
    assert_eq!(script.attempts(), 4);
}

#[test]
#[should_panic(expected = "the script has no outcome for attempt 2")]
fn an_attempt_too_many_fails_the_test() {
    let script: Script<(), &str> = sequence([Err("busy")]);
    let _ = Policy::none()
        .on(|_: &&str| true)
        .call_blocking(|| script.next());
}

fn call(name: &str, failures: u32, recorder: &Recorder) -> Result<(), String> {
    let server = fail_times(failures, String::from("busy"));
    let policy = Policy::fixed(SECOND).jitter(Jitter::None).max(2);
    let call = policy.on(|_: &String| true).name(name);
    call.observe(|event| recorder.observe(event))
        .call_blocking(|| server.next())
}

#[test]
fn a_recording_has_what_is_logged_and_an_observer_has_all() {
    let (_skipped, recording, recorder) = (skip_sleeps(), record(), Recorder::new());
    for (name, failures) in [("one", 0), ("other", 1), ("one", 3)] {
        let _ = call(name, failures, &recorder);
    }
    assert_eq!(recording.attempts(), [2, 3]);
    assert_eq!(recorder.attempts(), [1, 2, 3]);
    for recorder in [&*recording, &recorder] {
        assert_eq!(recorder.delays(), [SECOND; 3]);
        assert_eq!(recorder.reasons(), [Reason::Exhausted]);
    }
    assert_eq!(recorder.of("one").attempts(), [1, 3]);
    assert_eq!(recorder.of("other").attempts(), [2]);
    assert_eq!(recorder.of("none").lines(), [""; 0]);
    assert_eq!(recorder.of("other").lines().len(), 4);
}

/// Waits for seconds, and may move to another thread.
#[retry(max = 2, base = "1s", cap = "9s", jitter = "none", name = "fetch", on = |_| true)]
async fn fetch(failures: Arc<Script<(), &'static str>>) -> Result<(), &'static str> {
    for _ in 0..10 {
        yield_now().await;
    }
    failures.next()
}

#[retry(max = 3, base = "1s", cap = "9s", name = "read", on = |_| true)]
fn read() -> Result<(), String> {
    Err(String::from("busy"))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_scope_applies_to_tasks_on_other_threads() {
    let scopes: Vec<_> = (0..8).map(|_| Scope::new().skip_sleeps()).collect();
    let tasks = scopes.iter().enumerate().map(|(index, scope)| {
        let failures = u32::try_from(index % 4).expect("a small number");
        tokio::spawn(scope.run(fetch(Arc::new(fail_times(failures, "busy")))))
    });
    let tasks: Vec<_> = tasks.collect();
    for (index, task) in tasks.into_iter().enumerate() {
        assert_eq!(task.await.expect("no panic").is_err(), index % 4 == 3);
        let scope = &scopes[index];
        let (attempts, hours, reasons): (&[u32], _, &[Reason]) = match index % 4 {
            0 => (&[], 0, &[]),
            1 => (&[2], 1, &[]),
            2 => (&[3], 3, &[]),
            _ => (&[3], 3, &[Reason::Exhausted]),
        };
        assert_eq!(scope.attempts(), attempts);
        assert_eq!(scope.skipped(), hours * SECOND);
        assert_eq!(scope.reasons(), reasons);
    }
}

#[tokio::test(start_paused = true)]
async fn futures_on_one_thread_have_separate_scopes() {
    let (one, other) = (Scope::new(), Scope::new().skip_sleeps());
    let start = tokio::time::Instant::now();
    let three = || Arc::new(fail_times(3, "busy"));
    let (first, second, third) = tokio::join!(
        one.run(fetch(three())),
        other.run(fetch(three())),
        fetch(three())
    );
    assert!(first.is_err() && second.is_err() && third.is_err());
    assert_eq!(start.elapsed(), 3 * SECOND);
    for scope in [&one, &other] {
        assert_eq!(scope.attempts(), [3]);
        assert_eq!(scope.delays(), [SECOND, 2 * SECOND]);
    }
    assert_eq!(
        (one.skipped(), other.skipped()),
        (Duration::ZERO, 3 * SECOND)
    );
}

#[test]
fn a_scope_applies_to_blocking_code_and_ends_with_it() {
    let scope = Scope::new().seed(7).skip_sleeps();
    let before = Instant::now();
    assert!(scope.run_blocking(read).is_err());
    assert!(before.elapsed() < SECOND);
    assert_eq!(scope.attempts(), [4]);
    assert_eq!(scope.delays().iter().sum::<Duration>(), scope.skipped());
    let outside = record();
    let _skipped = skip_sleeps();
    assert!(read().is_err());
    assert_eq!((scope.attempts().len(), outside.attempts().len()), (1, 1));
}

#[test]
fn a_scope_inherits_settings_that_it_does_not_set() {
    let delays = || {
        let (_seeded, skipped) = (testing::seed(1), skip_sleeps());
        let scope = Scope::new();
        assert!(scope.run_blocking(read).is_err());
        assert_eq!(skipped.total(), scope.delays().iter().sum());
        scope.delays()
    };
    assert_eq!(delays(), delays());
}

#[test]
fn each_future_draws_its_own_numbers_by_the_seed() {
    let delays = |seed| {
        let scope = Scope::new().seed(seed).skip_sleeps();
        assert!(scope.run_blocking(read).is_err());
        assert!(scope.run_blocking(read).is_err());
        let delays = scope.delays();
        assert_ne!(delays[..3], delays[3..]);
        delays
    };
    assert_eq!(delays(1), delays(1));
    assert_ne!(delays(1), delays(2));
}

#[tokio::test(start_paused = true)]
async fn a_call_that_is_dropped_is_dropped_in_its_scope() {
    struct CallsAtTheEnd;

    impl Drop for CallsAtTheEnd {
        fn drop(&mut self) {
            let _ = Policy::none()
                .max(0)
                .on(|_: &String| true)
                .call_blocking(|| Err::<(), _>(String::from("late")));
        }
    }

    let scope = Scope::new();
    let task = tokio::spawn(scope.run(async move {
        let _ends = CallsAtTheEnd;
        pending::<()>().await;
    }));
    yield_now().await;
    task.abort();
    assert!(task.await.is_err());
    assert_eq!(scope.reasons(), [Reason::Exhausted]);
}

#[test]
fn threads_of_a_batch_are_in_the_scope_of_their_caller() {
    let scope = Scope::new().skip_sleeps();
    let policy = Policy::none().max(1);
    let results = scope.run_blocking(|| {
        let batches = policy.on(|_: &String| true).batches(1).concurrency(4);
        retry_each_blocking(batches, 0..4, |items| {
            let inner = Policy::fixed(SECOND).max(1).on(|_: &String| true);
            let _ = inner
                .name("inner")
                .call_blocking(|| Err::<(), _>(String::from("busy")));
            Ok(items.into_iter().map(Ok).collect())
        })
    });
    assert_eq!(results, [Ok(0), Ok(1), Ok(2), Ok(3)]);
    assert_eq!(scope.of("inner").attempts(), [2; 4]);
}
