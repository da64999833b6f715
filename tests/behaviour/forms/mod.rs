//! Every protection in every form, without other keys: the same scenario has the same attempts, at the same times, the
//! same reason, and the same events.

mod model;
mod rules;

use futures::stream::{Stream, StreamExt, once};
use support::forms::rules::all as all_rules;
use support::forms::{Key, Scenario, World, events, seen};
use support::prelude::*;

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

/// Runs a scenario in every form that makes one attempt at a time or several: attribute, expression, block and
/// decorator.
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

/// The scenarios of a rule that need no other keys than these. In `rules`, forms set all keys that they have.
fn alone(rule: &str, keys: &[Key]) -> Vec<Scenario> {
    let mut rules = all_rules().into_iter();
    let (_, mut scenarios) = rules.find(|(name, _)| *name == rule).expect("a rule");
    scenarios.retain(|scenario| scenario.keys.iter().all(|key| keys.contains(key)));
    assert!(!scenarios.is_empty(), "{rule}");
    for scenario in &mut scenarios {
        scenario.keys = &[];
    }
    scenarios
}

/// Runs the scenarios of a rule in forms that set only these keys.
macro_rules! hold_alone {
    ($($name:ident: $rule:literal, $keys:expr, |$world:ident| $(.$key:ident($($value:tt)*))*;)*) => {$(
        #[tokio::test(start_paused = true)]
        async fn $name() {
            for scenario in alone($rule, &$keys) {
                in_all_forms!(scenario, |$world| $(.$key($($value)*))*);
            }
        }
    )*};
}

hold_alone! {
    a_budget: "a retry that begins is paid for", [Key::Budget], |world| .budget(&world.budget);
    a_breaker: "a breaker sees each attempt once", [Key::Breaker],
        |world| .breaker(&world.breaker);
    a_breaker_and_a_budget: "a breaker sees each attempt once", [Key::Breaker, Key::Budget],
        |world| .breaker(&world.breaker).budget(&world.budget);
    a_breaker_and_a_limiter: "a breaker sees each attempt once", [Key::Breaker, Key::Limiter],
        |world| .breaker(&world.breaker).limiter(&world.gate);
    a_limiter: "an attempt begins in its turn", [Key::Limiter], |world| .limiter(&world.gate);
    a_limiter_and_a_budget: "an attempt begins in its turn", [Key::Limiter, Key::Budget],
        |world| .limiter(&world.gate).budget(&world.budget);
    a_limiter_that_a_server_pauses: "a limiter takes care of throttled retries",
        [Key::Limiter, Key::Budget], |world| .limiter(&world.gate).budget(&world.budget);
    a_deadline: "nothing begins that would end too late", [Key::Deadline],
        |world| .budget(&world.budget);
    a_deadline_and_a_limiter: "nothing begins that would end too late",
        [Key::Deadline, Key::Limiter, Key::Budget],
        |world| .limiter(&world.gate).budget(&world.budget);
    a_cancellation: "a cancelled call ends with what it has", [Key::Cancel, Key::Budget],
        |world| .cancel(world.token.cancelled()).budget(&world.budget);
    a_cancellation_and_a_limiter: "a cancelled call ends with what it has", [Key::Cancel, Key::Limiter],
        |world| .cancel(world.token.cancelled()).limiter(&world.gate);
    ambiguous_failures: "an ambiguous failure may not be repeated", [Key::Idempotent],
        |world| .idempotent(world.idempotent).budget(&world.budget);
}

#[tokio::test(start_paused = true)]
async fn all_at_once() {
    // The breaker is checked before the queue: no call waits while it is open.
    let scenario = Scenario {
        opens_after: 2,
        steps: vec![TRANSIENT; 4],
        limiter: || RateLimiter::fixed(1, secs(3)),
        begun: vec![0, 3000],
        reported: events(
            "starting 1; retrying 1 after 1s: transient; waiting 2; waited 2 for 2s; \
            starting 2; breaker opened 2; retrying 2 after 2s: transient; gave up 2: rejected",
        ),
        tokens: 500.0 - 14.0,
        ..Scenario::default()
    };
    in_all_forms!(scenario, |world| .breaker(&world.breaker).limiter(&world.limiter).budget(&world.budget));
}

/// Streams are handed on while they are read, and chains, batches and plans have no key `hedge`.
#[tokio::test(start_paused = true)]
async fn hedging() {
    let wins = Scenario {
        takes: vec![900, 50],
        succeeds: true,
        begun: vec![0, 200],
        reported: events("starting 1; hedging 2; starting 2; succeeded 2"),
        // A hedge isn't refunded; the success counts like that of a first attempt.
        tokens: 500.0 - 14.0 + 1.0,
        ends: 250,
        ..Scenario::default()
    };
    let fails = Scenario {
        opens_after: 2,
        policy: |policy| policy.max(1),
        takes: vec![300, 300],
        steps: vec![TRANSIENT, TRANSIENT],
        begun: vec![0, 200],
        reported: events(
            "starting 1; hedging 2; starting 2; limit 1: 18; failed 1: transient; \
            breaker opened 2; gave up 2: exhausted",
        ),
        tokens: 500.0 - 14.0,
        ends: 500,
        ..Scenario::default()
    };
    for scenario in [wins, fails] {
        in_functions!(scenario, |world| [
            hedge = "200ms",
            breaker = &world.breaker,
            limiter = &world.slots,
            budget = &world.budget
        ]);
    }
}
