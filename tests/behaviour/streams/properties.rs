//! For any points of failure: a prefix, all or nothing, or each item exactly once.

use futures::stream::Stream;
use proptest::prelude::*;
use retry_runtime::retry;

use super::{BUSY, Failure, Item, Server, Step, all, all_of};

const LENGTH: u32 = 8;
const RETRIES: u32 = 4;

#[retry(stream = "first", max = RETRIES, backoff = "none")]
fn first(server: &Server) -> impl Stream<Item = Item> {
    server.lazy()
}

#[retry(stream = "buffer", max = RETRIES, backoff = "none")]
fn buffer(server: &Server) -> impl Stream<Item = Item> {
    server.lazy()
}

#[retry(stream = "resume", max = RETRIES, backoff = "none", attempt = attempt)]
fn resume(server: &Server) -> impl Stream<Item = Item> {
    super::rest(server.lazy(), attempt.yielded())
}

#[retry(stream = "first", max = RETRIES, backoff = "none")]
async fn first_awaited(server: &Server) -> Result<impl Stream<Item = Item>, Failure> {
    server.connect().await
}

#[retry(stream = "buffer", max = RETRIES, backoff = "none")]
async fn buffer_awaited(server: &Server) -> Result<impl Stream<Item = Item>, Failure> {
    server.connect().await
}

#[retry(stream = "resume", max = RETRIES, backoff = "none", attempt = attempt)]
async fn resume_awaited(server: &Server) -> Result<impl Stream<Item = Item>, Failure> {
    Ok(super::rest(server.connect().await?, attempt.yielded()))
}

/// The items up to a failure, or all of them.
fn script(fails_after: Option<u32>) -> Vec<Step> {
    let mut steps: Vec<_> = (0..fails_after.unwrap_or(LENGTH)).map(Step::Item).collect();
    steps.extend(fails_after.map(|_| BUSY));
    steps
}

fn goods(count: u32) -> Vec<Item> {
    (0..count).map(Ok).collect()
}

fn good_then_error(count: u32) -> Vec<Item> {
    let mut items = goods(count);
    items.push(Err(Failure::Busy));
    items
}

/// Computes the items that a consumer gets in the first mode.
fn expect_first(failures: &[u32]) -> Vec<Item> {
    let started = failures
        .iter()
        .take(RETRIES as usize + 1)
        .find(|&&good| good > 0);
    match started {
        Some(&good) => good_then_error(good),
        None if failures.len() > RETRIES as usize => good_then_error(0),
        None => goods(LENGTH),
    }
}

fn expect_buffer(failures: &[u32]) -> Vec<Item> {
    if failures.len() > RETRIES as usize {
        good_then_error(0)
    } else {
        goods(LENGTH)
    }
}

fn expect_resume(failures: &[u32]) -> Vec<Item> {
    let (mut yielded, mut retries) = (0, 0);
    for good in failures {
        if *good > yielded {
            (yielded, retries) = (*good, 0);
        }
        if retries == RETRIES {
            return good_then_error(yielded);
        }
        retries += 1;
    }
    goods(LENGTH)
}

proptest! {
    #[test]
    fn consumers_get_the_items_of_the_mode(failures in prop::collection::vec(0..LENGTH, 0..9)) {
        let scripts = || failures.iter().copied().map(Some).chain([None]).map(script);
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        runtime.block_on(async {
            prop_assert_eq!(all(first(&Server::new(scripts()))).await, expect_first(&failures));
            prop_assert_eq!(all(buffer(&Server::new(scripts()))).await, expect_buffer(&failures));
            prop_assert_eq!(all(resume(&Server::new(scripts()))).await, expect_resume(&failures));
            let server = Server::new(scripts());
            prop_assert_eq!(all_of(first_awaited(&server).await).await, expect_first(&failures));
            let server = Server::new(scripts());
            prop_assert_eq!(all_of(buffer_awaited(&server).await).await, expect_buffer(&failures));
            let server = Server::new(scripts());
            prop_assert_eq!(all_of(resume_awaited(&server).await).await, expect_resume(&failures));
            Ok(())
        })?;
    }
}
