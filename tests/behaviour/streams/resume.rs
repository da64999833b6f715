//! `stream = "resume"`: the body asks for the rest, and nothing is yielded twice.

use std::sync::Mutex;

use futures::stream::{Stream, StreamExt};
use retry_runtime::{Attempt, GaveUp, Items, retry};

use super::{BUSY, Failure, Item, MAX, Server, Step, all, items};

type Asked = Mutex<Vec<(u32, usize, Option<u32>)>>;

fn note(asked: &Asked, attempt: &Attempt<Failure, Items<u32>>) {
    let seen = (
        attempt.number(),
        attempt.yielded(),
        attempt.last_item().copied(),
    );
    asked.lock().unwrap().push(seen);
}

#[retry(stream = "resume", max = MAX, backoff = "none", attempt = attempt)]
fn lazy(server: &Server, asked: &Asked) -> impl Stream<Item = Item> + Send {
    note(asked, attempt);
    server.lazy()
}

#[retry(stream = "resume", max = MAX, backoff = "none", attempt = attempt)]
async fn eager(
    server: &Server,
    asked: &Asked,
    prompt: String,
) -> Result<impl Stream<Item = Item> + Send, Failure> {
    assert_eq!(prompt, "hello");
    note(asked, attempt);
    server.connect().await
}

fn breaks_after(range: std::ops::RangeInclusive<u32>) -> Vec<Step> {
    let mut steps = items(range);
    steps.push(BUSY);
    steps
}

#[tokio::test]
async fn each_attempt_knows_what_went_out_before() {
    let scripts = || {
        [
            breaks_after(1..=3),
            vec![BUSY],
            breaks_after(4..=4),
            items(5..=6),
        ]
    };
    let expected: Vec<Item> = (1..=6).map(Ok).collect();
    let knew = [
        (1, 0, None),
        (2, 3, Some(3)),
        (3, 3, Some(3)),
        (4, 4, Some(4)),
    ];

    let (server, asked) = (Server::new(scripts()), Asked::default());
    assert_eq!(all(lazy(&server, &asked)).await, expected);
    assert_eq!(asked.into_inner().unwrap(), knew);

    let (server, asked) = (Server::new(scripts()), Asked::default());
    let stream = eager(&server, &asked, String::from("hello")).await.unwrap();
    assert_eq!(server.pulled(), 1);
    assert_eq!(all(stream).await, expected);
    assert_eq!(asked.into_inner().unwrap(), knew);
}

#[tokio::test]
async fn out_of_retries_the_error_comes_last() {
    let scripts = [1, 2, 3, 4].map(|item| breaks_after(item..=item));
    let (server, asked) = (Server::new(scripts), Asked::default());
    let seen = all(lazy(&server, &asked)).await;
    assert_eq!(seen, [Ok(1), Ok(2), Ok(3), Ok(4), Err(Failure::Busy)]);
    assert_eq!(server.attempts(), MAX + 1);
}

#[tokio::test]
async fn nothing_is_read_ahead_and_it_is_fused() {
    let server = Server::new([breaks_after(1..=3), items(4..=6)]);
    let asked = Asked::default();
    let mut stream = std::pin::pin!(lazy(&server, &asked));
    for asked in 1..=6 {
        stream.next().await.unwrap().unwrap();
        assert_eq!(server.pulled(), asked);
    }
    for _ in 0..3 {
        assert_eq!(stream.next().await, None);
    }
    assert_eq!(server.open(), 0);
}

#[tokio::test]
async fn a_stream_may_borrow_the_last_item() {
    #[retry(stream = "resume", max = MAX, backoff = "none", attempt = attempt)]
    fn after(server: &Server) -> impl Stream<Item = Item> + Send {
        let last = attempt.last_item();
        server.lazy().filter(move |item| {
            let new = item.as_ref().map_or(true, |item| Some(item) > last);
            std::future::ready(new)
        })
    }
    let server = Server::new([breaks_after(1..=3), items(1..=6)]);
    let expected: Vec<Item> = (1..=6).map(Ok).collect();
    assert_eq!(all(after(&server)).await, expected);
}

#[tokio::test]
async fn the_same_error_in_a_row_counts_anew_after_an_item() {
    fn shape(gave_up: GaveUp<Failure>) -> Failure {
        assert_eq!(gave_up.attempts(), 5);
        gave_up.into_error()
    }
    #[retry(stream = "resume", max = 9, backoff = "none", attempt = attempt, repeats = 3, give_up = shape)]
    fn patient(server: &Server) -> impl Stream<Item = Item> + Send {
        let _ = attempt;
        server.lazy()
    }
    let server = Server::new([
        vec![BUSY],
        vec![BUSY],
        breaks_after(1..=1),
        vec![BUSY],
        vec![BUSY],
        vec![],
    ]);
    let seen = all(patient(&server)).await;
    assert_eq!(seen, [Ok(1), Err(Failure::Busy)]);
}
