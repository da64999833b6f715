//! For any points of failure: a prefix, all or nothing, or each item exactly once. A stream that is dropped at any poll
//! releases everything.

use futures::{StreamExt, poll};
use proptest::prelude::*;
use support::prelude::*;
use support::runtime;

use super::{BUSY, Failure, Item, Open, Server, Step, Wait, all, items, secs};

const LENGTH: u32 = 8;
const RETRIES: u32 = 4;

/// The items up to a failure, or all of them.
fn script(fails_after: Option<u32>) -> Vec<Step> {
    let items = (0..fails_after.unwrap_or(LENGTH)).map(Step::Item);
    items.chain(fails_after.map(|_| BUSY)).collect()
}

fn goods(count: u32) -> Vec<Item> {
    (0..count).map(Ok).collect()
}

fn good_then_error(count: u32) -> Vec<Item> {
    (0..count).map(Ok).chain([Err(TRANSIENT)]).collect()
}

/// Computes the items that a consumer gets in the first mode, and the number of attempts.
fn expect_first(failures: &[u32]) -> (Vec<Item>, usize) {
    let attempts = failures.iter().take(RETRIES as usize + 1);
    match attempts.clone().position(|good| *good > 0) {
        Some(before) => (good_then_error(failures[before]), before + 1),
        None => expect_buffer(failures),
    }
}

fn expect_buffer(failures: &[u32]) -> (Vec<Item>, usize) {
    if failures.len() > RETRIES as usize {
        (good_then_error(0), RETRIES as usize + 1)
    } else {
        (goods(LENGTH), failures.len() + 1)
    }
}

fn expect_resume(failures: &[u32]) -> (Vec<Item>, usize) {
    let (mut yielded, mut retries) = (0, 0);
    for (before, good) in failures.iter().enumerate() {
        if *good > yielded {
            (yielded, retries) = (*good, 0);
        }
        if retries == RETRIES {
            return (good_then_error(yielded), before + 1);
        }
        retries += 1;
    }
    (goods(LENGTH), failures.len() + 1)
}

proptest! {
    #[test]
    fn consumers_get_the_items_of_the_mode(failures in prop::collection::vec(0..LENGTH, 0..9)) {
        let scripts = || failures.iter().copied().map(Some).chain([None]).map(script);
        runtime::paused().block_on(async {
            for (mode, open) in modes!(|server| max = RETRIES, backoff = "none") {
                let server = Server::new(scripts());
                let seen = (all(open(&server)).await, server.attempts() as usize);
                let expected = match mode.split(',').next() {
                    Some("first") => expect_first(&failures),
                    Some("buffer") => expect_buffer(&failures),
                    _ => expect_resume(&failures),
                };
                prop_assert_eq!(seen, expected, "{}", mode);
            }
            Ok(())
        })?;
    }
}

/// Drops the stream after each number of polls; returns how many polls it takes to the end.
async fn drop_at_every_poll(server: &Server, open: Open) -> usize {
    for polls in 0.. {
        server.attempts.store(0, Ordering::Relaxed);
        let (mut stream, mut ended) = (open(server), false);
        for _ in 0..polls {
            match poll!(stream.next()) {
                Poll::Ready(None) => ended = true,
                Poll::Ready(Some(_)) => {}
                Poll::Pending => sleep(secs(2)).await,
            }
        }
        assert!(server.open() <= 1);
        drop(stream);
        assert_eq!(server.open(), 0, "after {polls} polls");
        if ended {
            return polls;
        }
    }
    unreachable!()
}

#[tokio::test(start_paused = true)]
async fn a_stream_dropped_at_any_poll_releases_everything() {
    let script = vec![Wait(secs(1)), Step::Item(1), Wait(secs(1)), BUSY];
    let server = Server::new([vec![BUSY], script.clone(), script, items(2..=3)]);
    for (mode, open) in modes!(|server| max = 9, base = "1s", timeout = "9s") {
        assert!(drop_at_every_poll(&server, open).await > 4, "{mode}");
    }
}
