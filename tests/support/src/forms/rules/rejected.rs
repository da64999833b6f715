//! The key `rejected`: attempts that the breaker or the limiter rejects are tried again.

use retry_protections::RateLimiter;
use retry_runtime::Budget;

use super::{AGAIN, RETRY, events, millis, retried, secs};
use crate::failure::TRANSIENT;
use crate::forms::{Gate, Key, Scenario};

fn down() -> Scenario {
    Scenario {
        keys: &[Key::Rejected, Key::Breaker, Key::Budget],
        policy: |policy| policy.max(1).rejected(AGAIN.max(3)),
        down: 0..1_500,
        succeeds: true,
        begun: vec![2_000],
        reported: events(
            "retrying 1 after 1s: rejected; retrying 1 after 1s: rejected; starting 1; \
            succeeded 1",
        ),
        ends: 2_000,
        ..Scenario::default()
    }
}

/// A first attempt that is rejected.
pub(super) fn at_first() -> Vec<Scenario> {
    vec![
        down(),
        // The pause is at least as long as the breaker stays open: 5 s.
        Scenario {
            down: 0..0,
            opens_after: 1,
            before: |world| world.fail_at_breaker(),
            begun: vec![5_000],
            reported: events(
                "retrying 1 after 5s: rejected; breaker half open 1; starting 1; \
                breaker closed 1; succeeded 1",
            ),
            ends: 5_000,
            ..down()
        },
        // Without a `max`, the section has the policy's.
        Scenario {
            policy: |policy| policy.max(1).rejected(AGAIN),
            succeeds: false,
            begun: vec![],
            reported: events("retrying 1 after 1s: rejected; gave up 0: rejected"),
            ends: 1_000,
            ..down()
        },
        Scenario {
            policy: |policy| policy.total_delay(millis(1_900)).rejected(AGAIN),
            keys: &[Key::Rejected, Key::Breaker, Key::Deadline],
            succeeds: false,
            begun: vec![],
            reported: events("retrying 1 after 1s: rejected; gave up 0: deadline"),
            ends: 1_000,
            ..down()
        },
        Scenario {
            keys: &[Key::Rejected, Key::Breaker, Key::Fallback],
            policy: |policy| policy.rejected(AGAIN.max(1)),
            begun: vec![],
            reported: events(
                "retrying 1 after 1s: rejected; falling back 0: rejected; fell back 0",
            ),
            ends: 1_000,
            ..down()
        },
        // A call that is rejected first and then succeeds has succeeded at once.
        Scenario {
            budget: || Budget::standard().capacity(28),
            before: |world| world.withdraw(),
            tokens: 28.0 - RETRY + 1.0,
            ..down()
        },
        // It uses up no retry of the failures.
        Scenario {
            steps: vec![TRANSIENT],
            begun: vec![2_000, 3_000],
            reported: events(
                "retrying 1 after 1s: rejected; retrying 1 after 1s: rejected; starting 1; \
                retrying 1 after 1s: transient; starting 2; succeeded 2",
            ),
            ends: 3_000,
            ..down()
        },
        Scenario {
            down: 0..99_000,
            succeeds: false,
            begun: vec![],
            reported: events(
                "retrying 1 after 1s: rejected; retrying 1 after 1s: rejected; \
                retrying 1 after 1s: rejected; gave up 0: rejected",
            ),
            ends: 3_000,
            ..down()
        },
        Scenario {
            keys: &[Key::Rejected, Key::Breaker, Key::Cancel],
            forms: |form| !form.is_of_whole_client(),
            before: |world| world.token.cancel(),
            cancels: Some(secs(0)),
            succeeds: false,
            begun: vec![],
            reported: events("gave up 0: cancelled"),
            ends: 0,
            ..down()
        },
        Scenario {
            keys: &[Key::Rejected, Key::Breaker, Key::Budget, Key::Drop],
            drops: Some(millis(300)),
            succeeds: false,
            begun: vec![],
            reported: events("retrying 1 after 1s: rejected"),
            ends: 300,
            ..down()
        },
    ]
}

/// A rejection between two attempts: its payment is kept, and used once.
pub(super) fn later() -> Vec<Scenario> {
    let later = Scenario {
        steps: vec![TRANSIENT],
        down: 500..1_500,
        begun: vec![0, 2_000],
        reported: retried("retrying 2 after 1s: rejected; starting 2; succeeded 2"),
        ..down()
    };
    vec![
        Scenario {
            policy: |policy| policy.rejected(AGAIN.max(1)),
            down: 500..99_000,
            succeeds: false,
            begun: vec![0],
            reported: retried("retrying 2 after 1s: rejected; gave up 1: rejected"),
            ..later.clone()
        },
        // The limiter rejects it, because its turn would come too late.
        Scenario {
            keys: &[Key::Rejected, Key::Limiter, Key::Budget],
            gate: Gate::Rate,
            limiter: || RateLimiter::fixed(1, secs(4)).max_wait(secs(2)),
            down: 0..0,
            begun: vec![0, 4_000],
            reported: retried(
                "waiting 2; retrying 2 after 1s: rejected; waiting 2; waited 2 for 2s; \
                starting 2; succeeded 2",
            ),
            ends: 4_000,
            ..later.clone()
        },
        Scenario {
            keys: &[Key::Rejected, Key::Breaker, Key::Deadline, Key::Budget],
            policy: |policy| policy.deadline(millis(1_500)).rejected(AGAIN),
            succeeds: false,
            begun: vec![0],
            reported: retried("gave up 1: deadline"),
            ends: 1_000,
            ..later.clone()
        },
        Scenario {
            keys: &[Key::Rejected, Key::Breaker, Key::Cancel, Key::Budget],
            cancels: Some(millis(1_300)),
            succeeds: false,
            begun: vec![0],
            reported: retried("retrying 2 after 1s: rejected; gave up 1: cancelled"),
            ends: 1_300,
            ..later.clone()
        },
        // No hook runs after a rejection, and each runs once for the retry.
        Scenario {
            keys: &[
                Key::Rejected,
                Key::Breaker,
                Key::BeforePause,
                Key::BeforeRetry,
            ],
            reported: retried(
                "BeforePause 2 in 1s; BeforeRetry 2 in 1s; \
                retrying 2 after 1s: rejected; starting 2; succeeded 2",
            ),
            ..later.clone()
        },
        // A hook cancels the call before the breaker rejects it: no retry of the rejection follows.
        Scenario {
            keys: &[
                Key::Rejected,
                Key::Breaker,
                Key::Cancel,
                Key::BeforePause,
                Key::BeforeRetry,
            ],
            forms: |form| !form.is_of_whole_client(),
            down: 500..9_000,
            hooks_take: [0, 200],
            cancels: Some(millis(1_100)),
            succeeds: false,
            begun: vec![0],
            reported: retried("BeforePause 2 in 1s; BeforeRetry 2 in 1s; gave up 1: cancelled"),
            ends: 1_200,
            ..later.clone()
        },
        Scenario {
            keys: &[Key::Rejected, Key::Breaker, Key::Budget, Key::Drop],
            drops: Some(millis(1_300)),
            succeeds: false,
            begun: vec![0],
            reported: retried("retrying 2 after 1s: rejected"),
            ends: 1_300,
            ..later.clone()
        },
        later,
    ]
}
