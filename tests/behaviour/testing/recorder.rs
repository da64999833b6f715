//! The records of a recorder.

use retry_runtime::testing::{Recorder, fail_times, record, sequence, skip_sleeps};
use support::prelude::*;

const SECOND: Duration = Duration::from_secs(1);

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

#[test]
fn a_value_that_is_rejected_to_the_end_gives_up_too() {
    let (_skipped, recording) = (skip_sleeps(), record());
    let answers = sequence([Ok(1), Err("busy"), Ok(3)]);
    let policy = Policy::fixed(SECOND).jitter(Jitter::None).max(2);
    let call = policy.on(|_: &&str| true).until(|answer| *answer > 3);
    assert_eq!(call.call_blocking(|| answers.next()), Ok(3));
    assert_eq!(recording.attempts(), [3]);
    assert_eq!(recording.reasons(), [Reason::Exhausted]);
}
