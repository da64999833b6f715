//! `timeout` is the time until the attempt succeeds, and then until each next item, while the consumer waits for it.

use futures::StreamExt;
use support::prelude::*;

use super::{BUSY, Failure, Item, Open, Server, Step, Wait, all, items, secs};

/// Stalls after that many items.
fn stalls_after(good: u32) -> Vec<Step> {
    [items(1..=good), vec![Wait(secs(3600))], items(good + 1..=9)].concat()
}

/// An item every four seconds.
fn slow(count: u32) -> Vec<Step> {
    let steps = (1..=count).flat_map(|item| [Wait(secs(4)), Step::Item(item)]);
    steps.collect()
}

/// The items of a stream, the number of attempts, and the seconds.
async fn seen(open: Open, server: &Server) -> (Vec<Item>, u32, u64) {
    let start = Instant::now();
    let seen = all(open(server)).await;
    assert_eq!(server.open(), 0);
    (seen, server.attempts(), start.elapsed().as_secs())
}

#[tokio::test(start_paused = true)]
async fn an_item_or_an_opening_that_stalls_ends_the_attempt() {
    let ok = |count| (1..=count).map(Ok).collect::<Vec<Item>>();
    for (mode, open) in modes!(|server| max = 2, backoff = "none", timeout = "5s") {
        let server = Server::new([stalls_after(0), stalls_after(0), items(1..=2)]);
        assert_eq!(seen(open, &server).await, (ok(2), 3, 10), "{mode}");
        let server = Server::new([stalls_after(2), items(1..=9)]);
        let expected = if mode.starts_with("first") {
            (vec![Ok(1), Ok(2), Err(TIMEOUT)], 1, 5)
        } else {
            (ok(9), 2, 5)
        };
        assert_eq!(seen(open, &server).await, expected, "{mode}");
        // A slow opening is dropped.
        if mode.ends_with("awaited") {
            let server = Server {
                opens_after: secs(6),
                ..Server::new([items(1..=2)])
            };
            let expected = (vec![Err(TIMEOUT)], 0, 15);
            assert_eq!(seen(open, &server).await, expected, "{mode}");
        }
        // The opening takes none of the time of a later item.
        if mode == "first, awaited" {
            let server = Server {
                opens_after: secs(4),
                ..Server::new([stalls_after(2)])
            };
            let expected = (vec![Ok(1), Ok(2), Err(TIMEOUT)], 1, 9);
            assert_eq!(seen(open, &server).await, expected);
        }
    }
}

/// The opening takes of it, and so does every item before the one that counts.
#[tokio::test(start_paused = true)]
async fn an_attempt_has_one_time_until_it_succeeds() {
    let [_, (_, first)] = modes! {
        first |server| first = |item| *item > 2, max = 1, backoff = "none", timeout = "10s", idle_timeout = "5s"
    };
    let [_, (_, buffer)] = modes! {
        buffer |server| max = 1, backoff = "none", timeout = "10s", idle_timeout = "5s"
    };
    let [_, (_, resume)] = modes! {
        resume |server| max = 1, backoff = "none", timeout = "10s", idle_timeout = "5s"
    };
    for (opens_after, expected) in [
        (0, [(2, 10), (2, 10), (1, 12)]),
        (5, [(2, 15), (2, 15), (1, 17)]),
        (7, [(2, 17), (2, 17), (2, 17)]),
    ] {
        for (open, (attempts, seconds)) in [first, buffer, resume].into_iter().zip(expected) {
            let server = Server {
                opens_after: secs(opens_after),
                ..Server::new([slow(3), items(1..=3)])
            };
            let expected = (vec![Ok(1), Ok(2), Ok(3)], attempts, seconds);
            assert_eq!(seen(open, &server).await, expected, "{opens_after}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn each_item_has_the_whole_time_and_the_consumer_takes_none_of_it() {
    for (mode, open) in modes!(first | server | max = 2, backoff = "none", timeout = "5s") {
        let server = Server::new([slow(5)]);
        let mut stream = open(&server);
        for item in 1..=5 {
            assert_eq!(stream.next().await, Some(Ok(item)), "{mode}");
            sleep(secs(60)).await;
        }
        assert_eq!(stream.next().await, None, "{mode}");
        assert_eq!(server.attempts(), 1, "{mode}");
    }
}

/// A dropped attempt counts as a timeout and is ambiguous; an error that the stream itself yields is not.
#[tokio::test(start_paused = true)]
async fn errors_in_time_are_not_mistaken_for_timeouts_which_are_not_retried() {
    for (mode, open) in modes! {
        |server| max = 2, backoff = "none", timeout = "5s", timed_out(max = 0), idempotent = false
    } {
        for server in [
            Server::new([vec![BUSY], vec![BUSY], items(1..=2)]),
            Server::refusing(2, [items(1..=2)]),
        ] {
            let expected = (vec![Ok(1), Ok(2)], 3, 0);
            assert_eq!(seen(open, &server).await, expected, "{mode}");
        }
        let server = Server::new([stalls_after(0)]);
        let expected = (vec![Err(TIMEOUT)], 1, 5);
        assert_eq!(seen(open, &server).await, expected, "{mode}");
    }
}

#[tokio::test(start_paused = true)]
async fn the_wait_between_items_may_have_its_own_limit() {
    let [(_, both), _] = modes! {
        buffer |server| max = 1, backoff = "none", timeout = "30s", idle_timeout = "5s"
    };
    let [(_, idle), _] = modes! { buffer |server| max = 1, backoff = "none", idle_timeout = "5s" };
    for ([first, second], of_both, of_idle) in [
        ([20, 4], (1, 24), (1, 24)),
        ([20, 6], (2, 25), (2, 25)),
        ([28, 4], (2, 30), (1, 32)),
        ([31, 4], (2, 30), (1, 35)),
    ] {
        for (open, (attempts, seconds)) in [(both, of_both), (idle, of_idle)] {
            let waits = vec![
                Wait(secs(first)),
                Step::Item(1),
                Wait(secs(second)),
                Step::Item(2),
            ];
            let server = Server::new([waits, items(1..=2)]);
            let expected = (vec![Ok(1), Ok(2)], attempts, seconds);
            assert_eq!(seen(open, &server).await, expected, "{first} {second}");
        }
    }
}
