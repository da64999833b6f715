//! Retry events contain the number in the retry's own count, and the maximum of that count.

use retry_runtime::testing::{Script, sequence};
use support::prelude::*;

use crate::observers::verdict;

type Count = (u32, Option<u32>, Option<u32>);

fn count(event: &Event<'_>) -> Option<Count> {
    match event.data {
        EventData::Retrying {
            retry,
            retry_max,
            max,
            ..
        } => Some((retry, retry_max, max)),
        _ => None,
    }
}

#[retry(policy = policy, on = verdict, observe = |event| counts.extend(count(event)))]
fn call(
    policy: &Policy,
    script: &Script<(), &'static str>,
    counts: &mut Vec<Count>,
) -> Result<(), &'static str> {
    script.next()
}

#[test]
fn a_retry_is_numbered_among_those_of_its_kind() {
    let once = Section::new().max(1);
    let without_end = Section::new().max(u32::MAX);
    let policy = Policy::none().max(3);
    for (policy, errors, expected) in rows! {
        policy, ["busy", "slow down", "no JSON"], [1, 2, 3].map(|retry| (retry, Some(3), Some(3)));
        policy.invalid(once), ["busy", "no JSON", "busy"],
            [(1, Some(3), Some(3)), (1, Some(1), Some(3)), (2, Some(3), Some(3))];
        policy.throttled(without_end), ["slow down", "slow down", "busy"],
            [(1, None, Some(3)), (2, None, Some(3)), (1, Some(3), Some(3))];
    } {
        let script = || sequence(errors.into_iter().map(Err).chain([Ok(())]));
        let mut counts = Vec::new();
        assert_eq!(call(&policy, &script(), &mut counts), Ok(()));
        assert_eq!(counts, expected);

        let (script, counts) = (script(), Mutex::new(Vec::new()));
        let keys = policy.on(verdict);
        let keys = keys.observe(|event| counts.lock().unwrap().extend(count(event)));
        let results = retry_each_blocking(keys, [()], |_| Ok(vec![script.next()]));
        assert!(results[0].is_ok());
        assert_eq!(counts.into_inner().unwrap(), expected, "in a batch");
    }
}

#[test]
fn a_record_has_the_kinds_count_if_it_differs_from_the_calls() {
    let policy = Policy::none().max(3).invalid(Section::new().max(1));
    let errors = ["busy", "no JSON", "busy"];
    let script = sequence(errors.into_iter().map(Err).chain([Ok(())]));
    let recording = testing::record();
    assert_eq!(call(&policy, &script, &mut Vec::new()), Ok(()));
    let lines = recording.lines();
    for (line, counts) in lines.iter().zip([
        "attempt=1 max=3 delay=",
        "attempt=2 max=3 retry=1 retry_max=1 delay=",
        "attempt=3 max=3 retry=2 retry_max=3 delay=",
    ]) {
        assert!(line.contains(counts), "{line}");
    }
}
