//! Searches, reads and labels a page in steps, and retries only the failed steps: `cargo run --example plan`.

use std::collections::HashMap;
use std::sync::Mutex;
use std::time::Duration;

use retry_runtime::{Classify, Policy};
use retry_work::Plan;
use retry_work::plan::{Snapshot, Subtask, Summary, Validity};

#[derive(Debug, thiserror::Error, Classify)]
enum WebError {
    #[error("503 overloaded")]
    #[classify(transient)]
    Overloaded,
    #[error("404 gone")]
    #[classify(stop)]
    Gone,
}

type WebPlan<'a> = Plan<'a, String, WebError>;

/// The plan: search → navigate → extract → label, with reviews in parallel.
fn label_a_bird(web: &Web) -> WebPlan<'_> {
    let mut plan = Plan::new().name("bird").concurrency(2);
    plan.add("search", [], async |[]| {
        web.get("search", "blackbird").await
    });
    plan.add("reviews", ["search"], async |[found]| {
        web.get("reviews", &found).await
    });
    plan.add("navigate", ["search"], async |[found]| {
        web.get("navigate", &found).await
    });
    plan.add("extract", ["navigate"], async |[page]| {
        web.get("extract", &page).await
    });
    plan.add("label", ["extract", "navigate"], async |[text, page]| {
        Ok(format!("{text} [label of {} letters]", page.len()))
    });
    plan
}

/// Checks the combined result of all subtasks.
fn validate<'a>(web: &'a Web, results: &Snapshot<String>) -> Validity<'a, String, WebError> {
    match (results.output("label"), results.output("translate")) {
        (None, _) => Validity::Invalid(String::from("no label")),
        (_, Some(_)) => Validity::Valid,
        (_, None) => Validity::Missing(vec![Subtask::<String, _>::new(
            "translate",
            ["label"],
            async |[label]| web.get("translate", &label).await,
        )]),
    }
}

fn print(summary: &Summary) {
    println!("  completed: {}", summary.completed.join(", "));
    println!("  failed:    {}", summary.failed.join(", "));
    println!("  dead ends: {}", summary.dead_ends.join(", "));
    println!("  blocked:   {}", summary.blocked.join(", "));
    println!("  executions so far: {}\n", summary.executions);
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    tracing_subscriber::fmt().without_time().init(); // Shows failures, recoveries and dead ends.
    let web = Web::default();

    println!("The plan: search → navigate → extract → label, and search → reviews.\n");
    println!("First run. The page is overloaded, which blocks the steps that depend on it:");
    let mut plan = label_a_bird(&web);
    print(&plan.run().await?);

    let saved = serde_json::to_string(&plan.state())?;
    println!("The state is saved, and the program could end here:\n  {saved}\n");
    drop(plan);

    println!("Second run. Completed steps do not run again; the reviews are still gone:");
    let mut plan = label_a_bird(&web);
    plan.load(serde_json::from_str(&saved)?)?;
    print(&plan.retry_failed().await?);

    println!(
        "Third run, with a validator. Failed steps are retried, then the missing one is added:"
    );
    let policy = Policy::fixed(Duration::from_millis(100)).max(4);
    let end = plan
        .run_until(policy, async |results| validate(&web, &results))
        .await?;
    print(&plan.summary());

    println!("The end: {end}. The results, despite one dead end:");
    for (name, output) in plan.outputs() {
        println!("  {name}: {output}");
    }
    Ok(())
}

/// A simulated web that is overloaded at first, and has no reviews.
#[derive(Default)]
struct Web {
    requests: Mutex<HashMap<&'static str, u32>>,
}

impl Web {
    async fn get(&self, step: &'static str, input: &str) -> Result<String, WebError> {
        tokio::time::sleep(Duration::from_millis(10)).await;
        let mut requests = self.requests.lock().unwrap();
        let request = requests
            .entry(step)
            .and_modify(|count| *count += 1)
            .or_insert(1);
        match (step, request) {
            ("reviews", _) => Err(WebError::Gone),
            ("navigate" | "extract", 1) => Err(WebError::Overloaded),
            _ => Ok(format!("{step}({input})")),
        }
    }
}
