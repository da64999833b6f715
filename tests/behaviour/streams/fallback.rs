//! The key `fallback` on a stream: another stream is used if no item was yielded.

use futures::stream::{Stream, StreamExt};
use support::prelude::*;

use super::{BUSY, Fail, Failure, Item, Server, Step, Wait, all, breaks_after, items, secs};

impl Server {
    /// A server, and another to turn to.
    fn with_other(first: Vec<Step>, other: Vec<Step>) -> Self {
        Self {
            other: Some(Box::new(Self::new([other]))),
            ..Self::new([first])
        }
    }

    fn other(&self) -> &Self {
        self.other.as_ref().expect("another server")
    }

    fn both_attempts(&self) -> (u32, u32) {
        (self.attempts(), self.other().attempts())
    }

    async fn turn(&self, gave_up: GaveUp<Failure>) -> Result<impl Stream<Item = Item>, Failure> {
        match gave_up.reason() {
            Reason::Exhausted => self.other().connect().await,
            _ => Err(gave_up.into_error()),
        }
    }
}

/// The functions of a mode, with another stream once retries are exhausted.
macro_rules! falling_back {
    ($mode:ident) => {
        modes! {
            $mode |server| max = 2, backoff = "none", fallback = async |gave_up| server.turn(gave_up).await
        }
    };
}

/// Only `"buffer"` holds items back: those that were yielded can't be taken back.
#[tokio::test]
async fn a_call_that_failed_without_an_item_continues_with_another_stream() {
    let (broken, slow) = (Err(TRANSIENT), Err(TIMEOUT));
    let both = || vec![Ok(7), Ok(8)];
    for (server, of_first, of_buffer) in rows! {
        (vec![BUSY], items(7..=8)), (both(), (3, 1)), (both(), (3, 1));
        (items(1..=2), items(7..=8)), (vec![Ok(1), Ok(2)], (1, 0)), (vec![Ok(1), Ok(2)], (1, 0));
        (vec![Fail(STOP)], items(7..=8)), (vec![Err(STOP)], (1, 0)), (vec![Err(STOP)], (1, 0));
        (breaks_after(1..=1), items(7..=8)), (vec![Ok(1), broken], (1, 0)), (both(), (3, 1));
        // The other stream is not retried.
        (vec![BUSY], vec![Fail(TIMEOUT)]), (vec![slow.clone()], (3, 1)), (vec![slow.clone()], (3, 1));
        (vec![BUSY], vec![Step::Item(7), Fail(TIMEOUT)]), (vec![Ok(7), slow.clone()], (3, 1)),
            (vec![slow], (3, 1));
    } {
        for (modes, expected) in [
            (falling_back!(first), of_first),
            (falling_back!(buffer), of_buffer),
        ] {
            for (mode, open) in modes {
                let server = Server::with_other(server.0.clone(), server.1.clone());
                let seen = all(open(&server)).await;
                assert_eq!(
                    (seen, server.both_attempts()),
                    expected,
                    "{mode}: {server:?}"
                );
            }
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_timeout_ends_attempts_and_not_the_other_stream() {
    for (mode, open) in modes! {
        first |server| max = 1, backoff = "none", timeout = "5s", fallback = async |_| Ok(server.other().lazy())
    } {
        let start = Instant::now();
        let server = Server::with_other(
            vec![Wait(secs(60)), Step::Item(1)],
            vec![Wait(secs(60)), Step::Item(7), Wait(secs(60)), Step::Item(8)],
        );
        assert_eq!(all(open(&server)).await, [Ok(7), Ok(8)], "{mode}");
        assert_eq!(server.both_attempts(), (2, 1), "{mode}");
        assert_eq!(start.elapsed(), secs(5 + 5 + 60 + 60), "{mode}");
    }
}

#[tokio::test]
async fn the_fallback_is_reported_at_its_first_item() {
    let [(_, open), _] = falling_back!(first);
    for (other, record) in [(items(7..=8), "fell back"), (vec![BUSY], "gave up")] {
        let recording = testing::record();
        let server = Server::with_other(vec![BUSY], other);
        let mut stream = open(&server);
        assert!(recording.lines().is_empty());
        stream.next().await;
        let lines = recording.lines();
        assert_eq!(lines.len(), 4, "{lines:?}");
        assert!(lines[3].starts_with(record), "{lines:?}");
    }
}

#[tokio::test]
async fn a_stream_dropped_at_any_time_leaves_no_stream_open() {
    let [(_, open), _] = falling_back!(first);
    let server = Server::with_other(vec![BUSY], items(7..=9));
    for pulls in 0..=3 {
        open(&server).take(pulls).count().await;
        assert_eq!((server.open(), server.other().open()), (0, 0));
    }
}
