//! The key `hedge`: additional attempts when one is slow.

#![allow(clippy::float_cmp)]

/// A function whose attempts ask a server, with further arguments and keys.
macro_rules! asks {
    (fn $name:ident($($arg:ident: $type:ty),*), $($key:tt)*) => {
        #[retry($($key)*)]
        async fn $name(server: &Server, $($arg: $type),*) -> Result<usize, Failure> {
            server.ask().await
        }
    };
}

mod keys;
mod latency;
mod shapes;
mod shared;
mod timing;

use std::sync::atomic::{AtomicU64, Ordering::SeqCst};

use support::dropped::OnDrop;
use support::prelude::*;

fn since(origin: Instant) -> u64 {
    origin.elapsed().as_millis().try_into().expect("small")
}

/// The end of an attempt, and its time in milliseconds.
type Step = (u64, Result<(), Failure>);

/// A success after this time.
const fn answer(millis: u64) -> Step {
    (millis, Ok(()))
}

/// A failure after that time.
const fn fails(millis: u64, failure: Failure) -> Step {
    (millis, Err(failure))
}

/// Responds to requests according to the script, in the order of their arrival.
#[derive(Debug)]
struct Server {
    script: Vec<Step>,
    origin: Instant,
    began: Mutex<Vec<u64>>,
    dropped: AtomicU64,
}

/// The requests that a server received, in milliseconds since it was created.
#[derive(Debug, PartialEq)]
struct Seen {
    began: Vec<u64>,
    /// The number of requests that were dropped before their response.
    dropped: u64,
    now: u64,
}

impl Server {
    fn new(script: impl IntoIterator<Item = Step>) -> Self {
        Self {
            script: script.into_iter().collect(),
            origin: Instant::now(),
            began: Mutex::default(),
            dropped: AtomicU64::new(0),
        }
    }

    /// The number of the request.
    async fn ask(&self) -> Result<usize, Failure> {
        let number = {
            let mut began = self.began.lock().expect("no panic");
            began.push(since(self.origin));
            began.len()
        };
        let unanswered = OnDrop(|| {
            self.dropped.fetch_add(1, SeqCst);
        });
        let (took, outcome) = self.script[number - 1].clone();
        sleep(millis(took)).await;
        std::mem::forget(unanswered);
        outcome.map(|()| number)
    }

    fn seen(&self) -> Seen {
        Seen {
            began: self.began.lock().expect("no panic").clone(),
            dropped: self.dropped.load(SeqCst),
            now: since(self.origin),
        }
    }
}

fn seen(began: &[u64], dropped: u64, now: u64) -> Seen {
    Seen {
        began: began.to_vec(),
        dropped,
        now,
    }
}

/// Polls the call, and again after each of these pauses, when it panics at the last; then drops it.
async fn panics_after(pauses: &[u64], call: impl Future) {
    let mut call = pin!(call);
    let mut context = Context::from_waker(Waker::noop());
    for pause in pauses {
        assert!(call.as_mut().poll(&mut context).is_pending());
        advance(millis(*pause)).await;
    }
    let polled = catch_unwind(AssertUnwindSafe(|| call.as_mut().poll(&mut context)));
    assert!(polled.is_err());
}
