//! Plans whose subtasks are calls of services, in two processes.

use std::collections::BTreeSet;
use std::process;
use std::thread;
use std::time::Duration;

use restate_sdk::context::RequestTarget;
use restate_sdk::prelude::{
    Context, ContextClient, DurableFuturesUnordered, HandlerResult, Json, TerminalErrorExt, service,
};
use retry_durable::{Durable, DurableError};
use retry_runtime::{Backoff, Policy};
use retry_work::Plan;
use retry_work::plan::PlanState;

use crate::Notes;
use crate::lab::{Lab, until};

const SUBTASK: Duration = Duration::from_millis(600);

/// The name of a subtask, and the outputs of what it depends on.
type Inputs = (String, PlanState<String>);
type Outcome = Result<String, String>;

/// Two sides read at the same time, and what they read is put together.
const SUBTASKS: [(&str, &[&str]); 7] = [
    ("left 1", &[]),
    ("right 1", &[]),
    ("left 2", &["left 1"]),
    ("right 2", &["right 1"]),
    ("right 3", &["left 2", "right 2"]),
    ("left lost", &["left 1"]),
    ("left blocked", &["left lost"]),
];

fn plan(notes: Option<&Notes>) -> Plan<'_, String, String> {
    let mut plan = Plan::<String, String>::new().driven();
    for (name, after) in SUBTASKS {
        plan.add(name, after.to_vec(), move |outputs| async move {
            let notes = notes.expect("a worker");
            let outputs: Vec<&str> = outputs.iter().map(|output| output.as_str()).collect();
            execute(notes, name, &outputs).await
        });
    }
    plan
}

/// Takes a while, and fails the first time.
async fn execute(notes: &Notes, name: &str, outputs: &[&str]) -> Outcome {
    notes.add("begun", &format!("{name}, by {}", process::id()));
    tokio::time::sleep(SUBTASK).await;
    let failed = format!("{name} failed");
    if name.ends_with("lost") || !notes.lines("failed").contains(&failed) {
        notes.add("failed", &failed);
        return Err("503 overloaded".to_owned());
    }
    notes.add("ended", name);
    Ok(format!("{name}({})", outputs.join(" ")))
}

/// Reports the subtasks that run, and processes their outcomes in the order stored by Restate.
pub(crate) struct Reports;

#[service]
impl Reports {
    #[handler]
    async fn report(&self, ctx: Context<'_>, _: String) -> HandlerResult<String> {
        let mut plan = plan(None);
        let mut calls = DurableFuturesUnordered::new();
        let mut called = Vec::new();
        let mut ready = plan.ready().terminal()?;
        loop {
            for name in ready {
                let service = if name.starts_with("left") {
                    "Left"
                } else {
                    "Right"
                };
                let target = RequestTarget::service(service, "execute");
                let inputs = plan.inputs(&name).terminal()?;
                let inputs: Json<Inputs> = Json((name.to_string(), inputs));
                calls.push(ctx.request::<_, Json<Outcome>>(target, inputs).call());
                called.push(name);
            }
            let Some((place, outcome)) = calls.next().await? else {
                break;
            };
            ready = plan
                .complete(&called[place], outcome?.into_inner())
                .terminal()?;
        }
        Ok(format!(
            "{}; {}",
            plan.output("right 3").unwrap(),
            plan.summary()
        ))
    }
}

/// Runs a subtask, as often as the policy allows.
#[derive(Clone)]
pub(crate) struct Worker(pub(crate) Notes);

impl Worker {
    async fn execute(&self, ctx: Context<'_>, inputs: Inputs) -> HandlerResult<Json<Outcome>> {
        let (name, inputs) = inputs;
        let mut plan = plan(Some(&self.0));
        plan.load(inputs).terminal()?;
        let policy = Policy::new()
            .max(1)
            .backoff(Backoff::Fixed)
            .base(Duration::from_millis(300));
        let call = Durable::new(policy).on(|error: &String| error.starts_with("503"));
        // Ends the invocation here. In an attempt it would be a panic.
        drop(plan.start(&name).terminal()?);
        let called = name.clone();
        let subtask = move || plan.start(&called).expect("as before");
        match call.call(&ctx, &name, subtask).await {
            Err(DurableError::GaveUp(error)) => Ok(Json(Err(error))),
            done => Ok(Json(Ok(done?))),
        }
    }
}

/// A service has a type of its own.
macro_rules! side {
    ($name:ident) => {
        pub(crate) struct $name(pub(crate) Worker);

        #[service]
        impl $name {
            #[handler]
            async fn execute(
                &self,
                ctx: Context<'_>,
                inputs: Json<Inputs>,
            ) -> HandlerResult<Json<Outcome>> {
                self.0.execute(ctx, inputs.into_inner()).await
            }
        }
    };
}

side!(Left);
side!(Right);

#[test]
#[ignore = "needs Restate: run by .ci/restate"]
fn completed_subtasks_do_not_run_again_after_everything_is_killed() {
    let mut lab = Lab::new();
    let mut services = [lab.service("reports"), lab.service("right")];
    let notes = lab.notes();
    let begun = |name: &str| {
        let lines = notes.lines("begun").into_iter();
        lines.filter(|line| line.starts_with(name)).count()
    };
    let (status, text) = lab.call("Reports/report/send", "report", "");
    assert_eq!(status, 202, "{text}");

    until("both sides are under way", || {
        begun("left 2") > 0 && begun("right 2") > 0
    });
    thread::sleep(SUBTASK / 2);
    for service in &mut services {
        service.restart();
    }
    until("the last has begun", || begun("right 3") > 0);
    lab.restart();
    for _ in 0..2 {
        let (status, text) = lab.call("Reports/report", "report", "");
        assert_eq!(status, 200, "{text}");
        let whole = "right 3(left 2(left 1()) right 2(right 1()))";
        let summary = "5 completed; 1 failed: left lost; 1 blocked: left blocked; 6 executions";
        assert_eq!(text, format!("\"{whole}; {summary}\""));
    }

    let mut ended = notes.lines("ended");
    ended.sort_unstable();
    let completes = ["left 1", "left 2", "right 1", "right 2", "right 3"];
    assert_eq!(ended, completes);
    let processes = |side: &str| {
        let lines = notes.lines("begun").into_iter();
        let of_side = lines.filter(|line| line.starts_with(side));
        let numbers = of_side.filter_map(|line| Some(line.rsplit_once(' ')?.1.to_owned()));
        numbers.collect::<BTreeSet<String>>()
    };
    let (left, right) = (processes("left"), processes("right"));
    assert_eq!((left.len(), right.len()), (2, 2));
    assert!(left.is_disjoint(&right));
}
