//! Scripted outcomes.

use retry_runtime::Policy;
use retry_runtime::testing::{Script, fail_times, sequence};

#[test]
fn a_script_fails_a_number_of_times() {
    for times in [0, 1, 5] {
        let script = fail_times(times, "busy");
        let failures = (0..10).take_while(|_| script.next().is_err()).count();
        assert_eq!(u32::try_from(failures), Ok(times));
        assert_eq!(script.attempts(), times + 1);
    }
}

#[test]
fn a_script_may_succeed_with_a_value() {
    let script: Script<&str, &str> = fail_times(1, "busy").then("hello");
    let outcomes = [script.next(), script.next(), script.next()];
    assert_eq!(outcomes, [Err("busy"), Ok("hello"), Ok("hello")]);
    assert_eq!(script.attempts(), 3);
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
