//! Functions that return a stream: every mode in every shape, attempts and pulls counted.

// The shapes under test are what these lints would have written otherwise.
#![allow(
    clippy::cast_possible_truncation,
    clippy::manual_async_fn,
    clippy::needless_lifetimes,
    clippy::needless_pass_by_value,
    clippy::unused_async
)]

/// Functions that return what the server sends: as a lazy stream, or as one that is opened first.
macro_rules! streams {
    () => {};
    ($(#[$key:meta])* fn $name:ident; $($more:tt)*) => {
        $(#[$key])*
        fn $name(server: &Server) -> impl Stream<Item = Item> {
            server.lazy()
        }
        streams! { $($more)* }
    };
    ($(#[$key:meta])* async fn $name:ident; $($more:tt)*) => {
        $(#[$key])*
        async fn $name(server: &Server) -> Result<impl Stream<Item = Item>, Failure> {
            server.connect().await
        }
        streams! { $($more)* }
    };
}

/// Such functions of one mode with these keys, or of every mode.
macro_rules! modes {
    (first |$server:ident| $($key:tt)*) => {
        modes!(@ "first", $server [stream = "first", $($key)*] |stream| stream)
    };
    (buffer |$server:ident| $($key:tt)*) => {
        modes!(@ "buffer", $server [stream = "buffer", $($key)*] |stream| stream)
    };
    (resume |$server:ident| $($key:tt)*) => {
        modes!(@ "resume", $server [stream = "resume", attempt = attempt, $($key)*]
            |stream| crate::streams::rest(stream, attempt.yielded()))
    };
    (|$server:ident| $($key:tt)*) => {
        [
            modes!(first |$server| $($key)*),
            modes!(buffer |$server| $($key)*),
            modes!(resume |$server| $($key)*),
        ]
        .concat()
    };
    (@ $mode:literal, $server:ident [$($key:tt)*] |$stream:ident| $body:expr) => {{
        #[retry_runtime::retry($($key)*)]
        fn lazy($server: &Server) -> impl futures::Stream<Item = Item> {
            let $stream = $server.lazy();
            $body
        }

        #[retry_runtime::retry($($key)*)]
        async fn awaited($server: &Server) -> Result<impl futures::Stream<Item = Item>, Failure> {
            let $stream = $server.connect().await?;
            Ok($body)
        }

        let modes: [(&str, crate::streams::Open); 2] = [
            ($mode, |server| futures::StreamExt::boxed(lazy(server))),
            (concat!($mode, ", awaited"), |server| {
                let opening = futures::stream::once(awaited(server));
                futures::StreamExt::boxed(futures::TryStreamExt::try_flatten(opening))
            }),
        ];
        modes
    }};
}

mod arguments;
mod fallback;
mod first;
mod keys;
mod properties;
mod resume;
mod shapes;
mod timeout;

use std::ops::RangeInclusive;
use std::sync::atomic::AtomicUsize;

use Step::{Fail, Wait};
use futures::stream::BoxStream;
use futures::{Stream, StreamExt};
use support::prelude::*;
use tokio::time::Sleep;

/// The stream of a function. It is `Send`, as is the future that opens it.
type Open = for<'a> fn(&'a Server) -> BoxStream<'a, Item>;

const MAX: u32 = 3;

type Item = Result<u32, Failure>;

/// The result of a poll of a stream.
#[derive(Clone, Debug)]
enum Step {
    Item(u32),
    Fail(Failure),
    Wait(Duration),
}

const BUSY: Step = Fail(TRANSIENT);

fn items(range: RangeInclusive<u32>) -> Vec<Step> {
    range.map(Step::Item).collect()
}

fn breaks_after(range: RangeInclusive<u32>) -> Vec<Step> {
    [items(range), vec![BUSY]].concat()
}

/// A server: each attempt meets the next script, and the last one again after that.
#[derive(Debug, Default)]
struct Server {
    scripts: Vec<Vec<Step>>,
    /// Attempts whose opening fails before any script.
    refusals: u32,
    opens_after: Duration,
    /// The server of a fallback.
    other: Option<Box<Self>>,
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
        match self.opens_after {
            Duration::ZERO => yield_now().await,
            after => sleep(after).await,
        }
        self.open_now()
    }
}

struct Scripted<'a> {
    server: &'a Server,
    steps: Option<VecDeque<Step>>,
    sleep: Option<Pin<Box<Sleep>>>,
}

impl Scripted<'_> {
    fn begin(&mut self) -> Result<(), Failure> {
        let attempt = self.server.attempts.fetch_add(1, Ordering::Relaxed);
        if attempt < self.server.refusals {
            return Err(TRANSIENT);
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
                self.sleep = Some(Box::pin(sleep(duration)));
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
        ready(!skipped)
    })
}
