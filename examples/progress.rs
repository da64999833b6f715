//! The progress of a call, a batch and a plan in a terminal. Run it in `tests/adapters`: `cargo run --features
//! indicatif --example progress`.
//!
//! If standard error is not a terminal, for example in a pipe, only the results are printed.

use std::fmt;
use std::iter::repeat;
use std::time::Duration;

use retry_observers::Progress;
use retry_runtime::testing::{Script, fail_times, sequence};
use retry_runtime::{Jitter, Observer, Policy, retry};
use retry_work::plan::{PlanEnd, PlanError, Validity};
use retry_work::{IntoBatches, Plan, retry_each};
use tokio::time::sleep;

type Failure = &'static str;
const BUSY: Failure = "503 overloaded";
const GONE: Failure = "404 gone";

const POLICY: Policy = Policy::fixed(Duration::from_secs(3))
    .jitter(Jitter::None)
    .max(2);

fn is_busy(failure: &Failure) -> bool {
    *failure == BUSY
}

#[retry(policy = POLICY, name = "fetch", on = is_busy, observe = progress)]
async fn fetch(server: &Script<(), Failure>, progress: &Progress) -> Result<(), Failure> {
    sleep(Duration::from_millis(300)).await;
    server.next()
}

/// Makes a call to a server that is busy twice.
pub(crate) async fn call(progress: &Progress) -> Result<(), Failure> {
    fetch(&fail_times(2, BUSY), progress).await
}

/// Doubles a hundred numbers. One in thirty is gone, and the server is busy at the third request.
pub(crate) async fn batch(progress: &Progress) -> usize {
    let server = sequence(
        [Ok(()), Ok(()), Err(BUSY)]
            .into_iter()
            .chain(repeat(Ok(()))),
    );
    let double = |number| match number % 30 {
        0 => Err(GONE),
        _ => Ok(2 * number),
    };
    let batches = POLICY
        .name("double")
        .on(is_busy)
        .show(fmt::Display::fmt)
        .observe(|event| progress.observe(event))
        .batches(10);
    let doubled = retry_each(batches, 1..=100, async |pending: Vec<u32>| {
        sleep(Duration::from_millis(300)).await;
        server.next()?;
        Ok(pending.into_iter().map(double).collect())
    });
    doubled.await.iter().flatten().count()
}

/// Runs a plan in which one page is busy once, and another is gone.
pub(crate) async fn plan(progress: &Progress) -> Result<PlanEnd, PlanError> {
    let server = fail_times(1, BUSY);
    let mut plan = Plan::local().name("pages");
    plan.add("search", [], async |[]| {
        sleep(Duration::from_millis(300)).await;
        Ok(String::from("5 pages"))
    });
    for page in ["first", "second", "third", "fourth", "fifth"] {
        let server = &server;
        plan.add(page, ["search"], async move |[_found]| {
            sleep(Duration::from_millis(300)).await;
            match page {
                "second" => Err(GONE),
                "fourth" => server.next().map(|()| String::from("a long page")),
                _ => Ok(String::from("a page")),
            }
        });
    }
    plan.add("print", ["second"], async |[_page]| {
        Ok(String::from("printed"))
    });
    let policy = POLICY
        .on(is_busy)
        .show(fmt::Display::fmt)
        .observe(|event| progress.observe(event));
    let end = plan.run_until(policy, async |results| match results.output("fourth") {
        Some(_) => Validity::Valid,
        None => Validity::Invalid(String::from("no fourth page")),
    });
    end.await
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), PlanError> {
    let progress = Progress::spinner();
    let outcome = call(&progress).await;
    progress.bar().finish_and_clear();
    println!("the call: {outcome:?}");

    let progress = Progress::counting();
    let doubled = batch(&progress).await;
    progress.bar().finish();
    println!("the batch: {doubled} numbers");

    let progress = Progress::counting();
    let end = plan(&progress).await?;
    progress.bar().finish();
    println!("the plan: {end}");
    Ok(())
}
