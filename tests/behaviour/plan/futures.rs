//! Types, borrows and captures of subtasks and validators. The futures are `Send` if these are.

use retry_work::plan::{PlanEnd, PlanState, Subtask};
use support::prelude::*;

struct Client(String);

impl Client {
    async fn get(&self, path: &str) -> Result<String, Refused> {
        yield_now().await;
        Ok(format!("{}{path}", self.0))
    }
}

/// `Send`, but not `Sync`.
struct Refused(Cell<u32>);

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.get().fmt(f)
    }
}

impl Classify for Refused {
    fn classify(&self) -> Verdict {
        Verdict::STOP
    }
}

async fn free(client: &Client, page: String) -> Result<String, Refused> {
    client.get(&page).await
}

#[tokio::test]
async fn futures_are_send_and_borrow_the_client() {
    let client = Client("/".into());
    let seen = Mutex::new(Vec::new());
    let mut plan = Plan::new();
    plan.add("a", [], async |[]| client.get("a").await);
    plan.add("b", ["a"], async |[a]| {
        let b = client.get(&a).await?;
        seen.lock().unwrap().push(b.clone());
        client.get(&b).await
    });
    plan.add("c", ["a", "b"], |[a, b]| free(&client, format!("{a}{b}")));
    let copied = &client;
    for page in ["x", "y"] {
        plan.add(page, ["a"], move |[a]| async move {
            copied.get(&format!("{a}{page}")).await
        });
    }
    for number in 0..2 {
        let owned = number.to_string();
        plan.add(owned.clone(), [], move |[]| {
            let owned = owned.clone();
            async move { copied.get(&owned).await }
        });
    }
    is_send(&mut plan);
    is_send(plan.run()).await.unwrap();
    is_send(plan.retry_failed()).await.unwrap();
    let validate = async |results: retry_work::plan::Snapshot<String>| {
        let last = client.get("last").await;
        match results.output("last") {
            Some(output) if Some(output) == last.ok().as_ref() => Validity::Valid,
            _ => Validity::Missing(vec![Subtask::new("last", [], async |[]| {
                client.get("last").await
            })]),
        }
    };
    let (budget, breaker) = (Budget::standard(), Breaker::new());
    let (limiter, events) = (ConcurrencyLimiter::aimd(), testing::Recorder::new());
    let (limiter, token) = (limiter.cost(2), CancellationToken::new());
    let policy = Policy::none()
        .name("plan")
        .budget(&budget)
        .breaker(&breaker)
        .limiter(&limiter)
        .cancel(token.cancelled())
        .observe(|event| events.observe(event));
    let end = is_send(plan.run_until(policy, validate)).await;
    assert_eq!(end.unwrap(), PlanEnd::Valid);
    assert_eq!(plan.output("c").unwrap(), "//a///a");
    drop(plan);
    assert_eq!(seen.into_inner().unwrap(), ["//a"]);
}

#[tokio::test]
async fn a_plan_is_moved_to_another_task() {
    let mut plan = Plan::<_, String>::new();
    plan.add("a", [], async |[]| Ok(1));
    drop(is_send(plan.start("a").unwrap()));
    let plan = tokio::spawn(async move {
        plan.run().await.unwrap();
        plan
    });
    assert_eq!(plan.await.unwrap().output("a"), Some(&1));
}

#[tokio::test]
async fn local_plans_own_and_borrow_what_is_not_send() {
    let log = RefCell::new(Vec::new());
    let owned = Rc::new(String::from("owned"));
    let mut plan = Plan::local();
    // The async closure owns `owned`, and lends it to every execution.
    plan.add("a", [], async move |[]| {
        yield_now().await;
        Ok::<_, Rc<str>>(Rc::clone(&owned))
    });
    plan.add("b", ["a"], async |[a]| {
        log.borrow_mut().push(a.len());
        yield_now().await;
        Err(Rc::from("no"))
    });
    let local = Subtask::local("c", ["a"], async |[a]| Ok(Rc::clone(&a)));
    assert_eq!(local.name(), "c");
    assert_eq!(local.dependencies().collect::<Vec<_>>(), ["a"]);
    plan.push(local);
    let end = plan.run_until(
        Policy::none().max(1).on(|_: &Rc<str>| true),
        async |results| {
            assert_eq!(results.summary().completed, ["a", "c"]);
            log.borrow_mut().push(0);
            Validity::Invalid("b is wanted".into())
        },
    );
    assert!(!end.await.unwrap().is_valid());
    drop(plan);
    assert_eq!(log.into_inner(), [5, 0, 5, 0]);
}

#[test]
fn states_are_send_where_outputs_are() {
    fn send<T: Send + Sync>() {}
    send::<PlanState<String>>();
    send::<retry_work::plan::Snapshot<String>>();
}
