//! Runs `support::forms::rules` in the forms of whole clients. `tests/behaviour/forms/rules.rs` covers all other forms.

use bytes::Bytes;
use http::{Request, Response};
use http_body_util::Full;
use retry_clients::ClientRetries;
use retry_clients::http::{Outcome, PeekedBody};
use retry_clients::tower::{GaveUp, HookFuture, RetryLayer};
use retry_runtime::own_loop::NextAttempt;
use support::forms::{Form, Key, World, differences, rules};
use support::prelude::*;
use tower::{Layer, ServiceExt, service_fn};

use super::scripted::{BoxError, post};

#[tokio::test(start_paused = true)]
async fn every_rule_holds_in_every_form() {
    let mut differ = Vec::new();
    for (rule, scenarios) in rules::all() {
        for (number, scenario) in scenarios.iter().enumerate() {
            let forms = Form::ALL.iter().filter(|form| form.is_of_whole_client());
            for form in forms.filter(|form| !is_off(**form) && scenario.is_for(**form)) {
                let of = format!("{rule}, {number}: {form:?}");
                let call = async |world: &Arc<World>| call(*form, world).await;
                differ.extend(differences(of, scenario, call).await);
            }
        }
    }
    assert!(differ.is_empty(), "{}", differ.join("\n\n"));
}

/// Returns true if a feature that the form needs is off.
fn is_off(form: Form) -> bool {
    form == Form::Middleware && !cfg!(feature = "reqwest_middleware")
}

/// Makes the call in one form. Returns true if it succeeds.
async fn call(form: Form, world: &Arc<World>) -> bool {
    match form {
        Form::LayerByClone => by_clone(world).await,
        Form::LayerOfHttp => of_http(world).await,
        #[cfg(feature = "reqwest_middleware")]
        Form::Middleware => middleware::is_answered(world).await,
        _ => unreachable!("{form:?} is tested in tests/behaviour"),
    }
}

/// The hook of every form.
fn hook(
    world: &Arc<World>,
    key: Key,
) -> impl Fn(NextAttempt) -> HookFuture<'static> + Send + Sync + 'static {
    let world = Arc::clone(world);
    move |next| {
        let world = Arc::clone(&world);
        Box::pin(async move { Ok(world.hook(key, next).await?) })
    }
}

async fn by_clone(world: &Arc<World>) -> bool {
    let [judging, observing, cancelling, serving] = [(); 4].map(|()| Arc::clone(world));
    let on = move |outcome: Result<&u32, &Failure>| Some(judging.on(outcome.err()?));
    let policy = world.policy_with_enabled().timeout(world.limit);
    let [pause, retry] = [Key::BeforePause, Key::BeforeRetry].map(|key| hook(world, key));
    let layer = RetryLayer::cloning(policy, on)
        .name("call")
        .idempotent(world.idempotent)
        .policy_timeout()
        .breaker(Arc::clone(&world.breaker))
        .limiter(world.gate.clone())
        .budget(Arc::clone(&world.budget))
        .cancel(move || cancelling.token.clone().cancelled_owned())
        .observe(move |event| observing.tell(event))
        .before_pause(move |(): &mut (), _: Result<&u32, &Failure>, next| pause(next))
        .before_retry(move |(): &mut (), _: Result<&u32, &Failure>, next| retry(next));
    let layer = if world.falls_back {
        layer.fallback(|_: Option<()>, _: GaveUp<u32, Failure>| Box::pin(ready(Ok(0))))
    } else {
        layer
    };
    let serve = service_fn(move |()| {
        let world = Arc::clone(&serving);
        async move { world.attempt().await }
    });
    layer.layer(serve).oneshot(()).await.is_ok()
}

/// The settings of a client that sends HTTP requests.
fn retries(world: &Arc<World>) -> ClientRetries {
    let [judging, observing, cancelling] = [(); 3].map(|()| Arc::clone(world));
    let on = move |outcome: Outcome<'_>| Some(verdict(&judging, outcome.err()?));
    let retries = ClientRetries::new(world.policy_with_enabled().timeout(world.limit))
        .name("call")
        .on(on)
        .breaker(Arc::clone(&world.breaker))
        .limiter(world.gate.clone())
        .budget(Arc::clone(&world.budget))
        .cancel(move || cancelling.token.clone().cancelled_owned())
        .observe(move |event| observing.tell(event));
    if world.idempotent {
        retries
    } else {
        // The requests are `POST`s, which are not idempotent.
        retries.idempotent_methods()
    }
}

/// The verdict on an error: that of the `Failure` in it, or of a timeout if there is none.
fn verdict(world: &World, error: &(dyn Error + 'static)) -> Verdict {
    let failure = error.downcast_ref().or_else(|| error.source()?.downcast_ref());
    world.on(failure.unwrap_or(&TIMEOUT))
}

type Body = Full<Bytes>;
type Answer = Response<PeekedBody<Body>>;

async fn of_http(world: &Arc<World>) -> bool {
    let serving = Arc::clone(world);
    let [pause, retry] = [Key::BeforePause, Key::BeforeRetry].map(|key| hook(world, key));
    let layer = RetryLayer::new(retries(world))
        .before_pause(move |_: &mut Request<Body>, _: Result<&Answer, &BoxError>, next| pause(next))
        .before_retry(move |_: &mut Request<Body>, _: Result<&Answer, &BoxError>, next| {
            retry(next)
        });
    let layer = if world.falls_back {
        layer.fallback(|_: Option<Request<Body>>, _: GaveUp<Answer, BoxError>| {
            Box::pin(ready(Ok(Response::new(PeekedBody::new(Body::default())))))
        })
    } else {
        layer
    };
    let serve = service_fn(move |_: Request<Body>| {
        let world = Arc::clone(&serving);
        async move {
            world.attempt().await?;
            Ok::<_, BoxError>(Response::new(Body::default()))
        }
    });
    layer.layer(serve).oneshot(post("hello")).await.is_ok()
}

#[cfg(feature = "reqwest_middleware")]
mod middleware {
    use std::future::ready;
    use std::sync::Arc;

    use http::Extensions;
    use reqwest_0_13::{Client, Request, Response};
    use reqwest_middleware::{ClientBuilder, Error, Middleware, Next, Result};
    use retry_clients::reqwest_middleware::RetryMiddleware;
    use support::forms::{Key, World};

    use super::{hook, retries};

    /// A service that stands in for a server.
    struct Answers(Arc<World>);

    #[async_trait::async_trait]
    impl Middleware for Answers {
        async fn handle(&self, _: Request, _: &mut Extensions, _: Next<'_>) -> Result<Response> {
            self.0.attempt().await.map_err(Error::middleware)?;
            Ok(answer())
        }
    }

    fn answer() -> Response {
        http::Response::new("hello").into()
    }

    pub(super) async fn is_answered(world: &Arc<World>) -> bool {
        let [pause, retry] = [Key::BeforePause, Key::BeforeRetry].map(|key| hook(world, key));
        let mut layer = RetryMiddleware::new(retries(world))
            .before_pause(move |_, _, next| pause(next))
            .before_retry(move |_, _, next| retry(next));
        if world.falls_back {
            layer = layer.fallback(|_, _| Box::pin(ready(Ok(answer()))));
        }
        let client = ClientBuilder::new(Client::new()).with(layer);
        let client = client.with(Answers(Arc::clone(world))).build();
        client.post("http://api.example/").send().await.is_ok()
    }
}
