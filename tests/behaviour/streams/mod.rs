//! Functions that return a stream: every mode in every shape, attempts and pulls counted.

// The shapes under test are what these lints would have written otherwise.
#![allow(
    clippy::cast_possible_truncation,
    clippy::manual_async_fn,
    clippy::needless_lifetimes,
    clippy::needless_pass_by_value,
    clippy::unused_async
)]

mod arguments;
mod buffer;
mod cancel;
mod fallback;
mod first;
mod keys;
mod opening;
mod properties;
mod protections;
mod resume;
mod send;
mod shapes;
mod timeout;

use std::collections::VecDeque;
use std::pin::Pin;
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use futures::{Stream, StreamExt};
use retry_runtime::{Classify, Rejected, TimedOut, Verdict};

const MAX: u32 = 3;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Failure {
    Busy,
    Throttled(Duration),
    Slow,
    Rejected,
    Fatal,
}

impl Classify for Failure {
    fn classify(&self) -> Verdict {
        match self {
            Self::Busy => Verdict::TRANSIENT,
            Self::Throttled(hint) => Verdict::THROTTLED.after(*hint),
            Self::Slow => Verdict::TIMEOUT,
            Self::Rejected | Self::Fatal => Verdict::STOP,
        }
    }
}

impl From<TimedOut> for Failure {
    fn from(_: TimedOut) -> Self {
        Self::Slow
    }
}

impl From<Rejected> for Failure {
    fn from(_: Rejected) -> Self {
        Self::Rejected
    }
}

impl std::fmt::Display for Failure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{self:?}")
    }
}

impl std::error::Error for Failure {}

type Item = Result<u32, Failure>;

/// The result of a poll of a stream.
#[derive(Clone, Copy, Debug)]
enum Step {
    Item(u32),
    Fail(Failure),
    Wait(Duration),
}

use Step::{Fail, Wait};
use support::time::secs;
const BUSY: Step = Fail(Failure::Busy);

fn items(range: std::ops::RangeInclusive<u32>) -> Vec<Step> {
    range.map(Step::Item).collect()
}

/// A server: each attempt meets the next script, and the last one again after that.
#[derive(Debug, Default)]
struct Server {
    scripts: Vec<Vec<Step>>,
    /// Attempts whose opening fails before any script.
    refusals: u32,
    attempts: AtomicU32,
    pulled: AtomicUsize,
    /// Streams that are open.
    open: AtomicUsize,
}

impl Server {
    fn new(scripts: impl IntoIterator<Item = Vec<Step>>) -> Self {
        Self {
            scripts: scripts.into_iter().collect(),
            ..Self::default()
        }
    }

    fn refusing(refusals: u32, scripts: impl IntoIterator<Item = Vec<Step>>) -> Self {
        Self {
            refusals,
            ..Self::new(scripts)
        }
    }

    fn attempts(&self) -> u32 {
        self.attempts.load(Ordering::Relaxed)
    }

    fn pulled(&self) -> usize {
        self.pulled.load(Ordering::Relaxed)
    }

    fn open(&self) -> usize {
        self.open.load(Ordering::Relaxed)
    }

    /// A lazy stream: the attempt starts when it is first polled.
    fn lazy(&self) -> Scripted<'_> {
        self.open.fetch_add(1, Ordering::Relaxed);
        Scripted {
            server: self,
            steps: None,
            sleep: None,
        }
    }

    /// An eager stream: the attempt starts now, and may fail now.
    fn open_now(&self) -> Result<Scripted<'_>, Failure> {
        let mut stream = self.lazy();
        stream.begin()?;
        Ok(stream)
    }

    async fn connect(&self) -> Result<Scripted<'_>, Failure> {
        tokio::task::yield_now().await;
        self.open_now()
    }
}

struct Scripted<'a> {
    server: &'a Server,
    steps: Option<VecDeque<Step>>,
    sleep: Option<Pin<Box<tokio::time::Sleep>>>,
}

impl Scripted<'_> {
    fn begin(&mut self) -> Result<(), Failure> {
        let attempt = self.server.attempts.fetch_add(1, Ordering::Relaxed);
        if attempt < self.server.refusals {
            return Err(Failure::Busy);
        }
        let script = (attempt - self.server.refusals) as usize;
        let scripts = &self.server.scripts;
        self.steps = Some(scripts[script.min(scripts.len() - 1)].clone().into());
        Ok(())
    }
}

impl Drop for Scripted<'_> {
    fn drop(&mut self) {
        self.server.open.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Stream for Scripted<'_> {
    type Item = Item;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Item>> {
        if let Some(sleep) = &mut self.sleep {
            std::task::ready!(sleep.as_mut().poll(context));
            self.sleep = None;
        }
        if self.steps.is_none()
            && let Err(error) = self.begin()
        {
            return Poll::Ready(Some(Err(error)));
        }
        let steps = self.steps.as_mut().unwrap();
        let step = steps.pop_front();
        match step {
            Some(Wait(duration)) => {
                self.sleep = Some(Box::pin(tokio::time::sleep(duration)));
                self.poll_next(context)
            }
            Some(Step::Item(item)) => {
                self.server.pulled.fetch_add(1, Ordering::Relaxed);
                Poll::Ready(Some(Ok(item)))
            }
            Some(Fail(failure)) => Poll::Ready(Some(Err(failure))),
            None => Poll::Ready(None),
        }
    }
}

/// All that a stream yields.
async fn all(stream: impl Stream<Item = Item>) -> Vec<Item> {
    stream.collect().await
}

/// Collects a stream. If the function fails before there is a stream, the error is the only item.
async fn all_of(stream: Result<impl Stream<Item = Item>, Failure>) -> Vec<Item> {
    match stream {
        Ok(stream) => all(stream).await,
        Err(error) => vec![Err(error)],
    }
}

/// Returns a server's items without the first ones. Errors are not left out.
fn rest<'a>(
    stream: impl Stream<Item = Item> + Send + 'a,
    yielded: usize,
) -> impl Stream<Item = Item> + Send + 'a {
    let mut left = yielded;
    stream.filter(move |item| {
        let skipped = item.is_ok() && left > 0;
        left -= usize::from(skipped);
        std::future::ready(!skipped)
    })
}
