//! Rules of hooks, of cancelled calls and of dropped calls.

use retry_protections::RateLimiter;

use super::{RETRY, events, millis, retried, secs};
use crate::failure::{STOP, TRANSIENT};
use crate::forms::{Gate, Key, Scenario};

pub(super) fn hooks() -> Vec<Scenario> {
    const KEYS: &[Key] = &[Key::BeforePause, Key::BeforeRetry, Key::Budget];
    let both = Scenario {
        keys: KEYS,
        steps: vec![TRANSIENT; 2],
        hooks_take: [100, 200],
        succeeds: true,
        begun: vec![0, 1_300, 3_600],
        reported: retried(
            "BeforePause 2 in 1s; BeforeRetry 2 in 1s; starting 2; \
            retrying 2 after 2s: transient; BeforePause 3 in 2s; BeforeRetry 3 in 2s; starting 3; \
            succeeded 3",
        ),
        tokens: 500.0 - RETRY,
        ..Scenario::default()
    };
    let ended = Scenario {
        hooks_take: [0; 2],
        succeeds: false,
        begun: vec![0],
        tokens: 500.0,
        ..both.clone()
    };
    let pauses = retried("BeforePause 2 in 1s");
    let retries = [pauses.clone(), events("BeforeRetry 2 in 1s")].concat();
    let then = |reported: &[&'static str], end| [reported, &[end]].concat();
    vec![
        both,
        Scenario {
            failing_hook: Some(Key::BeforePause),
            reported: then(&pauses, "gave up 1: hook failed"),
            ..ended.clone()
        },
        Scenario {
            failing_hook: Some(Key::BeforeRetry),
            reported: then(&retries, "gave up 1: hook failed"),
            ends: 1_000,
            ..ended.clone()
        },
        // The pause would end too late after the hook.
        Scenario {
            policy: |policy| policy.deadline(millis(1_500)),
            hooks_take: [700, 0],
            reported: then(&pauses, "gave up 1: deadline"),
            ends: 700,
            ..ended.clone()
        },
        Scenario {
            policy: |policy| policy.deadline(millis(1_500)),
            hooks_take: [0, 700],
            reported: then(&retries, "gave up 1: deadline"),
            ends: 1_700,
            ..ended.clone()
        },
        Scenario {
            cancels: Some(millis(500)),
            reported: then(&pauses, "gave up 1: cancelled"),
            ends: 500,
            ..ended.clone()
        },
        Scenario {
            steps: vec![STOP],
            reported: events("starting 1; gave up 1: not retryable"),
            ..ended.clone()
        },
        // A call that is dropped in a hook doesn't pay.
        Scenario {
            keys: &[Key::BeforePause, Key::BeforeRetry, Key::Budget, Key::Drop],
            hooks_take: [0, 200],
            drops: Some(millis(1_100)),
            reported: retries.clone(),
            ends: 1_100,
            ..ended.clone()
        },
        // The limiter is asked after it, and so is the breaker.
        Scenario {
            keys: &[Key::BeforePause, Key::BeforeRetry, Key::Limiter],
            gate: Gate::Rate,
            limiter: || RateLimiter::fixed(1, secs(3)),
            steps: vec![TRANSIENT],
            succeeds: true,
            begun: vec![0, 3_000],
            reported: retried(
                "BeforePause 2 in 1s; BeforeRetry 2 in 1s; waiting 2; waited 2 for 2s; starting 2; \
                 succeeded 2",
            ),
            ..ended.clone()
        },
        Scenario {
            down: 1_100..9_000,
            hooks_take: [0, 200],
            reported: then(&retries, "gave up 1: rejected"),
            ends: 1_200,
            ..ended
        },
    ]
}

pub(super) fn cancelled() -> Vec<Scenario> {
    let fails = Scenario {
        keys: &[Key::Cancel, Key::Budget],
        steps: vec![TRANSIENT; 9],
        takes: vec![2_000],
        cancels: Some(secs(1)),
        begun: vec![0],
        reported: events("starting 1; gave up 1: cancelled"),
        ends: 2_000,
        ..Scenario::default()
    };
    vec![
        Scenario {
            steps: vec![],
            succeeds: true,
            reported: events("starting 1; succeeded 1"),
            ..fails.clone()
        },
        Scenario {
            takes: vec![],
            cancels: Some(millis(2_500)),
            begun: vec![0, 1_000],
            reported: retried("starting 2; retrying 2 after 2s: transient; gave up 2: cancelled"),
            tokens: 500.0 - RETRY,
            ends: 2_500,
            ..fails.clone()
        },
        Scenario {
            keys: &[Key::Cancel, Key::Limiter],
            gate: Gate::Rate,
            before: |world| world.take_turn(),
            limiter: || RateLimiter::fixed(1, secs(9)),
            cancels: Some(secs(4)),
            begun: vec![],
            reported: events("waiting 1; gave up 0: cancelled"),
            ends: 4_000,
            ..fails.clone()
        },
        fails,
    ]
}

pub(super) fn dropped() -> Vec<Scenario> {
    let attempt = Scenario {
        keys: &[Key::Drop, Key::Limiter, Key::Breaker, Key::Budget],
        gate: Gate::Slots,
        steps: vec![TRANSIENT; 9],
        takes: vec![2_000; 9],
        drops: Some(secs(1)),
        begun: vec![0],
        reported: events("starting 1"),
        ends: 1_000,
        ..Scenario::default()
    };
    let queue = Scenario {
        gate: Gate::Rate,
        limiter: || RateLimiter::fixed(1, secs(3)),
        takes: vec![],
        ..attempt.clone()
    };
    vec![
        // A trial call: the breaker gets its pass back.
        Scenario {
            opens_after: 1,
            before: |world| world.fail_at_breaker(),
            starts: secs(5),
            reported: events("breaker half open 1; starting 1"),
            ..attempt.clone()
        },
        // If it ends during the pause, the retry is refunded.
        Scenario {
            drops: Some(millis(2_500)),
            reported: events("starting 1; limit 1: 18; retrying 1 after 1s: transient"),
            ends: 2_500,
            ..attempt.clone()
        },
        // During a retry, it doesn't.
        Scenario {
            drops: Some(millis(3_500)),
            begun: vec![0, 3_000],
            reported: events("starting 1; limit 1: 18; retrying 1 after 1s: transient; starting 2"),
            tokens: 500.0 - RETRY,
            ends: 3_500,
            ..attempt.clone()
        },
        attempt,
        // During the wait for a turn of the first attempt, or of a later one.
        Scenario {
            before: |world| world.take_turn(),
            begun: vec![],
            reported: events("waiting 1"),
            ..queue.clone()
        },
        Scenario {
            drops: Some(secs(2)),
            reported: events("starting 1; retrying 1 after 1s: transient; waiting 2"),
            ends: 2_000,
            ..queue
        },
    ]
}
