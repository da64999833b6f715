//! Rules of policies, verdicts and clocks: the number and the times of retries.

use retry_protections::RateLimiter;
use retry_runtime::{Backoff, Policy, Section, Verdict};

use super::{RETRY, THROTTLED_RETRY, events, millis, retried, secs};
use crate::failure::{STOP, THROTTLED, TRANSIENT, throttled_for};
use crate::forms::{AMBIGUOUS, Form, Gate, Key, Scenario};

pub(super) fn max() -> Vec<Scenario> {
    let numbers = Scenario {
        keys: &[Key::Max, Key::Backoff, Key::Budget, Key::Observe],
        steps: vec![TRANSIENT; 9],
        ..Scenario::default()
    };
    vec![
        Scenario {
            begun: vec![0, 1_000, 3_000, 7_000],
            reported: retried(
                "starting 2; retrying 2 after 2s: transient; starting 3; \
                retrying 3 after 4s: transient; starting 4; gave up 4: exhausted",
            ),
            tokens: 500.0 - 3.0 * RETRY,
            ends: 7_000,
            ..numbers.clone()
        },
        Scenario {
            policy: |policy| policy.max(0),
            begun: vec![0],
            reported: events("starting 1; gave up 1: exhausted"),
            ..numbers.clone()
        },
        // Each delay grows with its own count.
        Scenario {
            policy: |policy| policy.throttled(Section::new().max(1)),
            steps: vec![THROTTLED, TRANSIENT, THROTTLED],
            begun: vec![0, 1_000, 2_000],
            reported: events(
                "starting 1; retrying 1 after 1s: throttled; starting 2; \
                retrying 2 after 1s: transient; starting 3; gave up 3: exhausted",
            ),
            tokens: 500.0 - RETRY - THROTTLED_RETRY,
            ..numbers.clone()
        },
        Scenario {
            steps: vec![TRANSIENT, STOP],
            begun: vec![0, 1_000],
            reported: retried("starting 2; gave up 2: not retryable"),
            ..numbers
        },
    ]
}

pub(super) fn backoff() -> Vec<Scenario> {
    let twice = Scenario {
        keys: &[Key::Backoff],
        steps: vec![TRANSIENT; 2],
        succeeds: true,
        tokens: 500.0 - RETRY,
        ..Scenario::default()
    };
    vec![
        Scenario {
            policy: |policy| policy.backoff(Backoff::Fixed).base(millis(500)),
            begun: vec![0, 500, 1_000],
            reported: events(
                "starting 1; retrying 1 after 500ms: transient; starting 2; \
                retrying 2 after 500ms: transient; starting 3; succeeded 3",
            ),
            ..twice.clone()
        },
        Scenario {
            policy: |policy| policy.base(secs(3)).cap(secs(4)),
            begun: vec![0, 3_000, 7_000],
            reported: events(
                "starting 1; retrying 1 after 3s: transient; starting 2; \
                retrying 2 after 4s: transient; starting 3; succeeded 3",
            ),
            ..twice.clone()
        },
        Scenario {
            steps: vec![throttled_for(secs(7))],
            begun: vec![0, 7_000],
            reported: events("starting 1; retrying 1 after 7s: throttled; starting 2; succeeded 2"),
            tokens: 500.0,
            ..twice.clone()
        },
        Scenario {
            steps: vec![throttled_for(secs(500))],
            succeeds: false,
            begun: vec![0],
            reported: events("starting 1; gave up 1: hint too long"),
            tokens: 500.0,
            ..twice
        },
    ]
}

pub(super) fn deadline() -> Vec<Scenario> {
    let short = Scenario {
        keys: &[Key::Deadline],
        policy: |policy| policy.deadline(millis(2_500)),
        steps: vec![TRANSIENT; 9],
        ..Scenario::default()
    };
    let second = Scenario {
        begun: vec![0, 1_000],
        reported: retried("starting 2; gave up 2: deadline"),
        tokens: 500.0 - RETRY,
        ends: 1_000,
        ..short.clone()
    };
    let impatient = Scenario {
        keys: &[Key::Deadline, Key::Limiter, Key::Budget],
        policy: |policy| policy.deadline(secs(5)),
        gate: Gate::Rate,
        limiter: || RateLimiter::fixed(1, secs(9)),
        begun: vec![0],
        reported: retried("waiting 2; gave up 1: deadline"),
        tokens: 500.0,
        ends: 1_000,
        ..short.clone()
    };
    vec![
        second.clone(),
        Scenario {
            policy: |policy| policy.total_delay(millis(2_500)),
            ..second
        },
        // The attempt takes what would be left for the pause.
        Scenario {
            takes: vec![2_000],
            begun: vec![0],
            reported: events("starting 1; gave up 1: deadline"),
            ends: 2_000,
            ..short
        },
        Scenario {
            before: |world| world.take_turn(),
            begun: vec![],
            reported: events("waiting 1; gave up 0: deadline"),
            ends: 0,
            ..impatient.clone()
        },
        impatient,
    ]
}

/// A pause of 1 s has a grace of 100 ms.
pub(super) fn stalled() -> Vec<Scenario> {
    let in_grace = Scenario {
        keys: &[Key::Deadline],
        forms: |form| !form.is_dropped_at_deadline(),
        policy: |policy| policy.deadline(millis(1_050)),
        stalls: 1_000..1_150,
        steps: vec![TRANSIENT],
        succeeds: true,
        begun: vec![0, 1_150],
        reported: retried("starting 2; succeeded 2"),
        ..Scenario::default()
    };
    let late = Scenario {
        succeeds: false,
        begun: vec![0],
        reported: retried("gave up 1: deadline"),
        ..in_grace.clone()
    };
    vec![
        Scenario {
            forms: Form::is_dropped_at_deadline,
            ..late.clone()
        },
        Scenario {
            stalls: 1_000..1_200,
            ends: 1_200,
            ..late.clone()
        },
        // The turn comes late.
        Scenario {
            keys: &[Key::Deadline, Key::Limiter, Key::Budget],
            policy: |policy| policy.deadline(millis(3_050)),
            gate: Gate::Rate,
            limiter: || RateLimiter::fixed(1, secs(3)),
            stalls: 3_000..3_060,
            reported: retried("waiting 2; gave up 1: deadline"),
            ..late.clone()
        },
        // `before_retry` does not run.
        Scenario {
            keys: &[Key::Deadline, Key::BeforePause, Key::BeforeRetry],
            stalls: 1_000..1_200,
            reported: retried("BeforePause 2 in 1s; gave up 1: deadline"),
            ends: 1_200,
            ..late
        },
        in_grace,
    ]
}

/// Attempts that take 2 s, with a timeout of 1 s.
pub(super) fn timeout() -> Vec<Scenario> {
    let slow = Scenario {
        keys: &[Key::Timeout],
        opens_after: 2,
        takes: vec![2_000; 9],
        limit: secs(1),
        verdict: Some(Verdict::TRANSIENT),
        begun: vec![0],
        ends: 1_000,
        ..Scenario::default()
    };
    vec![
        Scenario {
            idempotent: false,
            reported: events("starting 1; gave up 1: ambiguous"),
            ..slow.clone()
        },
        Scenario {
            policy: |policy| policy.timed_out(Section::new().max(1)),
            begun: vec![0, 2_000],
            reported: events(
                "starting 1; retrying 1 after 1s: timeout; starting 2; breaker opened 2; \
                gave up 2: exhausted",
            ),
            tokens: 500.0 - RETRY,
            ends: 3_000,
            ..slow.clone()
        },
        Scenario {
            verdict: Some(Verdict::STOP),
            before: |world| world.fail_at_breaker(),
            reported: events("starting 1; breaker opened 1; gave up 1: not retryable"),
            ..slow
        },
    ]
}

pub(super) fn idempotent() -> Vec<Scenario> {
    vec![
        Scenario {
            keys: &[Key::Idempotent],
            idempotent: false,
            steps: vec![THROTTLED, AMBIGUOUS, TRANSIENT],
            begun: vec![0, 1_000],
            reported: events(
                "starting 1; retrying 1 after 1s: throttled; starting 2; \
                gave up 2: ambiguous",
            ),
            tokens: 500.0 - THROTTLED_RETRY,
            ..Scenario::default()
        },
        Scenario {
            keys: &[Key::Idempotent],
            steps: vec![AMBIGUOUS],
            succeeds: true,
            begun: vec![0, 1_000],
            reported: retried("starting 2; succeeded 2"),
            ..Scenario::default()
        },
    ]
}

pub(super) fn off() -> Vec<Scenario> {
    type Change = fn(Policy) -> Policy;
    let policies: [(Change, bool); 3] = [
        (|policy| policy.max(0), true),
        (
            |policy| policy.throttled(Section::new().max(9)).enabled(false),
            true,
        ),
        (|policy| policy.throttled(Section::new().max(9)), false),
    ];
    let scenarios = policies.map(|(policy, enabled)| {
        let once = |failure, reason| Scenario {
            keys: &[Key::Enabled],
            policy,
            enabled,
            steps: vec![failure],
            begun: vec![0],
            reported: vec!["starting 1", reason],
            ..Scenario::default()
        };
        [
            once(STOP, "gave up 1: not retryable"),
            once(TRANSIENT, "gave up 1: exhausted"),
            once(THROTTLED, "gave up 1: exhausted"),
            Scenario {
                idempotent: false,
                ..once(AMBIGUOUS, "gave up 1: ambiguous")
            },
            Scenario {
                takes: vec![2_000],
                cancels: Some(secs(1)),
                ..once(TRANSIENT, "gave up 1: cancelled")
            },
        ]
    });
    scenarios.into_iter().flatten().collect()
}

pub(super) fn repeats() -> Vec<Scenario> {
    let repeated = Scenario {
        keys: &[Key::Repeats],
        repeats: 2,
        steps: vec![TRANSIENT; 9],
        begun: vec![0, 1_000],
        reported: retried("starting 2; gave up 2: repeated"),
        tokens: 500.0 - RETRY,
        ..Scenario::default()
    };
    vec![
        Scenario {
            steps: vec![TRANSIENT, THROTTLED, TRANSIENT],
            succeeds: true,
            begun: vec![0, 1_000, 3_000, 7_000],
            reported: retried(
                "starting 2; retrying 2 after 2s: throttled; starting 3; \
                retrying 3 after 4s: transient; starting 4; succeeded 4",
            ),
            tokens: 500.0 - RETRY - THROTTLED_RETRY,
            ..repeated.clone()
        },
        repeated,
    ]
}
