//! Rules that hold in every form, each with its scenarios. `tests/behaviour` and `tests/clients` run all scenarios in
//! their forms.
//!
//! Every form sets the keys `policy`, `on`, `idempotent`, `breaker`, `cancel` and `observe`. Forms that have `timeout`
//! set it, too; all but batches and plans set `before_pause`.

use std::time::Duration;

use retry_runtime::{Policy, Section, Verdict};

use super::{AMBIGUOUS, Form, Scenario};
use crate::failure::{STOP, THROTTLED, TRANSIENT};

/// The rules, by name.
pub fn all() -> Vec<(&'static str, Vec<Scenario>)> {
    vec![
        ("a dropped attempt is a timeout", dropped()),
        (
            "a call that is cancelled when its attempt fails ends at once",
            cancelled(),
        ),
        ("`enabled = false` ends calls as `max = 0` does", off()),
    ]
}

impl Scenario {
    /// Returns true if a form has the keys that the scenario needs.
    pub fn is_for(&self, form: Form) -> bool {
        self.limit == Duration::MAX || form.lacks_timeout().is_none()
    }
}

/// Attempts that take 2 s, with a timeout of 1 s.
fn dropped() -> Vec<Scenario> {
    let slow = Scenario {
        takes: vec![2_000; 9],
        limit: Duration::from_secs(1),
        verdict: Some(Verdict::TRANSIENT),
        begun: vec![0],
        ends: 1_000,
        ..Scenario::default()
    };
    vec![
        Scenario {
            idempotent: false,
            told: vec!["starting 1", "gave up 1: ambiguous"],
            ..slow.clone()
        },
        Scenario {
            policy: |policy| policy.timed_out(Section::new().max(1)),

            begun: vec![0, 2_000],
            told: vec![
                "starting 1",
                "retrying 1 after 1s: timeout",
                "starting 2",
                "breaker opened 2",
                "gave up 2: exhausted",
            ],
            ends: 3_000,
            ..slow.clone()
        },
        Scenario {
            verdict: Some(Verdict::STOP),
            before: |world| world.fail_at_breaker(),
            told: vec!["starting 1", "breaker opened 1", "gave up 1: not retryable"],
            ..slow
        },
    ]
}

fn cancelled() -> Vec<Scenario> {
    vec![Scenario {
        steps: vec![TRANSIENT; 9],
        takes: vec![2_000],
        cancels: Some(Duration::from_secs(1)),
        begun: vec![0],
        told: vec!["starting 1", "gave up 1: cancelled"],
        ..Scenario::default()
    }]
}

fn off() -> Vec<Scenario> {
    let policies: [fn(Policy) -> Policy; 2] = [
        |policy| policy.max(0),
        |policy| policy.throttled(Section::new().max(9)).enabled(false),
    ];
    let scenarios = policies.map(|policy| {
        let once = |failure, reason| Scenario {
            policy,
            steps: vec![failure],
            begun: vec![0],
            told: vec!["starting 1", reason],
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
                cancels: Some(Duration::from_secs(1)),
                ..once(TRANSIENT, "gave up 1: cancelled")
            },
        ]
    });
    scenarios.into_iter().flatten().collect()
}
