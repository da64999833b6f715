//! Every protection in every form: the same scenario has the same attempts, at the same times, for the same reason, and
//! observers see the same.

mod model;
mod rules;

use std::time::Duration;

use futures::stream::{Stream, StreamExt, once};
use retry_protections::RateLimiter;
use retry_runtime::{AttemptOutcome, Budget, Event, Kind, Verdict, retry, retrying};
use retry_work::plan::Validity;
use retry_work::{Plan, retry_each};
use support::failure::{Failure, STOP, THROTTLED, TRANSIENT, throttled_for};
use support::forms::{AMBIGUOUS, Scenario, World, seen};

/// Stands in for another crate's client.
trait Call {
    async fn call(&self, world: &World) -> Result<u32, Failure>;
}

struct Client;

impl Call for Client {
    async fn call(&self, world: &World) -> Result<u32, Failure> {
        world.attempt().await
    }
}

/// Runs a scenario in every form that makes one attempt at a time or several: attribute, expression, block and decorator.
macro_rules! in_functions {
    ($scenario:expr, |$world:ident| [$($keys:tt)*]) => {{
        #[retry(name = "call", policy = $world.policy, observe = |event: &Event<'_>| $world.tell(event), $($keys)*)]
        async fn attribute($world: &World) -> Result<u32, Failure> {
            $world.attempt().await
        }

        async fn expression($world: &World) -> Result<u32, Failure> {
            retrying!(
                name = "call",
                policy = $world.policy,
                observe = |event: &Event<'_>| $world.tell(event),
                $($keys)*,
                async { $world.attempt().await }
            )
            .await
        }

        struct Block;

        #[retry(name = "call", policy = $world.policy, observe = |event: &Event<'_>| $world.tell(event), $($keys)*)]
        impl Block {
            async fn call(&self, $world: &World) -> Result<u32, Failure> {
                $world.attempt().await
            }
        }

        #[retry(wrapper = Decorator, of = Call, name = "call", policy = $world.policy,
            observe = |event: &Event<'_>| $world.tell(event), $($keys)*)]
        trait Copied {
            async fn call(&self, $world: &World) -> Result<u32, Failure>;
        }

        let scenario = &$scenario;
        seen("attribute", scenario, async |world| attribute(world).await.is_ok()).await;
        seen("expression", scenario, async |world| expression(world).await.is_ok()).await;
        seen("block", scenario, async |world| Block.call(world).await.is_ok()).await;
        let decorator = Decorator::new(Client);
        seen("decorator", scenario, async |world| decorator.call(world).await.is_ok()).await;
    }};
}

/// Runs a scenario in every form: those, streams, chains, batches and plans. Keys are named as in a chain.
macro_rules! in_all_forms {
    ($scenario:expr, |$world:ident| $(.$key:ident($($value:tt)*))*) => {{
        in_functions!($scenario, |$world| [$($key($($value)*)),*]);

        {
            #[retry(stream, name = "call", policy = $world.policy,
                observe = |event: &Event<'_>| $world.tell(event), $($key($($value)*)),*)]
            fn stream($world: &World) -> impl Stream<Item = Result<u32, Failure>> {
                once($world.attempt())
            }

            let scenario = &$scenario;
            seen("stream", scenario, async |world| {
                let items: Vec<_> = stream(world).collect().await;
                items.iter().all(Result::is_ok)
            })
            .await;
        }
        let scenario = &$scenario;
        seen("chain", scenario, async |$world| {
            let chain = $world.policy.name("call");
            let chain = chain.observe(|event: &Event<'_>| $world.tell(event))$(.$key($($value)*))*;
            chain.call(async || $world.attempt().await).await.is_ok()
        })
        .await;
        seen("batch", scenario, async |$world| {
            let chain = $world.policy.name("call");
            let chain = chain.observe(|event: &Event<'_>| $world.tell(event))$(.$key($($value)*))*;
            let results = retry_each(chain, [()], async |_| Ok(vec![$world.attempt().await]));
            results.await[0].is_ok()
        })
        .await;
        seen("plan", scenario, async |$world| {
            let chain = $world.policy.name("call");
            let chain = chain.observe(|event: &Event<'_>| $world.tell_of_plan(event))$(.$key($($value)*))*;
            let mut plan = Plan::local();
            plan.add("it", [], async |[]| $world.attempt().await);
            let end = plan.run_until(chain, async |results| match results.output("it") {
                Some(_) => Validity::Valid,
                None => Validity::Invalid("it failed".into()),
            });
            end.await.unwrap().is_valid()
        })
        .await;
    }};
}

const fn secs(secs: u64) -> Duration {
    Duration::from_secs(secs)
}

#[tokio::test(start_paused = true)]
async fn a_budget() {
    // Enough for two retries.
    let poor = || Budget::standard().capacity(28);
    let scenario = Scenario {
        steps: vec![TRANSIENT; 4],
        budget: poor,
        begun: vec![0, 1000, 3000],
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
    in_all_forms!(scenario, |world| .budget(&world.budget));
    let scenario = Scenario {
        steps: vec![TRANSIENT, THROTTLED],
        budget: poor,
        succeeds: true,
        begun: vec![0, 1000, 3000],
        told: vec![
            "starting 1",
            "retrying 1 after 1s: transient",
            "starting 2",
            "retrying 2 after 2s: throttled",
            "starting 3",
            "succeeded 3",
        ],
        // The cost of its last retry.
        tokens: 28.0 - 14.0,
        ..Scenario::default()
    };
    in_all_forms!(scenario, |world| .budget(&world.budget));
}

#[tokio::test(start_paused = true)]
async fn a_breaker() {
    let opens = Scenario {
        opens_after: 2,
        steps: vec![TRANSIENT; 4],
        begun: vec![0, 1000],
        told: vec![
            "starting 1",
            "retrying 1 after 1s: transient",
            "starting 2",
            "breaker opened 2",
            "retrying 2 after 2s: transient",
            "gave up 2: rejected",
        ],
        // The retry that was not made is paid back.
        tokens: 500.0 - 14.0,
        ..Scenario::default()
    };
    in_all_forms!(opens, |world| .breaker(&world.breaker).budget(&world.budget));
    let is_open = Scenario {
        opens_after: 2,
        before: |world| {
            world.fail_at_breaker();
            world.fail_at_breaker();
        },
        begun: vec![],
        told: vec!["gave up 0: rejected"],
        ..Scenario::default()
    };
    in_all_forms!(is_open, |world| .breaker(&world.breaker));
    // Open for a second, as the server asked for.
    let trial = Scenario {
        opens_after: 2,
        before: |world| {
            let hint = Some(secs(1));
            let kind = Kind::Transient;
            world.fail_at_breaker();
            world.tell_breaker(AttemptOutcome::Failure { kind, hint });
        },
        starts: secs(1),
        succeeds: true,
        begun: vec![0],
        told: vec![
            "breaker half open 1",
            "starting 1",
            "breaker closed 1",
            "succeeded 1",
        ],
        ..Scenario::default()
    };
    in_all_forms!(trial, |world| .breaker(&world.breaker));
}

#[tokio::test(start_paused = true)]
async fn a_limiter() {
    let paced = Scenario {
        steps: vec![TRANSIENT],
        limiter: || RateLimiter::fixed(1, secs(3)),
        succeeds: true,
        begun: vec![0, 3000],
        told: vec![
            "starting 1",
            "retrying 1 after 1s: transient",
            "waiting 2",
            "waited 2 for 2s",
            "starting 2",
            "succeeded 2",
        ],
        ..Scenario::default()
    };
    in_all_forms!(paced, |world| .limiter(&world.limiter));
    let impatient = Scenario {
        steps: vec![TRANSIENT],
        limiter: || RateLimiter::fixed(1, secs(9)).max_wait(secs(5)),
        begun: vec![0],
        told: vec![
            "starting 1",
            "retrying 1 after 1s: transient",
            "waiting 2",
            "gave up 1: rejected",
        ],
        ..Scenario::default()
    };
    in_all_forms!(impatient, |world| .limiter(&world.limiter));
    let late = Scenario {
        policy: |policy| policy.deadline(secs(5)),
        told: vec![
            "starting 1",
            "retrying 1 after 1s: transient",
            "waiting 2",
            "gave up 1: deadline",
        ],
        limiter: || RateLimiter::fixed(1, secs(9)),
        ..impatient.clone()
    };
    in_all_forms!(late, |world| .limiter(&world.limiter));
    let first = Scenario {
        before: |world| world.take_turn(),
        begun: vec![],
        told: vec!["waiting 1", "gave up 0: rejected"],
        ..impatient
    };
    in_all_forms!(first, |world| .limiter(&world.limiter));
}

#[tokio::test(start_paused = true)]
async fn a_limiter_that_a_server_pauses() {
    let paused = Scenario {
        steps: vec![throttled_for(secs(7)), THROTTLED],
        succeeds: true,
        // A limiter takes care of throttled retries, so that no budget pays for them.
        begun: vec![0, 7000, 9000],
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
        tokens: 500.0,
        ..Scenario::default()
    };
    in_all_forms!(paused, |world| .limiter(&world.slots).budget(&world.budget));
}

#[tokio::test(start_paused = true)]
async fn all_at_once() {
    // The breaker is checked before the queue: no call waits while it is open.
    let scenario = Scenario {
        opens_after: 2,
        steps: vec![TRANSIENT; 4],
        limiter: || RateLimiter::fixed(1, secs(3)),
        begun: vec![0, 3000],
        told: vec![
            "starting 1",
            "retrying 1 after 1s: transient",
            "waiting 2",
            "waited 2 for 2s",
            "starting 2",
            "breaker opened 2",
            "retrying 2 after 2s: transient",
            "gave up 2: rejected",
        ],
        tokens: 500.0 - 14.0,
        ..Scenario::default()
    };
    in_all_forms!(scenario, |world| .breaker(&world.breaker).limiter(&world.limiter).budget(&world.budget));
}

#[tokio::test(start_paused = true)]
async fn cancellation() {
    let pausing = Scenario {
        steps: vec![TRANSIENT; 4],
        cancels: Some(Duration::from_millis(2500)),
        begun: vec![0, 1000],
        told: vec![
            "starting 1",
            "retrying 1 after 1s: transient",
            "starting 2",
            "retrying 2 after 2s: transient",
            "gave up 2: cancelled",
        ],
        tokens: 500.0 - 14.0,
        ends: 2500,
        ..Scenario::default()
    };
    in_all_forms!(pausing, |world| .cancel(world.token.cancelled()).budget(&world.budget));
    let waiting = Scenario {
        before: |world| world.take_turn(),
        limiter: || RateLimiter::fixed(1, secs(9)),
        cancels: Some(secs(4)),
        begun: vec![],
        told: vec!["waiting 1", "gave up 0: cancelled"],
        ends: 4000,
        ..Scenario::default()
    };
    in_all_forms!(waiting, |world| .cancel(world.token.cancelled()).limiter(&world.limiter));
}

#[tokio::test(start_paused = true)]
async fn a_deadline() {
    let scenario = Scenario {
        steps: vec![TRANSIENT; 4],
        policy: |policy| policy.deadline(Duration::from_millis(2500)),
        begun: vec![0, 1000],
        told: vec![
            "starting 1",
            "retrying 1 after 1s: transient",
            "starting 2",
            "gave up 2: deadline",
        ],
        // A retry that would be too late isn't paid for.
        tokens: 500.0 - 14.0,
        ..Scenario::default()
    };
    in_all_forms!(scenario, |world| .budget(&world.budget));
}

#[tokio::test(start_paused = true)]
async fn ambiguous_failures_of_non_idempotent_calls() {
    let scenario = Scenario {
        steps: vec![THROTTLED, AMBIGUOUS, TRANSIENT],
        begun: vec![0, 1000],
        told: vec![
            "starting 1",
            "retrying 1 after 1s: throttled",
            "starting 2",
            "gave up 2: ambiguous",
        ],
        ..Scenario::default()
    };
    in_all_forms!(scenario, |world| .idempotent(false));
}

#[tokio::test(start_paused = true)]
async fn failures_classified_by_a_bool_are_ambiguous() {
    let scenario = Scenario {
        steps: vec![TRANSIENT],
        begun: vec![0],
        told: vec!["starting 1", "gave up 1: ambiguous"],
        ..Scenario::default()
    };
    in_all_forms!(scenario, |world| .on(|_: &Failure| Verdict::from(true)).idempotent(false));
}

#[tokio::test(start_paused = true)]
async fn failures_not_worth_a_retry() {
    let scenario = Scenario {
        steps: vec![TRANSIENT, STOP],
        begun: vec![0, 1000],
        told: vec![
            "starting 1",
            "limit 1: 18",
            "retrying 1 after 1s: transient",
            "starting 2",
            "gave up 2: not retryable",
        ],
        // The server responded, so the retry's cost is refunded.
        tokens: 500.0,
        ..Scenario::default()
    };
    in_all_forms!(scenario, |world| .breaker(&world.breaker).limiter(&world.slots).budget(&world.budget));
}

/// Streams are handed on while they are read, and chains, batches and plans have no key `hedge`.
#[tokio::test(start_paused = true)]
async fn hedging() {
    let wins = Scenario {
        takes: vec![900, 50],
        succeeds: true,
        begun: vec![0, 200],
        told: vec!["starting 1", "hedging 2", "starting 2", "succeeded 2"],
        // A hedge isn't refunded; the success counts like that of a first attempt.
        tokens: 500.0 - 14.0 + 1.0,
        ends: 250,
        ..Scenario::default()
    };
    in_functions!(wins, |world| [
        hedge = "200ms",
        breaker = &world.breaker,
        limiter = &world.slots,
        budget = &world.budget
    ]);
    let fails = Scenario {
        opens_after: 2,
        policy: |policy| policy.max(1),
        takes: vec![300, 300],
        steps: vec![TRANSIENT, TRANSIENT],
        begun: vec![0, 200],
        told: vec![
            "starting 1",
            "hedging 2",
            "starting 2",
            "limit 1: 18",
            "failed 1: transient",
            "breaker opened 2",
            "gave up 2: exhausted",
        ],
        tokens: 500.0 - 14.0,
        ends: 500,
        ..Scenario::default()
    };
    in_functions!(fails, |world| [
        hedge = "200ms",
        breaker = &world.breaker,
        limiter = &world.slots,
        budget = &world.budget
    ]);
}
