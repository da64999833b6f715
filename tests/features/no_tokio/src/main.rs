use std::future::Future;
use std::pin::pin;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use retry_runtime::seam::Timer;
use retry_runtime::{Attempt, GaveUp, Policy, TimedOut, retry};
use retry_work::{IntoBatches, retry_each};

/// Sleeps on the thread, as no executor of this program has anything else to do.
struct ThreadTimer;

impl Timer for ThreadTimer {
    async fn sleep(&self, duration: Duration) {
        std::thread::sleep(duration);
    }
}

#[derive(Debug)]
struct Busy(u32);

impl From<TimedOut> for Busy {
    fn from(_: TimedOut) -> Self {
        Busy(0)
    }
}

struct Client {
    attempts: u32,
    lines: Vec<String>,
}

impl Client {
    #[retry(max = 2, base = "1ms", timer = ThreadTimer, on = |_| true)]
    async fn plain(&mut self, prompt: String) -> Result<usize, Busy> {
        self.attempts += 1;
        if self.attempts < 3 {
            return Err(Busy(self.attempts));
        }
        Ok(prompt.len())
    }

    #[retry(
        max = 2,
        base = "1ms",
        timer = |duration| async move { std::thread::sleep(duration) },
        on = |_| true,
        until = |length| *length > 100,
        deadline = "1h",
        attempt = attempt,
        observe = |event| self.lines.push(event.to_string()),
        fallback = async_fallback
    )]
    async fn everything(&mut self, prompt: String) -> Result<usize, Busy> {
        let attempt: &Attempt<Busy> = attempt;
        self.attempts += attempt.number();
        Err(Busy(prompt.len() as u32))
    }

    #[retry(max = 2, base = "1ms", on = |_| true)]
    fn blocking(&mut self) -> Result<u32, Busy> {
        self.attempts += 1;
        Err(Busy(self.attempts))?
    }
}

async fn async_fallback(gave_up: GaveUp<Busy>) -> Result<usize, Busy> {
    Ok(gave_up
        .into_errors()
        .into_iter()
        .map(|Busy(number)| number as usize)
        .sum())
}

fn block_on<F: Future>(future: F) -> F::Output {
    let mut future = pin!(future);
    loop {
        if let Poll::Ready(output) = future
            .as_mut()
            .poll(&mut Context::from_waker(Waker::noop()))
        {
            return output;
        }
    }
}

fn main() {
    let mut client = Client {
        attempts: 0,
        lines: Vec::new(),
    };
    assert_eq!(block_on(client.plain(String::from("hello"))).unwrap(), 5);
    assert_eq!(client.attempts, 3);
    client.attempts = 0;
    assert_eq!(
        block_on(client.everything(String::from("hello"))).unwrap(),
        15
    );
    assert_eq!(client.attempts, 1 + 2 + 3);
    assert_eq!(client.lines.len(), 3 + 3 + 1);
    client.attempts = 0;
    assert_eq!(client.blocking().unwrap_err().0, 3);
    assert_eq!(block_on(batch()), 2 + 2 + 1);
}

/// Returns the total number of items that were sent.
async fn batch() -> usize {
    let sent = std::cell::Cell::new(0);
    let batches = Policy::fixed(Duration::from_millis(1))
        .on(|_: &Busy| true)
        .timer(ThreadTimer)
        .batches(2);
    let results = retry_each(batches, 0..3, |pending: Vec<u32>| {
        sent.set(sent.get() + pending.len());
        let answers = match sent.get() {
            2 => Err(Busy(0)),
            _ => Ok(pending.into_iter().map(Ok).collect()),
        };
        std::future::ready(answers)
    });
    assert_eq!(results.await.len(), 3);
    sent.get()
}
