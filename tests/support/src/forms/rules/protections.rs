//! Rules of breakers, limiters and budgets, which calls share.

use retry_protections::RateLimiter;
use retry_runtime::Budget;

use super::{RETRY, events, retried, secs};
use crate::failure::{STOP, THROTTLED, TRANSIENT, throttled_for};
use crate::forms::{Form, Gate, Key, Scenario};

pub(super) fn breaker() -> Vec<Scenario> {
    let opens = Scenario {
        keys: &[Key::Breaker, Key::Budget],
        opens_after: 2,
        steps: vec![TRANSIENT; 9],
        begun: vec![0, 1_000],
        reported: retried(
            "starting 2; breaker opened 2; retrying 2 after 2s: transient; \
            gave up 2: rejected",
        ),
        // The retry that was not made is paid back.
        tokens: 500.0 - RETRY,
        ends: 3_000,
        ..Scenario::default()
    };
    // Open for 5 s.
    let half_open = Scenario {
        keys: &[Key::Breaker],
        before: |world| {
            world.fail_at_breaker();
            world.fail_at_breaker();
        },
        starts: secs(5),
        ends: 0,
        ..opens.clone()
    };
    // It is asked before the queue, and again after it.
    let down = Scenario {
        keys: &[Key::Breaker, Key::Limiter],
        gate: Gate::Rate,
        limiter: || RateLimiter::fixed(1, secs(3)),
        before: |world| world.take_turn(),
        opens_after: 99,
        begun: vec![],
        tokens: 500.0,
        ..opens.clone()
    };
    vec![
        Scenario {
            steps: vec![],
            succeeds: true,
            begun: vec![0],
            reported: events("breaker half open 1; starting 1; breaker closed 1; succeeded 1"),
            tokens: 500.0,
            ..half_open.clone()
        },
        Scenario {
            begun: vec![0],
            reported: events(
                "breaker half open 1; starting 1; breaker opened 1; \
                retrying 1 after 1s: transient; gave up 1: rejected",
            ),
            tokens: 500.0,
            ends: 1_000,
            ..half_open.clone()
        },
        Scenario {
            starts: secs(4),
            begun: vec![],
            reported: events("gave up 0: rejected"),
            tokens: 500.0,
            ..half_open
        },
        // Neither a throttled attempt nor one with a response is a failure.
        Scenario {
            opens_after: 1,
            steps: vec![THROTTLED, STOP],
            reported: events(
                "starting 1; retrying 1 after 1s: throttled; starting 2; \
                gave up 2: not retryable",
            ),
            tokens: 500.0,
            ends: 1_000,
            ..opens.clone()
        },
        // Without a section for rejections, a cancellation does not change the reason. A cancelled batch starts no
        // call.
        Scenario {
            keys: &[Key::Breaker, Key::Cancel],
            forms: |form| {
                !form.is_of_whole_client() && !matches!(form, Form::Batch | Form::BatchBlocking)
            },
            down: 0..9_000,
            before: |world| world.token.cancel(),
            cancels: Some(secs(0)),
            begun: vec![],
            reported: events("gave up 0: rejected"),
            tokens: 500.0,
            ends: 0,
            ..opens.clone()
        },
        opens,
        Scenario {
            down: 0..9_000,
            reported: events("gave up 0: rejected"),
            turns: Some(0),
            ends: 0,
            ..down.clone()
        },
        Scenario {
            down: 2_000..9_000,
            reported: events("waiting 1; waited 1 for 3s; gave up 0: rejected"),
            turns: Some(1),
            ends: 3_000,
            ..down
        },
    ]
}

pub(super) fn limiter() -> Vec<Scenario> {
    let paced = Scenario {
        keys: &[Key::Limiter, Key::Budget],
        gate: Gate::Rate,
        limiter: || RateLimiter::fixed(1, secs(3)),
        steps: vec![TRANSIENT],
        succeeds: true,
        begun: vec![0, 3_000],
        reported: retried("waiting 2; waited 2 for 2s; starting 2; succeeded 2"),
        turns: Some(0),
        ends: 3_000,
        ..Scenario::default()
    };
    let impatient = Scenario {
        limiter: || RateLimiter::fixed(1, secs(9)).max_wait(secs(5)),
        succeeds: false,
        begun: vec![0],
        reported: retried("waiting 2; gave up 1: rejected"),
        ends: 1_000,
        ..paced.clone()
    };
    vec![
        Scenario {
            before: |world| world.take_turn(),
            begun: vec![],
            reported: events("waiting 1; gave up 0: rejected"),
            ends: 0,
            ..impatient.clone()
        },
        // The breaker rejects the attempt once its turn has come, and the turn is returned at once.
        Scenario {
            keys: &[Key::Limiter, Key::Breaker, Key::Budget],
            down: 2_000..9_000,
            succeeds: false,
            begun: vec![0],
            reported: retried("waiting 2; waited 2 for 2s; gave up 1: rejected"),
            turns: Some(1),
            ..paced.clone()
        },
        paced,
        impatient,
        // A slot is taken by each attempt, and is back when that ends.
        Scenario {
            gate: Gate::Slots,
            begun: vec![0, 1_000],
            reported: events(
                "starting 1; limit 1: 18; retrying 1 after 1s: transient; starting 2; \
                succeeded 2",
            ),
            steps: vec![TRANSIENT],
            succeeds: true,
            ..Scenario {
                keys: &[Key::Limiter],
                ..Scenario::default()
            }
        },
    ]
}

pub(super) fn throttled() -> Vec<Scenario> {
    vec![Scenario {
        keys: &[Key::Limiter, Key::Budget],
        gate: Gate::Slots,
        steps: vec![throttled_for(secs(7)), THROTTLED],
        succeeds: true,
        begun: vec![0, 7_000, 9_000],
        reported: events(
            "starting 1; limiter paused 1 for 7s; limit 1: 18; \
            retrying 1 after 7s: throttled; starting 2; limit 2: 16; \
            retrying 2 after 2s: throttled; starting 3; limiter resumed 3; succeeded 3",
        ),
        ..Scenario::default()
    }]
}

pub(super) fn budget() -> Vec<Scenario> {
    // Enough for two retries.
    let poor = Scenario {
        keys: &[Key::Budget],
        budget: || Budget::standard().capacity(28),
        steps: vec![TRANSIENT; 4],
        begun: vec![0, 1_000, 3_000],
        reported: retried(
            "starting 2; retrying 2 after 2s: transient; starting 3; gave up 3: budget",
        ),
        tokens: 0.0,
        ..Scenario::default()
    };
    vec![
        // The last retry is refunded.
        Scenario {
            steps: vec![TRANSIENT; 2],
            succeeds: true,
            reported: retried(
                "starting 2; retrying 2 after 2s: transient; starting 3; succeeded 3",
            ),
            tokens: RETRY,
            ..poor.clone()
        },
        // A call that succeeds at once is worth one.
        Scenario {
            before: |world| world.withdraw(),
            steps: vec![],
            succeeds: true,
            begun: vec![0],
            reported: events("starting 1; succeeded 1"),
            tokens: 28.0 - RETRY + 1.0,
            ..poor.clone()
        },
        // The server responded, so the retry's payment is refunded.
        Scenario {
            steps: vec![TRANSIENT, STOP],
            begun: vec![0, 1_000],
            reported: retried("starting 2; gave up 2: not retryable"),
            tokens: 28.0,
            ..poor.clone()
        },
        poor,
    ]
}
