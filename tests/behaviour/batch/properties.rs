//! For any server, batch size and concurrency: successes are not sent again, limits are not exceeded, and order is
//! kept.

use std::collections::HashMap;

use proptest::collection::vec;
use proptest::prelude::*;
use retry_work::ItemError;
use support::prelude::*;
use support::runtime;

use super::{Most, secs};

/// The outcomes of an item: the number of failures, and then a success or a stop. And the duration of its call.
#[derive(Clone, Debug)]
struct Fate {
    failures: u32,
    stops: bool,
    throttled: bool,
    hint: Option<u64>,
    millis: u64,
}

type Answers = Result<Vec<Result<usize, Failure>>, Failure>;
type Results = Vec<Result<usize, ItemError<Failure>>>;

fn fate() -> impl Strategy<Value = Fate> {
    (
        0..5_u32,
        any::<bool>(),
        any::<bool>(),
        prop::option::of(0..30_u64),
        0..50_u64,
    )
        .prop_map(|(failures, stops, throttled, hint, millis)| Fate {
            failures: if stops {
                failures
            } else {
                failures.saturating_sub(1)
            },
            stops,
            throttled,
            hint,
            millis,
        })
}

/// Responds according to the items' fates; whole calls fail by their number.
struct Server<'a> {
    fates: &'a [Fate],
    failing_calls: &'a [bool],
    calls: Vec<Vec<usize>>,
    attempts: HashMap<usize, u32>,
    successes: Vec<usize>,
}

impl<'a> Server<'a> {
    fn new(fates: &'a [Fate], failing_calls: &'a [bool]) -> Self {
        Self {
            fates,
            failing_calls,
            calls: Vec::new(),
            attempts: HashMap::new(),
            successes: Vec::new(),
        }
    }

    fn answer(&mut self, items: Vec<usize>) -> Answers {
        for item in &items {
            assert!(!self.successes.contains(item), "{item} sent again");
            *self.attempts.entry(*item).or_default() += 1;
        }
        self.calls.push(items.clone());
        if self.failing_calls.get(self.calls.len() - 1) == Some(&true) {
            return Err(TRANSIENT);
        }
        let answers = items.into_iter().map(|item| self.answer_one(item));
        Ok(answers.collect())
    }

    fn answer_one(&mut self, item: usize) -> Result<usize, Failure> {
        let fate = &self.fates[item];
        if self.attempts[&item] <= fate.failures {
            let Failure(verdict) = if fate.throttled { THROTTLED } else { TRANSIENT };
            let hint = fate.hint.map(secs);
            return Err(Failure(hint.map_or(verdict, |hint| verdict.after(hint))));
        }
        if fate.stops {
            return Err(STOP);
        }
        self.successes.push(item);
        Ok(item)
    }

    fn check(&self, results: &Results, size: usize, max: u32) {
        assert_eq!(results.len(), self.fates.len());
        for call in &self.calls {
            assert!((1..=size).contains(&call.len()) && call.is_sorted());
        }
        for (item, result) in results.iter().enumerate() {
            let attempts = self.attempts[&item];
            assert!(attempts <= max + 1);
            match result {
                Ok(value) => assert_eq!(*value, item),
                Err(error) => {
                    assert!(!self.successes.contains(&item));
                    assert_eq!(error.attempts(), attempts);
                    let stopped = error.error() == Some(&STOP);
                    let expected = if stopped {
                        (Reason::NotRetryable, attempts)
                    } else {
                        (Reason::Exhausted, max + 1)
                    };
                    assert_eq!((error.reason(), attempts), expected);
                }
            }
        }
    }
}

fn policy(max: u32) -> Policy {
    Policy::new().max(max)
}

proptest! {
    #[test]
    fn hold_for_async_calls(
        fates in vec(fate(), 1..40),
        failing_calls in vec(any::<bool>(), 0..6),
        size in 1..10_usize,
        concurrency in 1..6_usize,
        max in 0..6_u32,
    ) {
        runtime::paused().block_on(async {
            let server = RefCell::new(Server::new(&fates, &failing_calls));
            let most = Most::default();
            let batches = policy(max).batches(size).concurrency(concurrency);
            let results = retry_each(batches, 0..fates.len(), async |pending: Vec<usize>| {
                let _running = most.one_more();
                let pause = pending.iter().map(|item| fates[*item].millis).max();
                sleep(Duration::from_millis(pause.unwrap())).await;
                server.borrow_mut().answer(pending)
            })
            .await;
            server.into_inner().check(&results, size, max);
            assert!(most.get() <= concurrency);
        });
    }

    #[test]
    fn hold_for_blocking_calls(
        fates in vec(fate(), 1..40),
        failing_calls in vec(any::<bool>(), 0..6),
        size in 1..10_usize,
        concurrency in 1..4_usize,
        max in 0..6_u32,
    ) {
        let _skipped = testing::skip_sleeps();
        let server = Mutex::new(Server::new(&fates, &failing_calls));
        let most = Most::default();
        let batches = policy(max).batches(size).concurrency(concurrency);
        let results = retry_each_blocking(batches, 0..fates.len(), |pending| {
            let _running = most.one_more();
            server.lock().unwrap().answer(pending)
        });
        server.into_inner().unwrap().check(&results, size, max);
        assert!(most.get() <= concurrency);
    }

    /// With enough retries, the results equal those of a server that never fails.
    #[test]
    fn failures_leave_no_trace_in_the_results(
        fates in vec(fate().prop_map(|fate| Fate { stops: false, ..fate }), 0..40),
        failing_calls in vec(any::<bool>(), 0..6),
        size in 1..10_usize,
    ) {
        let _skipped = testing::skip_sleeps();
        let calm: Vec<_> = fates.iter().map(|fate| Fate { failures: 0, ..fate.clone() }).collect();
        let items = 0..fates.len();
        let blocking = |fates, failing_calls| {
            let server = Mutex::new(Server::new(fates, failing_calls));
            retry_each_blocking(policy(20).batches(size), items.clone(), |pending| {
                server.lock().unwrap().answer(pending)
            })
        };
        let expected = blocking(&calm, &[]);
        prop_assert_eq!(blocking(&fates, &failing_calls), expected.clone());
        let server = RefCell::new(Server::new(&fates, &failing_calls));
        let batches = policy(20).batches(size).concurrency(3);
        let results = retry_each(batches, items, async |pending| {
            server.borrow_mut().answer(pending)
        });
        prop_assert_eq!(runtime::paused().block_on(results), expected);
    }

    /// Calls, pauses, log and results of blocking code are those of async code.
    #[test]
    fn blocking_calls_do_the_same(
        fates in vec(fate(), 1..40),
        failing_calls in vec(any::<bool>(), 0..6),
        size in 1..10_usize,
        max in 0..6_u32,
        seed in any::<u64>(),
    ) {
        let batches = policy(max).batches(size);
        let items = 0..fates.len();
        let observed = |run: &dyn Fn(&Mutex<Server<'_>>) -> Results| {
            let _skipped = testing::skip_sleeps();
            let _seeded = testing::seed(seed);
            let recording = testing::record();
            let server = Mutex::new(Server::new(&fates, &failing_calls));
            let results = run(&server);
            (results, server.into_inner().unwrap().calls, recording.lines())
        };
        let blocking = observed(&|server| {
            retry_each_blocking(batches, items.clone(), |pending| server.lock().unwrap().answer(pending))
        });
        let concurrent = observed(&|server| {
            let results = retry_each(batches, items.clone(), async |pending| {
                server.lock().unwrap().answer(pending)
            });
            runtime::paused().block_on(results)
        });
        prop_assert_eq!(blocking, concurrent);
    }

    /// A round is as few calls as its items fill.
    #[test]
    fn calls_are_full(count in 1..60_usize, size in 1..10_usize, failing in vec(any::<bool>(), 60)) {
        let _skipped = testing::skip_sleeps();
        let fates: Vec<_> = (0..count)
            .map(|item| Fate { failures: failing[item].into(), stops: false, throttled: false, hint: None, millis: 0 })
            .collect();
        let server = Mutex::new(Server::new(&fates, &[]));
        let results = retry_each_blocking(policy(1).batches(size), 0..count, |pending| {
            server.lock().unwrap().answer(pending)
        });
        prop_assert!(results.iter().all(Result::is_ok));
        let failed = fates.iter().filter(|fate| fate.failures > 0).count();
        let calls = server.into_inner().unwrap().calls.len();
        prop_assert_eq!(calls, count.div_ceil(size) + failed.div_ceil(size));
    }
}
