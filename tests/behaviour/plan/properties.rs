//! Properties of every plan with any failures: order, counts, results, limits.

use std::collections::HashSet;

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::Index;
use retry_work::plan::Local;
use support::dropped::Alive;
use support::prelude::*;
use support::runtime;

/// A subtask as drawn: what it depends on (among those before it), how often it fails, how long it takes.
#[derive(Clone, Debug)]
struct Draw {
    after: Vec<usize>,
    failures: u32,
    millis: u64,
}

/// Up to 24 subtasks, in any order of adding.
fn draws() -> impl Strategy<Value = (Vec<Draw>, Vec<usize>)> {
    let draw = (vec(any::<Index>(), 0..4), 0..4_u32, 0..20_u64);
    let draws = vec(draw, 1..24).prop_map(|drawn| {
        let drawn: Vec<(Vec<Index>, u32, u64)> = drawn;
        let subtasks = (0..)
            .zip(drawn)
            .map(|(place, (after, failures, millis))| Draw {
                after: after
                    .iter()
                    .filter(|_| place > 0)
                    .map(|index| index.index(place))
                    .collect(),
                // Half of them never fail.
                failures: failures.saturating_sub(1),
                millis,
            });
        subtasks.collect::<Vec<_>>()
    });
    draws.prop_flat_map(|draws| {
        let order: Vec<usize> = (0..draws.len()).collect();
        (Just(draws), Just(order).prop_shuffle())
    })
}

/// The executions of subtasks, and their order.
#[derive(Default)]
struct World {
    executions: RefCell<Vec<u32>>,
    succeeded: RefCell<HashSet<usize>>,
    under_way: Cell<i32>,
    most: Cell<i32>,
}

type RandomPlan<'a> = Plan<'a, u64, String, Local<'a, u64, String>>;

impl World {
    fn new(draws: &[Draw]) -> Self {
        Self {
            executions: RefCell::new(vec![0; draws.len()]),
            ..Self::default()
        }
    }

    async fn execute(
        &self,
        draws: &[Draw],
        place: usize,
        inputs: &[Arc<u64>],
    ) -> Result<u64, String> {
        let draw = &draws[place];
        let _under_way = Alive::new(&self.under_way);
        self.most.set(self.most.get().max(self.under_way.get()));
        {
            let succeeded = self.succeeded.borrow();
            assert!(
                draw.after.iter().all(|after| succeeded.contains(after)),
                "began too early"
            );
            assert!(!succeeded.contains(&place), "a success ran twice");
        }
        self.executions.borrow_mut()[place] += 1;
        let execution = self.executions.borrow()[place];
        sleep(Duration::from_millis(draw.millis)).await;
        if execution <= draw.failures {
            return Err(format!("{place} failed"));
        }
        self.succeeded.borrow_mut().insert(place);
        Ok(result(place, inputs.iter().map(|input| **input)))
    }

    fn plan<'a>(&'a self, draws: &'a [Draw], order: &[usize], limit: usize) -> RandomPlan<'a> {
        let mut plan = Plan::local().concurrency(limit);
        for place in order.iter().copied() {
            let after = &draws[place].after;
            let after: Vec<String> = after.iter().map(usize::to_string).collect();
            plan.add(
                place.to_string(),
                after,
                async move |inputs: Vec<Arc<u64>>| self.execute(draws, place, &inputs).await,
            );
        }
        plan
    }
}

fn result(place: usize, inputs: impl Iterator<Item = u64>) -> u64 {
    let add = |sum: u64, input| sum.wrapping_mul(31).wrapping_add(input);
    inputs.fold(place as u64 + 1, add)
}

/// The results without any failure.
fn expected(draws: &[Draw]) -> Vec<u64> {
    let mut results: Vec<u64> = Vec::new();
    for (place, draw) in draws.iter().enumerate() {
        let value = result(place, draw.after.iter().map(|after| results[*after]));
        results.push(value);
    }
    results
}

/// Computes the state of a plan after a number of rounds: successes, failures and executions.
fn model(draws: &[Draw], rounds: u32) -> (Vec<bool>, Vec<bool>, u64) {
    let (mut succeeded, mut failed) = (vec![false; draws.len()], vec![false; draws.len()]);
    let mut executed = vec![0; draws.len()];
    for _ in 0..rounds {
        failed.fill(false);
        // A subtask's dependencies come before it.
        for (place, draw) in draws.iter().enumerate() {
            if succeeded[place] || !draw.after.iter().all(|after| succeeded[*after]) {
                continue;
            }
            executed[place] += 1;
            succeeded[place] = executed[place] > draw.failures;
            failed[place] = !succeeded[place];
        }
    }
    let executions = executed
        .iter()
        .map(|executions| u64::from(*executions))
        .sum();
    (succeeded, failed, executions)
}

fn block_on<F: Future>(future: F) -> F::Output {
    runtime::paused().block_on(future)
}

/// Checks that the plan's state equals the model's.
fn check(plan: &RandomPlan<'_>, draws: &[Draw], rounds: u32) -> Result<(), TestCaseError> {
    let (succeeded, failed, executions) = model(draws, rounds);
    let summary = plan.summary();
    let names = |list: &[String]| list.iter().cloned().collect::<HashSet<_>>();
    let places = |flags: &[bool]| {
        let places = (0..flags.len()).filter(|place| flags[*place]);
        places
            .map(|place| place.to_string())
            .collect::<HashSet<_>>()
    };
    prop_assert_eq!(names(&summary.completed), places(&succeeded));
    prop_assert_eq!(names(&summary.failed), places(&failed));
    let blocked: Vec<bool> = (0..draws.len())
        .map(|place| !succeeded[place] && !failed[place])
        .collect();
    prop_assert_eq!(names(&summary.blocked), places(&blocked));
    prop_assert!(summary.pending.is_empty());
    prop_assert_eq!(summary.executions, executions);
    for (place, value) in expected(draws).into_iter().enumerate() {
        let output = plan.output(&place.to_string()).copied();
        prop_assert_eq!(output, succeeded[place].then_some(value));
    }
    Ok(())
}

proptest! {
    #[test]
    fn retries_execute_the_least_that_they_can((draws, order) in draws(), limit in 1..6_usize, rounds in 1..5_u32) {
        let world = World::new(&draws);
        let mut plan = world.plan(&draws, &order, limit);
        block_on(async {
            plan.run().await.unwrap();
            for _ in 1..rounds {
                plan.retry_failed().await.unwrap();
            }
        });
        check(&plan, &draws, rounds)?;
        prop_assert!(world.most.get() <= limit.try_into()?);
    }

    #[test]
    fn results_are_those_of_a_run_without_failures((draws, order) in draws(), limit in 1..6_usize) {
        let world = World::new(&draws);
        let mut plan = world.plan(&draws, &order, limit);
        let policy = Policy::new().max(u32::MAX).jitter(Jitter::Full).on(|_: &String| true);
        let end = block_on(plan.run_until(policy, async |results| if results.summary().is_complete() { Validity::Valid } else { Validity::Invalid("incomplete".into()) }));
        prop_assert!(end.unwrap().is_valid());
        let results: Vec<u64> = (0..draws.len())
            .map(|place| *plan.output(&place.to_string()).unwrap())
            .collect();
        prop_assert_eq!(results, expected(&draws));
        // Each subtask once for every failure and once for its success.
        let least = draws.iter().map(|draw| u64::from(draw.failures) + 1).sum::<u64>();
        prop_assert_eq!(plan.summary().executions, least);
        prop_assert!(world.most.get() <= limit.try_into()?);
    }

    /// However often runs and retries are dropped, saved and loaded: no result is lost, and a failure is kept until it
    /// runs again.
    #[test]
    fn drops_and_loads_lose_nothing(
        (draws, order) in draws(),
        limit in 1..6_usize,
        runs in vec((0..40_u64, 0..3_u8, any::<bool>()), 0..12),
    ) {
        let world = World::new(&draws);
        let mut plan = world.plan(&draws, &order, limit);
        for (millis, kind, reload) in runs {
            let failed = plan.summary().failed;
            let patience = Duration::from_millis(millis);
            block_on(async {
                let _ = match kind {
                    0 => timeout(patience, plan.run()).await.map(drop),
                    1 => timeout(patience, plan.retry_failed()).await.map(drop),
                    _ => {
                        let policy = Policy::fixed(Duration::from_millis(5)).on(|_: &String| true);
                        let validate = async |_| Validity::Invalid("no".into());
                        timeout(patience, plan.run_until(policy, validate)).await.map(drop)
                    }
                };
            });
            prop_assert_eq!(world.under_way.get(), 0);
            let state = serde_json::to_value(plan.state()).unwrap();
            for name in failed {
                let text = state["failed"].get(&name).and_then(|text| text.as_str());
                let expected = plan.output(&name).is_none().then(|| format!("{name} failed"));
                prop_assert_eq!(text, expected.as_deref());
            }
            if reload {
                let summary = plan.summary();
                plan = world.plan(&draws, &order, limit);
                plan.load(serde_json::from_value(state).unwrap()).unwrap();
                prop_assert_eq!(plan.summary(), summary);
            }
        }
        // `execute` checks that no success runs twice.
        block_on(async {
            plan.run().await.unwrap();
            while !plan.retry_failed().await.unwrap().is_complete() {}
        });
        let executions = world.executions.borrow().iter().map(|executions| u64::from(*executions)).sum::<u64>();
        prop_assert_eq!(plan.summary().executions, executions);
        for (place, value) in expected(&draws).into_iter().enumerate() {
            prop_assert_eq!(plan.output(&place.to_string()), Some(&value));
        }
    }
}
