//! Runs `support::forms::rules` in all forms except those of whole clients, which `tests/clients/whole_clients/rules.rs`
//! covers.

use std::future::ready;
use std::sync::Arc;
use std::time::Duration;

use futures::stream::{Stream, StreamExt, once};
use retry_runtime::plan::Validity;
use retry_runtime::{
    CancelFn, Event, Plan, Verdict, retry, retry_each, retry_each_blocking, retrying,
};
use support::failure::Failure;
use support::forms::{Form, World, differences, rules};

#[tokio::test(start_paused = true)]
async fn every_rule_holds_in_every_form() {
    let mut differ = Vec::new();
    for (rule, scenarios) in rules::all() {
        for (number, scenario) in scenarios.iter().enumerate() {
            let forms = Form::ALL.iter().filter(|form| !form.is_of_whole_client());
            for form in forms.filter(|form| scenario.is_for(**form)) {
                let of = format!("{rule}, {number}: {form:?}");
                let call = async |world: &Arc<World>| call(*form, world).await;
                differ.extend(differences(of, scenario, call).await);
            }
        }
    }
    assert!(differ.is_empty(), "{differ:#?}");
}

/// Makes the call in one form. Returns true if it succeeds.
async fn call(form: Form, world: &Arc<World>) -> bool {
    match form {
        Form::Attribute => attribute(world).await.is_ok(),
        Form::AttributeBlocking => attribute_blocking(world).is_ok(),
        Form::Expression => expression(world).await.is_ok(),
        Form::ExpressionBlocking => expression_blocking(world).is_ok(),
        Form::Block => Block.call(world).await.is_ok(),
        Form::Decorator => Decorator::new(Client).call(world).await.is_ok(),
        Form::StreamFirst => is_read(stream_first(world)).await,
        Form::StreamBuffer => is_read(stream_buffer(world)).await,
        Form::StreamResume => is_read(stream_resume(world)).await,
        Form::Hedge => hedged(world).await.is_ok(),
        Form::Chain => chain(world).await.is_ok(),
        Form::ChainBlocking => chain_blocking(world).is_ok(),
        Form::Batch => batch(world).await,
        Form::BatchBlocking => batch_blocking(world),
        Form::Plan => plan(world).await,
        Form::LayerByClone | Form::LayerOfHttp | Form::Middleware => {
            unreachable!("{form:?} is tested in tests/clients")
        }
    }
}

async fn is_read(stream: impl Stream<Item = Result<u32, Failure>>) -> bool {
    let items: Vec<_> = stream.collect().await;
    items.iter().all(Result::is_ok)
}

/// Puts `#[retry]` with the keys of all async forms on an item.
macro_rules! with_keys {
    (($world:ident $($key:tt)*) $item:item) => {
        #[retry(
            name = "call",
            policy = $world.policy,
            on = |error: &Failure| -> Verdict { $world.on(error) },
            idempotent = $world.idempotent,
            timeout = $world.limit,
            breaker = &$world.breaker,
            cancel = $world.token.cancelled(),
            observe = |event: &Event<'_>| $world.tell(event)
            $($key)*
        )]
        $item
    };
}

with_keys! {
    (world, before_pause = async |_: &Failure, _| world.before_pause())
    async fn attribute(world: &World) -> Result<u32, Failure> {
        world.attempt().await
    }
}

with_keys! {
    (world, hedge = Duration::MAX, before_pause = async |_: &Failure, _| world.before_pause())
    async fn hedged(world: &World) -> Result<u32, Failure> {
        world.attempt().await
    }
}

with_keys! {
    (world, stream = "first", before_pause = async |_: &Failure, _| world.before_pause())
    fn stream_first(world: &World) -> impl Stream<Item = Result<u32, Failure>> {
        once(world.attempt())
    }
}

with_keys! {
    (world, stream = "buffer", before_pause = async |_: &Failure, _| world.before_pause())
    fn stream_buffer(world: &World) -> impl Stream<Item = Result<u32, Failure>> {
        once(world.attempt())
    }
}

with_keys! {
    (world, stream = "resume", attempt = _attempt, before_pause = async |_: &Failure, _| world.before_pause())
    fn stream_resume(world: &World) -> impl Stream<Item = Result<u32, Failure>> {
        once(world.attempt())
    }
}

struct Block;

with_keys! {
    (world, before_pause = async |_: &Failure, _| world.before_pause())
    impl Block {
        async fn call(&self, world: &World) -> Result<u32, Failure> {
            world.attempt().await
        }
    }
}

struct Client;

trait Call {
    async fn call(&self, world: &World) -> Result<u32, Failure>;
}

impl Call for Client {
    async fn call(&self, world: &World) -> Result<u32, Failure> {
        world.attempt().await
    }
}

with_keys! {
    (world, before_pause = async |_: &Failure, _| world.before_pause(), wrapper = Decorator, of = Call)
    trait Copied {
        async fn call(&self, world: &World) -> Result<u32, Failure>;
    }
}

async fn expression(world: &World) -> Result<u32, Failure> {
    retrying!(
        name = "call",
        policy = world.policy,
        on = |error: &Failure| world.on(error),
        idempotent = world.idempotent,
        timeout = world.limit,
        breaker = &world.breaker,
        cancel = world.token.cancelled(),
        observe = |event: &Event<'_>| world.tell(event),
        before_pause = async |_: &Failure, _| world.before_pause(),
        async { world.attempt().await }
    )
    .await
}

#[retry(
    name = "call",
    policy = world.policy,
    on = |error: &Failure| world.on(error),
    idempotent = world.idempotent,
    breaker = &world.breaker,
    cancel = || world.token.is_cancelled(),
    observe = |event: &Event<'_>| world.tell(event),
    before_pause = |_: &Failure, _| world.before_pause()
)]
fn attribute_blocking(world: &World) -> Result<u32, Failure> {
    world.attempt_blocking()
}

fn expression_blocking(world: &World) -> Result<u32, Failure> {
    retrying!(
        name = "call",
        policy = world.policy,
        on = |error: &Failure| world.on(error),
        idempotent = world.idempotent,
        breaker = &world.breaker,
        cancel = || world.token.is_cancelled(),
        observe = |event: &Event<'_>| world.tell(event),
        before_pause = |_: &Failure, _| world.before_pause(),
        { world.attempt_blocking() }
    )
}

/// A chain with the keys that all chains set.
macro_rules! chain {
    ($world:ident, $tell:ident, $cancel:expr) => {
        $world
            .policy
            .name("call")
            .on(|error: &Failure| $world.on(error))
            .idempotent($world.idempotent)
            .breaker(&$world.breaker)
            .cancel($cancel)
            .observe(|event: &Event<'_>| $world.$tell(event))
    };
}

async fn chain(world: &World) -> Result<u32, Failure> {
    chain!(world, tell, world.token.cancelled())
        .timeout(world.limit)
        .before_pause(|_: &Failure, _| {
            world.before_pause();
            ready(())
        })
        .call(async || world.attempt().await)
        .await
}

fn chain_blocking(world: &World) -> Result<u32, Failure> {
    chain!(world, tell, CancelFn::new(|| world.token.is_cancelled()))
        .before_pause(|_: &Failure, _| world.before_pause())
        .call_blocking(|| world.attempt_blocking())
}

async fn batch(world: &World) -> bool {
    let chain = chain!(world, tell, world.token.cancelled());
    let results = retry_each(chain, [()], async |_| Ok(vec![world.attempt().await]));
    results.await[0].is_ok()
}

fn batch_blocking(world: &World) -> bool {
    let chain = chain!(world, tell, CancelFn::new(|| world.token.is_cancelled()));
    let results = retry_each_blocking(chain, [()], |_| Ok(vec![world.attempt_blocking()]));
    results[0].is_ok()
}

async fn plan(world: &World) -> bool {
    let chain = chain!(world, tell_of_plan, world.token.cancelled());
    let mut plan = Plan::local();
    plan.add("it", [], async |[]| world.attempt().await);
    let end = plan.run_until(chain, async |results| match results.output("it") {
        Some(_) => Validity::Valid,
        None => Validity::Invalid("it failed".into()),
    });
    end.await.unwrap().is_valid()
}
