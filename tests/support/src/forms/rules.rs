//! Rules that hold in every form, each with its scenarios. `tests/behaviour` and `tests/clients` run all scenarios in
//! their forms.
//!
//! Every form sets all keys that it has, except `fallback`, which has columns of its own.

use std::time::Duration;

use retry_runtime::{Backoff, Budget, Policy, RateLimiter, Section, Verdict};

use super::{AMBIGUOUS, Form, Gate, Key, Scenario};
use crate::failure::{STOP, THROTTLED, TRANSIENT, throttled_for};

/// The rules, by name.
pub fn all() -> Vec<(&'static str, Vec<Scenario>)> {
    vec![
        ("`max` limits the retries, a section's its own", max()),
        ("a policy says how long each pause is", backoff()),
        ("nothing begins that would end too late", deadline()),
        ("a pause that ends late is over", stalled()),
        ("a cancelled call ends with what it has", cancelled()),
        ("a dropped attempt is a timeout", timeout()),
        ("a breaker sees each attempt once", breaker()),
        ("an attempt begins in its turn", limiter()),
        ("a limiter takes care of throttled retries", throttled()),
        ("a retry that begins is paid for", budget()),
        ("a rejection has a section of its own", rejected()),
        ("a value that `until` rejects is free", until()),
        ("an ambiguous failure may not be repeated", idempotent()),
        ("`enabled = false` ends calls as `max = 0` does", off()),
        ("the same failure in a row ends a call", repeats()),
        ("a fallback follows every reason", fallback()),
        ("a hook runs once for each retry", hooks()),
        ("a call that is dropped gives everything back", dropped()),
    ]
}

const fn secs(secs: u64) -> Duration {
    Duration::from_secs(secs)
}

const fn millis(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

/// Tries again every second.
const AGAIN: Section = Section::new().backoff(Backoff::Fixed).base(secs(1));

/// What the budget pays for a retry.
const RETRY: f64 = 14.0;
/// What it pays for one after a throttled attempt.
const THROTTLED_RETRY: f64 = 5.0;

fn max() -> Vec<Scenario> {
    let numbers = Scenario {
        keys: &[Key::Max, Key::Backoff, Key::Budget, Key::Observe],
        steps: vec![TRANSIENT; 9],
        ..Scenario::default()
    };
    vec![
        Scenario {
            begun: vec![0, 1_000, 3_000, 7_000],
            told: vec![
                "starting 1",
                "retrying 1 after 1s: transient",
                "starting 2",
                "retrying 2 after 2s: transient",
                "starting 3",
                "retrying 3 after 4s: transient",
                "starting 4",
                "gave up 4: exhausted",
            ],
            tokens: 500.0 - 3.0 * RETRY,
            ends: 7_000,
            ..numbers.clone()
        },
        Scenario {
            policy: |policy| policy.max(0),
            begun: vec![0],
            told: vec!["starting 1", "gave up 1: exhausted"],
            ..numbers.clone()
        },
        // Each delay grows with its own count.
        Scenario {
            policy: |policy| policy.throttled(Section::new().max(1)),
            steps: vec![THROTTLED, TRANSIENT, THROTTLED],
            begun: vec![0, 1_000, 2_000],
            told: vec![
                "starting 1",
                "retrying 1 after 1s: throttled",
                "starting 2",
                "retrying 2 after 1s: transient",
                "starting 3",
                "gave up 3: exhausted",
            ],
            tokens: 500.0 - RETRY - THROTTLED_RETRY,
            ..numbers.clone()
        },
        Scenario {
            steps: vec![TRANSIENT, STOP],
            begun: vec![0, 1_000],
            told: vec![
                "starting 1",
                "retrying 1 after 1s: transient",
                "starting 2",
                "gave up 2: not retryable",
            ],
            ..numbers
        },
    ]
}

fn backoff() -> Vec<Scenario> {
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
            told: vec![
                "starting 1",
                "retrying 1 after 500ms: transient",
                "starting 2",
                "retrying 2 after 500ms: transient",
                "starting 3",
                "succeeded 3",
            ],
            ..twice.clone()
        },
        Scenario {
            policy: |policy| policy.base(secs(3)).cap(secs(4)),
            begun: vec![0, 3_000, 7_000],
            told: vec![
                "starting 1",
                "retrying 1 after 3s: transient",
                "starting 2",
                "retrying 2 after 4s: transient",
                "starting 3",
                "succeeded 3",
            ],
            ..twice.clone()
        },
        Scenario {
            steps: vec![throttled_for(secs(7))],
            begun: vec![0, 7_000],
            told: vec![
                "starting 1",
                "retrying 1 after 7s: throttled",
                "starting 2",
                "succeeded 2",
            ],
            tokens: 500.0,
            ..twice.clone()
        },
        Scenario {
            steps: vec![throttled_for(secs(500))],
            succeeds: false,
            begun: vec![0],
            told: vec!["starting 1", "gave up 1: hint too long"],
            tokens: 500.0,
            ..twice
        },
    ]
}

fn deadline() -> Vec<Scenario> {
    let short = Scenario {
        keys: &[Key::Deadline],
        policy: |policy| policy.deadline(millis(2_500)),
        steps: vec![TRANSIENT; 9],
        ..Scenario::default()
    };
    let second = Scenario {
        begun: vec![0, 1_000],
        told: vec![
            "starting 1",
            "retrying 1 after 1s: transient",
            "starting 2",
            "gave up 2: deadline",
        ],
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
        told: vec![
            "starting 1",
            "retrying 1 after 1s: transient",
            "waiting 2",
            "gave up 1: deadline",
        ],
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
            told: vec!["starting 1", "gave up 1: deadline"],
            ends: 2_000,
            ..short
        },
        Scenario {
            before: |world| world.take_turn(),
            begun: vec![],
            told: vec!["waiting 1", "gave up 0: deadline"],
            ends: 0,
            ..impatient.clone()
        },
        impatient,
    ]
}

/// A pause of 1 s has a grace of 100 ms.
fn stalled() -> Vec<Scenario> {
    let in_grace = Scenario {
        keys: &[Key::Deadline],
        forms: |form| !form.is_dropped_at_deadline(),
        policy: |policy| policy.deadline(millis(1_050)),
        stalls: 1_000..1_150,
        steps: vec![TRANSIENT],
        succeeds: true,
        begun: vec![0, 1_150],
        told: vec![
            "starting 1",
            "retrying 1 after 1s: transient",
            "starting 2",
            "succeeded 2",
        ],
        ..Scenario::default()
    };
    let late = Scenario {
        succeeds: false,
        begun: vec![0],
        told: vec![
            "starting 1",
            "retrying 1 after 1s: transient",
            "gave up 1: deadline",
        ],
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
            told: vec![
                "starting 1",
                "retrying 1 after 1s: transient",
                "waiting 2",
                "gave up 1: deadline",
            ],
            ..late.clone()
        },
        // `before_retry` does not run.
        Scenario {
            keys: &[Key::Deadline, Key::BeforePause, Key::BeforeRetry],
            stalls: 1_000..1_200,
            told: vec![
                "starting 1",
                "retrying 1 after 1s: transient",
                "BeforePause 2 in 1s",
                "gave up 1: deadline",
            ],
            ends: 1_200,
            ..late
        },
        in_grace,
    ]
}

fn cancelled() -> Vec<Scenario> {
    let fails = Scenario {
        keys: &[Key::Cancel, Key::Budget],
        steps: vec![TRANSIENT; 9],
        takes: vec![2_000],
        cancels: Some(secs(1)),
        begun: vec![0],
        told: vec!["starting 1", "gave up 1: cancelled"],
        ends: 2_000,
        ..Scenario::default()
    };
    vec![
        Scenario {
            steps: vec![],
            succeeds: true,
            told: vec!["starting 1", "succeeded 1"],
            ..fails.clone()
        },
        Scenario {
            takes: vec![],
            cancels: Some(millis(2_500)),
            begun: vec![0, 1_000],
            told: vec![
                "starting 1",
                "retrying 1 after 1s: transient",
                "starting 2",
                "retrying 2 after 2s: transient",
                "gave up 2: cancelled",
            ],
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
            told: vec!["waiting 1", "gave up 0: cancelled"],
            ends: 4_000,
            ..fails.clone()
        },
        fails,
    ]
}

/// Attempts that take 2 s, with a timeout of 1 s.
fn timeout() -> Vec<Scenario> {
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
            tokens: 500.0 - RETRY,
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

fn breaker() -> Vec<Scenario> {
    let opens = Scenario {
        keys: &[Key::Breaker, Key::Budget],
        opens_after: 2,
        steps: vec![TRANSIENT; 9],
        begun: vec![0, 1_000],
        told: vec![
            "starting 1",
            "retrying 1 after 1s: transient",
            "starting 2",
            "breaker opened 2",
            "retrying 2 after 2s: transient",
            "gave up 2: rejected",
        ],
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
            told: vec![
                "breaker half open 1",
                "starting 1",
                "breaker closed 1",
                "succeeded 1",
            ],
            tokens: 500.0,
            ..half_open.clone()
        },
        Scenario {
            begun: vec![0],
            told: vec![
                "breaker half open 1",
                "starting 1",
                "breaker opened 1",
                "retrying 1 after 1s: transient",
                "gave up 1: rejected",
            ],
            tokens: 500.0,
            ends: 1_000,
            ..half_open.clone()
        },
        Scenario {
            starts: secs(4),
            begun: vec![],
            told: vec!["gave up 0: rejected"],
            tokens: 500.0,
            ..half_open
        },
        // Neither a throttled attempt nor one that the server answered is a failure.
        Scenario {
            opens_after: 1,
            steps: vec![THROTTLED, STOP],
            told: vec![
                "starting 1",
                "retrying 1 after 1s: throttled",
                "starting 2",
                "gave up 2: not retryable",
            ],
            tokens: 500.0,
            ends: 1_000,
            ..opens.clone()
        },
        opens,
        Scenario {
            down: 0..9_000,
            told: vec!["gave up 0: rejected"],
            turns: Some(0),
            ends: 0,
            ..down.clone()
        },
        Scenario {
            down: 2_000..9_000,
            told: vec!["waiting 1", "waited 1 for 3s", "gave up 0: rejected"],
            turns: Some(1),
            ends: 3_000,
            ..down
        },
    ]
}

fn limiter() -> Vec<Scenario> {
    let paced = Scenario {
        keys: &[Key::Limiter, Key::Budget],
        gate: Gate::Rate,
        limiter: || RateLimiter::fixed(1, secs(3)),
        steps: vec![TRANSIENT],
        succeeds: true,
        begun: vec![0, 3_000],
        told: vec![
            "starting 1",
            "retrying 1 after 1s: transient",
            "waiting 2",
            "waited 2 for 2s",
            "starting 2",
            "succeeded 2",
        ],
        turns: Some(0),
        ends: 3_000,
        ..Scenario::default()
    };
    let impatient = Scenario {
        limiter: || RateLimiter::fixed(1, secs(9)).max_wait(secs(5)),
        succeeds: false,
        begun: vec![0],
        told: vec![
            "starting 1",
            "retrying 1 after 1s: transient",
            "waiting 2",
            "gave up 1: rejected",
        ],
        ends: 1_000,
        ..paced.clone()
    };
    vec![
        Scenario {
            before: |world| world.take_turn(),
            begun: vec![],
            told: vec!["waiting 1", "gave up 0: rejected"],
            ends: 0,
            ..impatient.clone()
        },
        // The breaker lets nothing through once the turn has come, which is back at once.
        Scenario {
            keys: &[Key::Limiter, Key::Breaker, Key::Budget],
            down: 2_000..9_000,
            succeeds: false,
            begun: vec![0],
            told: vec![
                "starting 1",
                "retrying 1 after 1s: transient",
                "waiting 2",
                "waited 2 for 2s",
                "gave up 1: rejected",
            ],
            turns: Some(1),
            ..paced.clone()
        },
        paced,
        impatient,
        // A slot is taken by each attempt, and is back when that ends.
        Scenario {
            gate: Gate::Slots,
            begun: vec![0, 1_000],
            told: vec![
                "starting 1",
                "limit 1: 18",
                "retrying 1 after 1s: transient",
                "starting 2",
                "succeeded 2",
            ],
            steps: vec![TRANSIENT],
            succeeds: true,
            ..Scenario {
                keys: &[Key::Limiter],
                ..Scenario::default()
            }
        },
    ]
}

fn throttled() -> Vec<Scenario> {
    vec![Scenario {
        keys: &[Key::Limiter, Key::Budget],
        gate: Gate::Slots,
        steps: vec![throttled_for(secs(7)), THROTTLED],
        succeeds: true,
        begun: vec![0, 7_000, 9_000],
        told: vec![
            "starting 1",
            "limiter paused 1 for 7s",
            "limit 1: 18",
            "retrying 1 after 7s: throttled",
            "starting 2",
            "limit 2: 16",
            "retrying 2 after 2s: throttled",
            "starting 3",
            "limiter resumed 3",
            "succeeded 3",
        ],
        ..Scenario::default()
    }]
}

fn budget() -> Vec<Scenario> {
    // For two retries.
    let poor = Scenario {
        keys: &[Key::Budget],
        budget: || Budget::standard().capacity(28),
        steps: vec![TRANSIENT; 4],
        begun: vec![0, 1_000, 3_000],
        told: vec![
            "starting 1",
            "retrying 1 after 1s: transient",
            "starting 2",
            "retrying 2 after 2s: transient",
            "starting 3",
            "gave up 3: budget",
        ],
        tokens: 0.0,
        ..Scenario::default()
    };
    vec![
        // The last retry's payment comes back.
        Scenario {
            steps: vec![TRANSIENT; 2],
            succeeds: true,
            told: vec![
                "starting 1",
                "retrying 1 after 1s: transient",
                "starting 2",
                "retrying 2 after 2s: transient",
                "starting 3",
                "succeeded 3",
            ],
            tokens: RETRY,
            ..poor.clone()
        },
        // A call that succeeds at once is worth one.
        Scenario {
            before: |world| world.withdraw(),
            steps: vec![],
            succeeds: true,
            begun: vec![0],
            told: vec!["starting 1", "succeeded 1"],
            tokens: 28.0 - RETRY + 1.0,
            ..poor.clone()
        },
        // The server answered, so the retry's payment comes back.
        Scenario {
            steps: vec![TRANSIENT, STOP],
            begun: vec![0, 1_000],
            told: vec![
                "starting 1",
                "retrying 1 after 1s: transient",
                "starting 2",
                "gave up 2: not retryable",
            ],
            tokens: 28.0,
            ..poor.clone()
        },
        poor,
    ]
}

fn rejected() -> Vec<Scenario> {
    const KEYS: &[Key] = &[Key::Rejected, Key::Breaker, Key::Budget];
    let down = Scenario {
        keys: KEYS,
        policy: |policy| policy.max(1).rejected(AGAIN.max(3)),
        down: 0..1_500,
        succeeds: true,
        begun: vec![2_000],
        told: vec![
            "retrying 1 after 1s: rejected",
            "retrying 1 after 1s: rejected",
            "starting 1",
            "succeeded 1",
        ],
        ends: 2_000,
        ..Scenario::default()
    };
    // A rejection between two attempts: its payment is kept, and used once.
    let later = Scenario {
        steps: vec![TRANSIENT],
        down: 500..1_500,
        begun: vec![0, 2_000],
        told: vec![
            "starting 1",
            "retrying 1 after 1s: transient",
            "retrying 2 after 1s: rejected",
            "starting 2",
            "succeeded 2",
        ],
        ..down.clone()
    };
    vec![
        // The pause is at least as long as the breaker stays open: 5 s.
        Scenario {
            down: 0..0,
            opens_after: 1,
            before: |world| world.fail_at_breaker(),
            begun: vec![5_000],
            told: vec![
                "retrying 1 after 5s: rejected",
                "breaker half open 1",
                "starting 1",
                "breaker closed 1",
                "succeeded 1",
            ],
            ends: 5_000,
            ..down.clone()
        },
        // Without a `max`, the section has the policy's.
        Scenario {
            policy: |policy| policy.max(1).rejected(AGAIN),
            succeeds: false,
            begun: vec![],
            told: vec!["retrying 1 after 1s: rejected", "gave up 0: rejected"],
            ends: 1_000,
            ..down.clone()
        },
        Scenario {
            policy: |policy| policy.total_delay(millis(1_900)).rejected(AGAIN),
            keys: &[Key::Rejected, Key::Breaker, Key::Deadline],
            succeeds: false,
            begun: vec![],
            told: vec!["retrying 1 after 1s: rejected", "gave up 0: deadline"],
            ends: 1_000,
            ..down.clone()
        },
        Scenario {
            keys: &[Key::Rejected, Key::Breaker, Key::Fallback],
            falls_back: true,
            policy: |policy| policy.rejected(AGAIN.max(1)),
            begun: vec![],
            told: vec![
                "retrying 1 after 1s: rejected",
                "falling back 0: rejected",
                "fell back 0",
            ],
            ends: 1_000,
            ..down.clone()
        },
        // It uses up no retry of the failures.
        Scenario {
            steps: vec![TRANSIENT],
            begun: vec![2_000, 3_000],
            told: vec![
                "retrying 1 after 1s: rejected",
                "retrying 1 after 1s: rejected",
                "starting 1",
                "retrying 1 after 1s: transient",
                "starting 2",
                "succeeded 2",
            ],
            ends: 3_000,
            ..down.clone()
        },
        Scenario {
            down: 0..99_000,
            succeeds: false,
            begun: vec![],
            told: vec![
                "retrying 1 after 1s: rejected",
                "retrying 1 after 1s: rejected",
                "retrying 1 after 1s: rejected",
                "gave up 0: rejected",
            ],
            ends: 3_000,
            ..down.clone()
        },
        Scenario {
            policy: |policy| policy.rejected(AGAIN.max(1)),
            down: 500..99_000,
            succeeds: false,
            begun: vec![0],
            told: vec![
                "starting 1",
                "retrying 1 after 1s: transient",
                "retrying 2 after 1s: rejected",
                "gave up 1: rejected",
            ],
            ..later.clone()
        },
        // The limiter rejects it, as its turn would come too late.
        Scenario {
            keys: &[Key::Rejected, Key::Limiter, Key::Budget],
            gate: Gate::Rate,
            limiter: || RateLimiter::fixed(1, secs(4)).max_wait(secs(2)),
            down: 0..0,
            begun: vec![0, 4_000],
            told: vec![
                "starting 1",
                "retrying 1 after 1s: transient",
                "waiting 2",
                "retrying 2 after 1s: rejected",
                "waiting 2",
                "waited 2 for 2s",
                "starting 2",
                "succeeded 2",
            ],
            ends: 4_000,
            ..later.clone()
        },
        Scenario {
            keys: &[Key::Rejected, Key::Breaker, Key::Deadline, Key::Budget],
            policy: |policy| policy.deadline(millis(1_500)).rejected(AGAIN),
            succeeds: false,
            begun: vec![0],
            told: vec![
                "starting 1",
                "retrying 1 after 1s: transient",
                "gave up 1: deadline",
            ],
            ends: 1_000,
            ..later.clone()
        },
        Scenario {
            keys: &[Key::Rejected, Key::Breaker, Key::Cancel, Key::Budget],
            cancels: Some(millis(1_300)),
            succeeds: false,
            begun: vec![0],
            told: vec![
                "starting 1",
                "retrying 1 after 1s: transient",
                "retrying 2 after 1s: rejected",
                "gave up 1: cancelled",
            ],
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
            told: vec![
                "starting 1",
                "retrying 1 after 1s: transient",
                "BeforePause 2 in 1s",
                "BeforeRetry 2 in 1s",
                "retrying 2 after 1s: rejected",
                "starting 2",
                "succeeded 2",
            ],
            ..later.clone()
        },
        Scenario {
            keys: &[Key::Rejected, Key::Breaker, Key::Budget, Key::Drop],
            drops: Some(millis(1_300)),
            succeeds: false,
            begun: vec![0],
            told: vec![
                "starting 1",
                "retrying 1 after 1s: transient",
                "retrying 2 after 1s: rejected",
            ],
            ends: 1_300,
            ..later.clone()
        },
        Scenario {
            keys: &[Key::Rejected, Key::Breaker, Key::Budget, Key::Drop],
            drops: Some(millis(300)),
            succeeds: false,
            begun: vec![],
            told: vec!["retrying 1 after 1s: rejected"],
            ends: 300,
            ..down.clone()
        },
        down,
        later,
    ]
}

fn until() -> Vec<Scenario> {
    let rejects = Scenario {
        keys: &[Key::Until, Key::Breaker, Key::Budget],
        opens_after: 1,
        rejects: 2,
        succeeds: true,
        begun: vec![0, 1_000, 3_000],
        told: vec![
            "starting 1",
            "retrying 1 after 1s: transient",
            "starting 2",
            "retrying 2 after 2s: transient",
            "starting 3",
            "succeeded 3",
        ],
        ends: 3_000,
        ..Scenario::default()
    };
    // What ends the call during the pause returns the last value, too.
    let once = Scenario {
        rejects: 9,
        begun: vec![0],
        ..rejects.clone()
    };
    vec![
        Scenario {
            down: 500..9_000,
            told: vec![
                "starting 1",
                "retrying 1 after 1s: transient",
                "gave up 1: rejected",
            ],
            ends: 1_000,
            ..once.clone()
        },
        Scenario {
            keys: &[Key::Until, Key::Cancel],
            cancels: Some(millis(500)),
            told: vec![
                "starting 1",
                "retrying 1 after 1s: transient",
                "gave up 1: cancelled",
            ],
            ends: 500,
            ..once.clone()
        },
        Scenario {
            keys: &[Key::Until, Key::Deadline],
            policy: |policy| policy.deadline(millis(500)),
            told: vec!["starting 1", "gave up 1: deadline"],
            ends: 0,
            ..once.clone()
        },
        Scenario {
            keys: &[Key::Until, Key::Enabled],
            enabled: false,
            told: vec!["starting 1", "gave up 1: exhausted"],
            ends: 0,
            ..once.clone()
        },
        // No fallback follows: there is a value.
        Scenario {
            keys: &[Key::Until, Key::Fallback],
            falls_back: true,
            policy: |policy| policy.max(0),
            told: vec!["starting 1", "gave up 1: exhausted"],
            ends: 0,
            ..once
        },
        // The call returns the last value.
        Scenario {
            policy: |policy| policy.max(1),
            rejects: 9,
            begun: vec![0, 1_000],
            told: vec![
                "starting 1",
                "retrying 1 after 1s: transient",
                "starting 2",
                "gave up 2: exhausted",
            ],
            ends: 1_000,
            ..rejects.clone()
        },
        // There is no error to show a hook.
        Scenario {
            keys: &[Key::Until, Key::BeforePause, Key::BeforeRetry],
            ..rejects.clone()
        },
        // It is asked again whatever is idempotent.
        Scenario {
            keys: &[Key::Until, Key::Idempotent],
            idempotent: false,
            ..rejects.clone()
        },
        Scenario {
            keys: &[Key::Until, Key::Limiter],
            gate: Gate::Rate,
            limiter: || RateLimiter::fixed(1, secs(2)),
            rejects: 1,
            begun: vec![0, 2_000],
            told: vec![
                "starting 1",
                "retrying 1 after 1s: transient",
                "waiting 2",
                "waited 2 for 1s",
                "starting 2",
                "succeeded 2",
            ],
            ends: 2_000,
            ..rejects.clone()
        },
        rejects,
    ]
}

fn idempotent() -> Vec<Scenario> {
    vec![
        Scenario {
            keys: &[Key::Idempotent],
            idempotent: false,
            steps: vec![THROTTLED, AMBIGUOUS, TRANSIENT],
            begun: vec![0, 1_000],
            told: vec![
                "starting 1",
                "retrying 1 after 1s: throttled",
                "starting 2",
                "gave up 2: ambiguous",
            ],
            tokens: 500.0 - THROTTLED_RETRY,
            ..Scenario::default()
        },
        Scenario {
            keys: &[Key::Idempotent],
            steps: vec![AMBIGUOUS],
            succeeds: true,
            begun: vec![0, 1_000],
            told: vec![
                "starting 1",
                "retrying 1 after 1s: transient",
                "starting 2",
                "succeeded 2",
            ],
            ..Scenario::default()
        },
    ]
}

fn off() -> Vec<Scenario> {
    let policies: [(fn(Policy) -> Policy, bool); 3] = [
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
                cancels: Some(secs(1)),
                ..once(TRANSIENT, "gave up 1: cancelled")
            },
        ]
    });
    scenarios.into_iter().flatten().collect()
}

fn repeats() -> Vec<Scenario> {
    let repeated = Scenario {
        keys: &[Key::Repeats],
        repeats: 2,
        steps: vec![TRANSIENT; 9],
        begun: vec![0, 1_000],
        told: vec![
            "starting 1",
            "retrying 1 after 1s: transient",
            "starting 2",
            "gave up 2: repeated",
        ],
        tokens: 500.0 - RETRY,
        ..Scenario::default()
    };
    vec![
        Scenario {
            steps: vec![TRANSIENT, THROTTLED, TRANSIENT],
            succeeds: true,
            begun: vec![0, 1_000, 3_000, 7_000],
            told: vec![
                "starting 1",
                "retrying 1 after 1s: transient",
                "starting 2",
                "retrying 2 after 2s: throttled",
                "starting 3",
                "retrying 3 after 4s: transient",
                "starting 4",
                "succeeded 4",
            ],
            tokens: 500.0 - RETRY - THROTTLED_RETRY,
            ..repeated.clone()
        },
        repeated,
    ]
}

fn fallback() -> Vec<Scenario> {
    let exhausted = Scenario {
        keys: &[Key::Fallback, Key::Budget],
        falls_back: true,
        policy: |policy| policy.max(1),
        steps: vec![TRANSIENT; 9],
        succeeds: true,
        begun: vec![0, 1_000],
        told: vec![
            "starting 1",
            "retrying 1 after 1s: transient",
            "starting 2",
            "falling back 2: exhausted",
            "fell back 2",
        ],
        tokens: 500.0 - RETRY,
        ..Scenario::default()
    };
    let down = Scenario {
        keys: &[Key::Fallback, Key::Breaker],
        down: 0..9_000,
        begun: vec![],
        told: vec!["falling back 0: rejected", "fell back 0"],
        tokens: 500.0,
        ..exhausted.clone()
    };
    vec![
        Scenario {
            steps: vec![STOP],
            begun: vec![0],
            told: vec!["starting 1", "falling back 1: not retryable", "fell back 1"],
            tokens: 500.0,
            ..exhausted.clone()
        },
        Scenario {
            keys: &[Key::Fallback, Key::Cancel],
            cancels: Some(millis(500)),
            begun: vec![0],
            told: vec![
                "starting 1",
                "retrying 1 after 1s: transient",
                "falling back 1: cancelled",
                "fell back 1",
            ],
            tokens: 500.0,
            ends: 500,
            ..exhausted.clone()
        },
        Scenario {
            down: 500..9_000,
            begun: vec![0],
            told: vec![
                "starting 1",
                "retrying 1 after 1s: transient",
                "falling back 1: rejected",
                "fell back 1",
            ],
            ..down.clone()
        },
        Scenario {
            keys: &[Key::Fallback, Key::BeforePause],
            failing_hook: Some(Key::BeforePause),
            begun: vec![0],
            told: vec![
                "starting 1",
                "retrying 1 after 1s: transient",
                "BeforePause 2 in 1s",
                "falling back 1: hook failed",
                "fell back 1",
            ],
            tokens: 500.0,
            ..exhausted.clone()
        },
        exhausted,
        down,
    ]
}

fn hooks() -> Vec<Scenario> {
    const KEYS: &[Key] = &[Key::BeforePause, Key::BeforeRetry, Key::Budget];
    let both = Scenario {
        keys: KEYS,
        steps: vec![TRANSIENT; 2],
        hooks_take: [100, 200],
        succeeds: true,
        begun: vec![0, 1_300, 3_600],
        told: vec![
            "starting 1",
            "retrying 1 after 1s: transient",
            "BeforePause 2 in 1s",
            "BeforeRetry 2 in 1s",
            "starting 2",
            "retrying 2 after 2s: transient",
            "BeforePause 3 in 2s",
            "BeforeRetry 3 in 2s",
            "starting 3",
            "succeeded 3",
        ],
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
    let pauses = vec![
        "starting 1",
        "retrying 1 after 1s: transient",
        "BeforePause 2 in 1s",
    ];
    let retries = [pauses.clone(), vec!["BeforeRetry 2 in 1s"]].concat();
    let then = |told: &[&'static str], end| [told, &[end]].concat();
    vec![
        both,
        Scenario {
            failing_hook: Some(Key::BeforePause),
            told: then(&pauses, "gave up 1: hook failed"),
            ..ended.clone()
        },
        Scenario {
            failing_hook: Some(Key::BeforeRetry),
            told: then(&retries, "gave up 1: hook failed"),
            ends: 1_000,
            ..ended.clone()
        },
        // The pause would end too late after the hook.
        Scenario {
            policy: |policy| policy.deadline(millis(1_500)),
            hooks_take: [700, 0],
            told: then(&pauses, "gave up 1: deadline"),
            ends: 700,
            ..ended.clone()
        },
        Scenario {
            policy: |policy| policy.deadline(millis(1_500)),
            hooks_take: [0, 700],
            told: then(&retries, "gave up 1: deadline"),
            ends: 1_700,
            ..ended.clone()
        },
        Scenario {
            cancels: Some(millis(500)),
            told: then(&pauses, "gave up 1: cancelled"),
            ends: 500,
            ..ended.clone()
        },
        Scenario {
            steps: vec![STOP],
            told: vec!["starting 1", "gave up 1: not retryable"],
            ..ended.clone()
        },
        // A call can be dropped in a hook, and then pays for nothing.
        Scenario {
            keys: &[Key::BeforePause, Key::BeforeRetry, Key::Budget, Key::Drop],
            hooks_take: [0, 200],
            drops: Some(millis(1_100)),
            told: retries.clone(),
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
            told: [
                retries.clone(),
                vec!["waiting 2", "waited 2 for 2s", "starting 2", "succeeded 2"],
            ]
            .concat(),
            ..ended.clone()
        },
        Scenario {
            down: 1_100..9_000,
            hooks_take: [0, 200],
            told: then(&retries, "gave up 1: rejected"),
            ends: 1_200,
            ..ended
        },
    ]
}

fn dropped() -> Vec<Scenario> {
    let attempt = Scenario {
        keys: &[Key::Drop, Key::Limiter, Key::Breaker, Key::Budget],
        gate: Gate::Slots,
        steps: vec![TRANSIENT; 9],
        takes: vec![2_000; 9],
        drops: Some(secs(1)),
        begun: vec![0],
        told: vec!["starting 1"],
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
            told: vec!["breaker half open 1", "starting 1"],
            ..attempt.clone()
        },
        // During the pause, what was paid for the retry goes back.
        Scenario {
            drops: Some(millis(2_500)),
            told: vec![
                "starting 1",
                "limit 1: 18",
                "retrying 1 after 1s: transient",
            ],
            ends: 2_500,
            ..attempt.clone()
        },
        // During a retry, it doesn't.
        Scenario {
            drops: Some(millis(3_500)),
            begun: vec![0, 3_000],
            told: vec![
                "starting 1",
                "limit 1: 18",
                "retrying 1 after 1s: transient",
                "starting 2",
            ],
            tokens: 500.0 - RETRY,
            ends: 3_500,
            ..attempt.clone()
        },
        attempt,
        // During the wait for a turn of the first attempt, or of a later one.
        Scenario {
            before: |world| world.take_turn(),
            begun: vec![],
            told: vec!["waiting 1"],
            ..queue.clone()
        },
        Scenario {
            drops: Some(secs(2)),
            told: vec!["starting 1", "retrying 1 after 1s: transient", "waiting 2"],
            ends: 2_000,
            ..queue
        },
    ]
}
