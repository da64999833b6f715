//! Batches of blocking code: their threads, and panics.

use std::collections::HashSet;
use std::panic::resume_unwind;
use std::sync::atomic::{AtomicU64, AtomicUsize};
use std::sync::{Barrier, PoisonError};
use std::thread::ThreadId;
use std::time::Instant;

use retry_work::{ItemError, retry_each_blocking_into};
use support::dropped::OnDrop;
use support::prelude::*;

use super::{Answers, EXACT, Most, NONE, Results, Server, all_ok, errors, secs};

#[test]
fn calls_run_at_the_same_time_up_to_the_limit() {
    // No call ends before all 3 are running.
    let (most, together) = (Most::default(), Barrier::new(3));
    let batches = EXACT.batches(2).concurrency(3);
    let results: Results = retry_each_blocking(batches, 0..18, |pending| {
        let _running = most.one_more();
        together.wait();
        all_ok(pending)
    });
    assert_eq!((errors(&results), results.len()), (vec![], 18));
    assert_eq!(most.get(), 3);
}

#[test]
fn no_more_threads_than_calls_run_and_by_default_only_this_one() {
    let here = HashSet::from([thread::current().id()]);
    // `usize::MAX` threads can't be created.
    for (concurrency, items) in [(1, 20), (usize::MAX, 4)] {
        let batches = EXACT.batches(2).concurrency(concurrency);
        let threads = Mutex::new(HashSet::new());
        let results: Results = retry_each_blocking(batches, 0..items, |pending| {
            threads.lock().unwrap().insert(thread::current().id());
            // So that another thread, if there is one, takes an item.
            (0..1000).for_each(|_| thread::yield_now());
            all_ok(pending)
        });
        assert_eq!((errors(&results), results.len()), (vec![], items as usize));
        let threads = threads.into_inner().unwrap();
        assert!(threads.len() <= 2 && (concurrency > 1 || threads == here));
    }
}

fn wait_for(flag: &AtomicBool) {
    while !flag.load(Ordering::SeqCst) {
        thread::yield_now();
    }
}

/// Panics without output.
fn panic_quietly() -> ! {
    resume_unwind(Box::new("quiet"));
}

/// Runs a batch that panics so.
fn panicked(batch: impl FnOnce()) {
    let outcome = catch_unwind(AssertUnwindSafe(batch));
    assert_eq!(outcome.unwrap_err().downcast_ref(), Some(&"quiet"));
}

#[test]
fn no_call_starts_after_a_panic_elsewhere() {
    // Panics in the operation, or in the iterator of the items, which the calling thread polls for each thread's first
    // batch.
    for in_iterator in [false, true] {
        let unwound = AtomicBool::new(false);
        let after = AtomicUsize::new(0);
        let items = (0..100_000).inspect(|item| {
            if in_iterator && *item == 2 {
                let _unwound = OnDrop(|| unwound.store(true, Ordering::SeqCst));
                panic_quietly();
            }
        });
        panicked(|| {
            let batches = Policy::new().batches(1).concurrency(3);
            let _ = retry_each_blocking(batches, items, |pending: Vec<u32>| -> Answers {
                if !in_iterator && pending[0] == 0 {
                    let _unwound = OnDrop(|| unwound.store(true, Ordering::SeqCst));
                    panic_quietly();
                }
                wait_for(&unwound);
                after.fetch_add(1, Ordering::SeqCst);
                thread::yield_now();
                all_ok(pending)
            });
        });
        // The calls that were running, and those that started before the panic was noticed: far fewer than all.
        assert!(after.into_inner() < 50_000);
    }
}

#[test]
fn a_panic_elsewhere_ends_the_wait_for_a_turn() {
    /// A limiter that admits the first attempt at once and the others long after the test. It never wakes anyone.
    struct Slow {
        made: Instant,
        entered: AtomicU64,
        asked: AtomicUsize,
    }

    const LONG: Duration = secs(30);

    impl AdmissionControl for Slow {
        fn enter(&self, cost: u32) -> Permit {
            Permit::new(self.entered.fetch_add(1, Ordering::SeqCst), cost)
        }

        fn poll(&self, ticket: &mut Permit, waker: &Waker) -> Admission {
            if ticket.number() == 0 || self.made.elapsed() > LONG {
                return Admission::Admitted;
            }
            if !waker.data().is_null() {
                self.asked.fetch_add(1, Ordering::SeqCst);
            }
            Admission::Wait {
                ahead: 0,
                at_least: Some(LONG),
            }
        }

        fn leave(&self, _: Permit, _: AttemptOutcome) -> Changes {
            [None; 2]
        }
    }

    let limiter = Slow {
        made: Instant::now(),
        entered: AtomicU64::new(0),
        asked: AtomicUsize::new(0),
    };
    let server = Server::new([]);
    let mut results = Vec::new();
    panicked(|| {
        let batches = Policy::new().limiter(&limiter).batches(1).concurrency(3);
        let call = |pending: Vec<u32>| -> Answers {
            server.answer(&pending).unwrap();
            while limiter.asked.load(Ordering::SeqCst) < 2 {
                thread::yield_now();
            }
            panic_quietly();
        };
        retry_each_blocking_into(&mut results, batches, 0..9, call);
    });
    assert!(limiter.made.elapsed() < LONG);
    assert_eq!(server.items().len(), 1);
    // Those that waited were not sent.
    let dropped = |result: &Result<_, ItemError<_>>| result.as_ref().unwrap_err().is_dropped();
    assert_eq!(results.len(), 3);
    assert_eq!(results.iter().filter(|result| dropped(result)).count(), 1);
}

#[test]
fn a_turn_is_returned_after_a_panic_in_another_thread() {
    /// The calling thread's turn comes once the other thread has ended.
    struct Last<'a> {
        calling: ThreadId,
        is_waiting: AtomicBool,
        ended: &'a AtomicBool,
        left: Mutex<Vec<AttemptOutcome>>,
    }

    impl AdmissionControl for Last<'_> {
        fn enter(&self, cost: u32) -> Permit {
            let is_calling = thread::current().id() == self.calling;
            Permit::new(is_calling.into(), cost)
        }

        fn poll(&self, ticket: &mut Permit, waker: &Waker) -> Admission {
            if ticket.number() == 0 {
                return Admission::Admitted;
            }
            // Before it waits, it only asks whether it has to.
            // `will_wake` compares addresses, which differ between crates.
            if waker.data().is_null() {
                self.is_waiting.store(true, Ordering::SeqCst);
                return Admission::Wait {
                    ahead: 0,
                    at_least: None,
                };
            }
            wait_for(self.ended);
            Admission::Admitted
        }

        fn leave(&self, ticket: Permit, end: AttemptOutcome) -> Changes {
            if ticket.number() == 1 {
                self.left.lock().unwrap().push(end);
            }
            [None; 2]
        }
    }

    type End = OnDrop<Box<dyn FnMut()>>;

    thread_local! {
        static ENDS: RefCell<Option<End>> = const { RefCell::new(None) };
    }

    let ended = Arc::new(AtomicBool::new(false));
    let limiter = Last {
        calling: thread::current().id(),
        is_waiting: AtomicBool::new(false),
        ended: &ended,
        left: Mutex::default(),
    };
    let server = Server::new([]);
    panicked(|| {
        let batches = Policy::new().limiter(&limiter).batches(1).concurrency(2);
        let _ = retry_each_blocking(batches, 0..2, |pending: Vec<u32>| -> Answers {
            server.answer(&pending).unwrap();
            wait_for(&limiter.is_waiting);
            let ended = Arc::clone(&ended);
            let end = move || ended.store(true, Ordering::SeqCst);
            ENDS.set(Some(OnDrop(Box::new(end))));
            panic_quietly();
        });
    });
    assert_eq!(server.items().len(), 1);
    let expected = [AttemptOutcome::NotBegun];
    assert_eq!(limiter.left.into_inner().unwrap(), expected);
}

#[test]
fn a_batch_in_a_destructor_of_an_unwinding_thread_is_sent_whole() {
    let results = Mutex::new(None);
    let outcome = catch_unwind(AssertUnwindSafe(|| {
        let _flush = OnDrop(|| {
            let server = Server::failing([TRANSIENT; 4]);
            let batches = Policy::none().on(|_: &Failure| true).batches(1);
            let sent = retry_each_blocking(batches, 0..4, |items| server.answer(&items));
            *results.lock().unwrap() = Some(sent);
        });
        resume_unwind(Box::new("elsewhere"));
    }));
    assert!(outcome.is_err());
    let results = results.lock().unwrap_or_else(PoisonError::into_inner);
    assert_eq!(errors(results.as_ref().expect("sent")), NONE);
}
