//! Runs `support::forms::rules` in all forms except those of whole clients, which
//! `tests/clients/whole_clients/rules.rs` covers.

use futures::stream::{Stream, StreamExt, once};
use retry_runtime::own_loop::{Attempts, Site};
use retry_runtime::seam::CancelFn;
use support::forms::{Form, Key, World, differences, rules};
use support::prelude::*;

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
    assert!(differ.is_empty(), "{}", differ.join("\n\n"));
}

#[test]
fn every_form_has_a_row_for_each_of_its_keys() {
    for key in Key::ALL {
        for form in Form::ALL.iter().filter(|form| form.lacks(*key).is_none()) {
            let rules = rules::all();
            let mut rows = rules.iter().flat_map(|(_, scenarios)| scenarios);
            let is_tested = rows.any(|row| row.keys.contains(key) && row.is_for(*form));
            assert!(is_tested, "{form:?}: {key:?}");
        }
    }
}

/// Makes the call in one form. Returns true if it succeeds.
pub(super) async fn call(form: Form, world: &Arc<World>) -> bool {
    match form {
        Form::StreamResume => is_read(stream_resume(world)).await,
        Form::Batch => batch(world).await,
        Form::BatchBlocking => world.skipping(|| batch_blocking(world)),
        Form::Plan => plan(world).await,
        Form::OwnLoop => own_loop(world).await.is_some(),
        Form::OwnLoopBlocking => world.skipping(|| own_loop_blocking(world).is_some()),
        _ if world.falls_back => falling_back::call(form, world).await,
        _ => plain::call(form, world).await,
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
            enabled = $world.enabled,
            repeats = $world.repeats,
            timeout = $world.limit,
            breaker = &$world.breaker,
            limiter = &$world.gate,
            budget = &$world.budget,
            cancel = $world.token.cancelled(),
            before_pause = async |_, next| $world.hook(Key::BeforePause, next).await,
            before_retry = async |_, next| $world.hook(Key::BeforeRetry, next).await,
            observe = |event: &Event<'_>| $world.tell(event)
            $($key)*
        )]
        $item
    };
}

/// A chain with the keys that all chains set.
macro_rules! chain {
    ($world:ident, $tell:ident, $cancel:expr) => {
        $world
            .policy_with_enabled()
            .name("call")
            .on(|error: &Failure| $world.on(error))
            .idempotent($world.idempotent)
            .breaker(&$world.breaker)
            .limiter(&$world.gate)
            .budget(&$world.budget)
            .cancel($cancel)
            .observe(|event: &Event<'_>| $world.$tell(event))
    };
}

/// A module with the forms that can have a `fallback`: with one, or without. The lists are added to the keys of async
/// forms, of streams, of blocking forms, of chains and of blocking chains.
macro_rules! forms {
    (
        mod $name:ident: $world:ident,
        [$($of_async:tt)*]
        [$($of_stream:tt)*]
        [$($of_blocking:tt)*]
        [$($of_chain:tt)*]
        [$($of_blocking_chain:tt)*]
    ) => {
        mod $name {
            use super::*;

            pub(super) async fn call(form: Form, world: &Arc<World>) -> bool {
                match form {
                    Form::Attribute => attribute(world).await.is_ok(),
                    Form::AttributeBlocking => world.skipping(|| attribute_blocking(world).is_ok()),
                    Form::Expression => expression(world).await.is_ok(),
                    Form::ExpressionBlocking => world.skipping(|| expression_blocking(world).is_ok()),
                    Form::Block => Block.call(world).await.is_ok(),
                    Form::Decorator => Decorator::new(Client).call(world).await.is_ok(),
                    Form::StreamFirst => is_read(stream_first(world)).await,
                    Form::StreamBuffer => is_read(stream_buffer(world)).await,
                    Form::Hedge => hedged(world).await.is_ok(),
                    Form::Chain => chain(world).await.is_ok(),
                    Form::ChainBlocking => world.skipping(|| chain_blocking(world).is_ok()),
                    Form::StreamResume
                    | Form::Batch
                    | Form::BatchBlocking
                    | Form::Plan
                    | Form::OwnLoop
                    | Form::OwnLoopBlocking => {
                        unreachable!("{form:?} has no `fallback`")
                    }
                    Form::LayerByClone | Form::LayerOfHttp | Form::Middleware => {
                        unreachable!("{form:?} is tested in tests/clients")
                    }
                }
            }

            with_keys! {
                ($world, until = |value| $world.until(*value) $($of_async)*)
                async fn attribute($world: &World) -> Result<u32, Failure> {
                    $world.attempt().await
                }
            }

            with_keys! {
                ($world, hedge = Duration::MAX, until = |value| $world.until(*value) $($of_async)*)
                async fn hedged($world: &World) -> Result<u32, Failure> {
                    $world.attempt().await
                }
            }

            with_keys! {
                ($world, stream = "first" $($of_stream)*)
                fn stream_first($world: &World) -> impl Stream<Item = Result<u32, Failure>> {
                    once($world.attempt()).boxed()
                }
            }

            with_keys! {
                ($world, stream = "buffer" $($of_stream)*)
                fn stream_buffer($world: &World) -> impl Stream<Item = Result<u32, Failure>> {
                    once($world.attempt()).boxed()
                }
            }

            struct Block;

            with_keys! {
                ($world, until = |value| $world.until(*value) $($of_async)*)
                impl Block {
                    async fn call(&self, $world: &World) -> Result<u32, Failure> {
                        $world.attempt().await
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
                ($world, wrapper = Decorator, of = Call, until = |value| $world.until(*value) $($of_async)*)
                trait Copied {
                    async fn call(&self, $world: &World) -> Result<u32, Failure>;
                }
            }

            async fn expression($world: &World) -> Result<u32, Failure> {
                retrying!(
                    name = "call",
                    policy = $world.policy,
                    on = |error: &Failure| $world.on(error),
                    idempotent = $world.idempotent,
                    enabled = $world.enabled,
                    repeats = $world.repeats,
                    timeout = $world.limit,
                    breaker = &$world.breaker,
                    limiter = &$world.gate,
                    budget = &$world.budget,
                    cancel = $world.token.cancelled(),
                    until = |value: &u32| $world.until(*value),
                    before_pause = async |_: &Failure, next| $world.hook(Key::BeforePause, next).await,
                    before_retry = async |_: &Failure, next| $world.hook(Key::BeforeRetry, next).await,
                    observe = |event: &Event<'_>| $world.tell(event)
                    $($of_async)*,
                    async { $world.attempt().await }
                )
                .await
            }

            #[retry(
                name = "call",
                policy = $world.policy,
                on = |error: &Failure| $world.on(error),
                idempotent = $world.idempotent,
                enabled = $world.enabled,
                repeats = $world.repeats,
                breaker = &$world.breaker,
                limiter = &$world.gate,
                budget = &$world.budget,
                cancel = || $world.is_cancelled(),
                timer = &$world.clock,
                until = |value| $world.until(*value),
                before_pause = |_, next| $world.hook_blocking(Key::BeforePause, next),
                before_retry = |_, next| $world.hook_blocking(Key::BeforeRetry, next),
                observe = |event: &Event<'_>| $world.tell(event)
                $($of_blocking)*
            )]
            fn attribute_blocking($world: &World) -> Result<u32, Failure> {
                $world.attempt_blocking()
            }

            fn expression_blocking($world: &World) -> Result<u32, Failure> {
                retrying!(
                    name = "call",
                    policy = $world.policy,
                    on = |error: &Failure| $world.on(error),
                    idempotent = $world.idempotent,
                    enabled = $world.enabled,
                    repeats = $world.repeats,
                    breaker = &$world.breaker,
                    limiter = &$world.gate,
                    budget = &$world.budget,
                    cancel = || $world.is_cancelled(),
                    timer = &$world.clock,
                    until = |value: &u32| $world.until(*value),
                    before_pause = |_: &Failure, next| $world.hook_blocking(Key::BeforePause, next),
                    before_retry = |_: &Failure, next| $world.hook_blocking(Key::BeforeRetry, next),
                    observe = |event: &Event<'_>| $world.tell(event)
                    $($of_blocking)*,
                    { $world.attempt_blocking() }
                )
            }

            async fn chain($world: &Arc<World>) -> Result<u32, Failure> {
                let hook = |key| move |_: &Failure, next| {
                    let world = Arc::clone($world);
                    async move { world.hook(key, next).await }
                };
                chain!($world, tell, $world.token.cancelled())
                    .timeout($world.limit)
                    .until(|value: &u32| $world.until(*value))
                    .before_pause(hook(Key::BeforePause))
                    .before_retry(hook(Key::BeforeRetry))
                    $($of_chain)*
                    .call(async || $world.attempt().await)
                    .await
            }

            fn chain_blocking($world: &World) -> Result<u32, Failure> {
                let hook = |key| move |_: &Failure, next| $world.hook_blocking(key, next);
                chain!($world, tell, CancelFn::new(|| $world.is_cancelled()))
                    .timer(&$world.clock)
                    .until(|value: &u32| $world.until(*value))
                    .before_pause(hook(Key::BeforePause))
                    .before_retry(hook(Key::BeforeRetry))
                    $($of_blocking_chain)*
                    .call_blocking(|| $world.attempt_blocking())
            }
        }
    };
}

forms! { mod plain: world, [] [] [] [] [] }

forms! {
    mod falling_back: world,
    [, fallback = async |_: GaveUp<Failure>| Ok(0)]
    [, fallback = async |_: GaveUp<Failure>| Ok(once(ready(Ok(0))).boxed())]
    [, fallback = |_: GaveUp<Failure>| Ok(0)]
    [.fallback(|_: GaveUp<Failure>| ready(Ok(0)))]
    [.fallback(|_: GaveUp<Failure>| Ok(0))]
}

with_keys! {
    (world, stream = "resume", attempt = _attempt)
    fn stream_resume(world: &World) -> impl Stream<Item = Result<u32, Failure>> {
        once(world.attempt())
    }
}

async fn batch(world: &World) -> bool {
    let chain = chain!(world, tell, world.token.cancelled());
    let results = retry_each(chain, [()], async |_| Ok(vec![world.attempt().await]));
    results.await[0].is_ok()
}

fn batch_blocking(world: &World) -> bool {
    let chain = chain!(world, tell, CancelFn::new(|| world.is_cancelled())).timer(&world.clock);
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

async fn own_loop(world: &World) -> Option<u32> {
    let policy = world.policy_with_enabled();
    let site = Site::new(&policy, "call");
    let mut attempts = Attempts::new(&site)
        .idempotent(world.idempotent)
        .breaker(&world.breaker)
        .limiter(&world.gate)
        .budget(&world.budget)
        .cancel(world.token.cancelled())
        .observe(|event| world.tell(event));
    attempts.first().await.ok()?;
    loop {
        match world.attempt().await {
            Ok(value) => return Some(attempts.ok(value)),
            Err(error) => {
                let verdict = world.on(&error);
                attempts.again_if(error, verdict).await.ok()?;
            }
        }
    }
}

fn own_loop_blocking(world: &World) -> Option<u32> {
    let policy = world.policy_with_enabled();
    let site = Site::new(&policy, "call");
    let cancel = CancelFn::new(|| world.is_cancelled());
    let mut attempts = Attempts::new(&site)
        .timer(&world.clock)
        .idempotent(world.idempotent)
        .breaker(&world.breaker)
        .limiter(&world.gate)
        .budget(&world.budget)
        .cancel_blocking(&cancel)
        .observe(|event| world.tell(event));
    attempts.first_blocking().ok()?;
    loop {
        match world.attempt_blocking() {
            Ok(value) => return Some(attempts.ok(value)),
            Err(error) => {
                let verdict = world.on(&error);
                attempts.again_if_blocking(error, verdict).ok()?;
            }
        }
    }
}
