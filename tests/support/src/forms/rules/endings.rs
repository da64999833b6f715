//! Rules of the values that a call returns: those that `until` accepts or rejects, and a fallback's.

use retry_protections::RateLimiter;
use retry_runtime::Budget;

use super::{RETRY, events, millis, retried, secs};
use crate::failure::{STOP, TRANSIENT};
use crate::forms::{Gate, Key, Scenario};

fn rejects() -> Scenario {
    Scenario {
        keys: &[Key::Until, Key::Breaker, Key::Budget],
        opens_after: 1,
        rejects: 2,
        succeeds: true,
        begun: vec![0, 1_000, 3_000],
        reported: retried("starting 2; retrying 2 after 2s: transient; starting 3; succeeded 3"),
        ends: 3_000,
        ..Scenario::default()
    }
}

pub(super) fn until() -> Vec<Scenario> {
    vec![
        rejects(),
        // The call returns the last value.
        Scenario {
            policy: |policy| policy.max(1),
            rejects: 9,
            begun: vec![0, 1_000],
            reported: retried("starting 2; gave up 2: exhausted"),
            ends: 1_000,
            ..rejects()
        },
        // It counts as one success, however many values came before it.
        Scenario {
            budget: || Budget::standard().capacity(28),
            before: |world| world.withdraw(),
            tokens: 28.0 - RETRY + 1.0,
            ..rejects()
        },
        // There is no error to pass to a hook.
        Scenario {
            keys: &[Key::Until, Key::BeforePause, Key::BeforeRetry],
            ..rejects()
        },
        // The call is repeated even if it is not idempotent, because the server responded.
        Scenario {
            keys: &[Key::Until, Key::Idempotent],
            idempotent: false,
            ..rejects()
        },
        Scenario {
            keys: &[Key::Until, Key::Limiter],
            gate: Gate::Rate,
            limiter: || RateLimiter::fixed(1, secs(2)),
            rejects: 1,
            begun: vec![0, 2_000],
            reported: retried("waiting 2; waited 2 for 1s; starting 2; succeeded 2"),
            ends: 2_000,
            ..rejects()
        },
    ]
}

/// A call that ends after a value that was rejected returns it.
pub(super) fn until_the_end() -> Vec<Scenario> {
    let once = Scenario {
        rejects: 9,
        begun: vec![0],
        ..rejects()
    };
    vec![
        Scenario {
            down: 500..9_000,
            reported: retried("gave up 1: rejected"),
            ends: 1_000,
            ..once.clone()
        },
        Scenario {
            keys: &[Key::Until, Key::Cancel],
            cancels: Some(millis(500)),
            reported: retried("gave up 1: cancelled"),
            ends: 500,
            ..once.clone()
        },
        Scenario {
            keys: &[Key::Until, Key::Deadline],
            policy: |policy| policy.deadline(millis(500)),
            reported: events("starting 1; gave up 1: deadline"),
            ends: 0,
            ..once.clone()
        },
        Scenario {
            keys: &[Key::Until, Key::Enabled],
            enabled: false,
            reported: events("starting 1; gave up 1: exhausted"),
            ends: 0,
            ..once.clone()
        },
        // No fallback follows: there is a value.
        Scenario {
            keys: &[Key::Until, Key::Fallback],
            policy: |policy| policy.max(0),
            reported: events("starting 1; gave up 1: exhausted"),
            ends: 0,
            ..once
        },
    ]
}

pub(super) fn fallback() -> Vec<Scenario> {
    let exhausted = Scenario {
        keys: &[Key::Fallback, Key::Budget],
        policy: |policy| policy.max(1),
        steps: vec![TRANSIENT; 9],
        succeeds: true,
        begun: vec![0, 1_000],
        reported: retried("starting 2; falling back 2: exhausted; fell back 2"),
        tokens: 500.0 - RETRY,
        ..Scenario::default()
    };
    let down = Scenario {
        keys: &[Key::Fallback, Key::Breaker],
        down: 0..9_000,
        begun: vec![],
        reported: events("falling back 0: rejected; fell back 0"),
        tokens: 500.0,
        ..exhausted.clone()
    };
    vec![
        Scenario {
            steps: vec![STOP],
            begun: vec![0],
            reported: events("starting 1; falling back 1: not retryable; fell back 1"),
            tokens: 500.0,
            ..exhausted.clone()
        },
        Scenario {
            keys: &[Key::Fallback, Key::Cancel],
            cancels: Some(millis(500)),
            begun: vec![0],
            reported: retried("falling back 1: cancelled; fell back 1"),
            tokens: 500.0,
            ends: 500,
            ..exhausted.clone()
        },
        Scenario {
            down: 500..9_000,
            begun: vec![0],
            reported: retried("falling back 1: rejected; fell back 1"),
            ..down.clone()
        },
        Scenario {
            keys: &[Key::Fallback, Key::BeforePause],
            failing_hook: Some(Key::BeforePause),
            begun: vec![0],
            reported: retried("BeforePause 2 in 1s; falling back 1: hook failed; fell back 1"),
            tokens: 500.0,
            ..exhausted.clone()
        },
        exhausted,
        down,
    ]
}
