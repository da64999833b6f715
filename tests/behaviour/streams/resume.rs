//! `stream = "resume"`: the body requests the rest, and no item is yielded twice.

use futures::stream::{self, Stream, StreamExt, TryStreamExt};
use retry_runtime::{Attempt, Items};
use support::clock::Simulated;
use support::prelude::*;
use support::turns::Turns;

use super::{
    BUSY, Failure, Item, MAX, Server, all, assert_not_read_ahead, breaks_after, items, secs,
};

type Asked = Mutex<Vec<(u32, usize, Option<u32>)>>;

fn note(asked: &Asked, attempt: &Attempt<Failure, Items<u32>>) {
    let (number, yielded) = (attempt.number(), attempt.yielded());
    let seen = (number, yielded, attempt.last_item().copied());
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

#[tokio::test]
async fn each_attempt_has_the_number_of_yielded_items() {
    let (first, second) = (breaks_after(1..=3), breaks_after(4..=4));
    let scripts = [first, vec![BUSY], second, items(5..=6)];
    let expected: Vec<Item> = (1..=6).map(Ok).collect();
    let knew = [
        (1, 0, None),
        (2, 3, Some(3)),
        (3, 3, Some(3)),
        (4, 4, Some(4)),
    ];

    let (server, asked) = (Server::new(scripts.clone()), Asked::default());
    assert_eq!(all(lazy(&server, &asked)).await, expected);
    assert_eq!(asked.into_inner().unwrap(), knew);

    let (server, asked) = (Server::new(scripts), Asked::default());
    let stream = eager(&server, &asked, String::from("hello")).await.unwrap();
    assert_eq!(server.pulled(), 1);
    assert_eq!(all(stream).await, expected);
    assert_eq!(asked.into_inner().unwrap(), knew);
}

#[tokio::test]
async fn an_item_restarts_the_retry_count() {
    #[retry(stream = "resume", max = 2, backoff = "none", attempt = attempt)]
    fn feed(server: &Server, is_last: &Mutex<Vec<bool>>) -> impl Stream<Item = Item> {
        is_last.lock().unwrap().push(attempt.is_last());
        server.lazy()
    }

    let mut scripts: Vec<_> = (1..=40).map(|item| breaks_after(item..=item)).collect();
    scripts.extend([
        vec![BUSY],
        breaks_after(41..=41),
        vec![BUSY],
        items(42..=42),
    ]);
    let is_last = Mutex::default();
    let seen = all(feed(&Server::new(scripts), &is_last)).await;
    assert_eq!(seen, (1..=42).map(Ok).collect::<Vec<Item>>());
    let is_last = is_last.into_inner().unwrap();
    assert_eq!(is_last.len(), 44);
    // Each time after the one break without an item.
    let last: Vec<_> = (1..).zip(is_last).filter(|(_, is_last)| *is_last).collect();
    assert_eq!(last, [(42, true), (44, true)]);
}

/// For a feed that breaks after each item.
#[tokio::test]
async fn delays_grow_until_an_attempt_outlasts_its_pause() {
    #[retry(stream = "resume", max = 1, base = "2s", jitter = "none", attempt = attempt, timer = clock, observe = |event| {
        if let EventData::Retrying { delay, .. } = event.data {
            delays.lock().unwrap().push((event.attempt, delay.as_secs()));
        }
    })]
    fn feed(
        clock: &Simulated,
        delays: &Mutex<Vec<(u32, u64)>>,
        lasts: &[u64],
    ) -> impl Stream<Item = Result<usize, Failure>> {
        clock.advance(secs(lasts[attempt.yielded()]));
        stream::iter([Ok(attempt.yielded()), Err(TRANSIENT)])
    }

    for (lasts, expected) in [
        ([0; 7], [2, 4, 8, 16, 30, 30]),
        ([90, 3, 3, 3, 3, 3, 3], [2, 2, 2, 2, 2, 2]),
        ([0, 0, 4, 9, 2, 3, 0], [2, 4, 8, 2, 4, 8]),
    ] {
        let delays = Mutex::default();
        let clock = Simulated::default();
        let seen: Vec<_> = feed(&clock, &delays, &lasts).take(7).collect().await;
        assert_eq!(seen, (0..7).map(Ok).collect::<Vec<_>>());
        // Each break is the first again to `max`.
        let expected = expected.map(|delay| (1, delay));
        assert_eq!(delays.into_inner().unwrap(), expected);
    }
}

#[tokio::test(start_paused = true)]
async fn decorrelated_delays_grow_as_long() {
    #[retry(stream = "resume", max = 9, base = "1s", jitter = "decorrelated", attempt = attempt)]
    fn feed(lasts: Duration) -> impl Stream<Item = Result<usize, Failure>> {
        let items = stream::iter([Ok(attempt.yielded()), Err(TRANSIENT)]);
        items.then(move |item| async move {
            sleep(lasts).await;
            item
        })
    }

    let limit = secs(3);
    for (lasts, grows) in [(Duration::ZERO, true), (secs(60), false)] {
        let recording = testing::record();
        assert_eq!(feed(lasts).take(30).count().await, 30);
        let has_grown = recording.delays().iter().any(|delay| *delay > limit);
        assert_eq!(has_grown, grows, "{lasts:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_deadline_is_the_time_until_the_next_item() {
    /// Yields and breaks each 6 s, and from the 4th attempt on it does not get through.
    fn source(attempt: u32) -> impl Stream<Item = Item> {
        let steps: Vec<Item> = match attempt {
            1..4 => vec![Ok(attempt), Err(TRANSIENT)],
            _ => vec![Err(TRANSIENT)],
        };
        stream::iter(steps).then(|item| async move {
            sleep(secs(3)).await;
            item
        })
    }

    #[retry(stream = "resume", max = "unlimited", backoff = "none", deadline = "10s", attempt = attempt)]
    fn given() -> impl Stream<Item = Item> {
        source(attempt.number())
    }

    #[retry(stream = "resume", policy = POLICY, attempt = attempt, timer = DefaultTimer)]
    fn of_policy() -> impl Stream<Item = Item> {
        source(attempt.number())
    }

    const POLICY: Policy = Policy::none().max(u32::MAX).deadline(secs(10));
    #[retry(stream = "resume", max = 1, backoff = "none", attempt = attempt, deadline = {
        evaluated.set(evaluated.get() + 1);
        secs(10)
    })]
    fn counted(evaluated: &Cell<u32>) -> impl Stream<Item = Item> {
        source(attempt.number())
    }

    let expected = [Ok(1), Ok(2), Ok(3), Err(TRANSIENT)];
    let evaluated = Cell::new(0);
    assert_eq!(all(counted(&evaluated)).await, expected);
    // Evaluated at the start, and at the three breaks after an item.
    assert_eq!(evaluated.get(), 1 + 3);
    let start = Instant::now();
    assert_eq!(all(given()).await, expected);
    // The last break is at 18 s, and failures follow at 21, 24, 27 and 30 s.
    assert_eq!(start.elapsed(), secs(30));
    assert_eq!(all(of_policy()).await, expected);
    assert_eq!(start.elapsed(), Duration::from_mins(1));
}

#[tokio::test]
async fn a_resumed_stream_does_not_read_ahead() {
    let server = Server::new([breaks_after(1..=3), items(4..=6)]);
    let asked = Asked::default();
    assert_not_read_ahead(&server, lazy(&server, &asked), 6).await;
}

#[tokio::test]
async fn a_stream_may_borrow_the_last_item() {
    #[retry(stream = "resume", max = MAX, backoff = "none", attempt = attempt)]
    fn after(server: &Server) -> impl Stream<Item = Item> + Send {
        let last = attempt.last_item();
        server.lazy().filter(move |item| {
            let new = item.as_ref().map_or(true, |item| Some(item) > last);
            ready(new)
        })
    }
    let server = Server::new([breaks_after(1..=3), items(1..=6)]);
    let expected: Vec<Item> = (1..=6).map(Ok).collect();
    assert_eq!(all(after(&server)).await, expected);
}

#[tokio::test]
async fn an_item_restarts_the_count_of_repeated_errors() {
    fn shape(gave_up: GaveUp<Failure>) -> Failure {
        assert_eq!(gave_up.attempts(), 5);
        gave_up.into_error()
    }
    #[retry(stream = "resume", max = 9, backoff = "none", attempt = attempt, repeats = 3, give_up = shape)]
    fn patient(server: &Server) -> impl Stream<Item = Item> + Send {
        let _ = attempt;
        server.lazy()
    }
    let busy = || vec![BUSY];
    let server = Server::new([busy(), busy(), breaks_after(1..=1), busy(), busy(), vec![]]);
    assert_eq!(all(patient(&server)).await, [Ok(1), Err(TRANSIENT)]);
}

#[tokio::test]
async fn a_budget_records_the_call_once_and_each_attempts_first_item() {
    #[retry(stream = "resume", backoff = "none", attempt = attempt, budget = budget)]
    fn feed(
        budget: &Turns,
        server: &Server,
        progress_after: Option<Duration>,
    ) -> impl Stream<Item = Item> {
        let _ = budget;
        if let Some(time) = progress_after {
            attempt.progress_after(time);
        }
        server.lazy()
    }

    let scripts = [
        breaks_after(1..=2),
        vec![BUSY],
        breaks_after(3..=3),
        items(4..=5),
    ];
    let expected = "called; succeeded; failed transient; withdraw transient; failed transient; \
        withdraw transient; succeeded after transient; failed transient; withdraw transient; \
        succeeded after transient";
    // Its reader leaves after the first item of the last attempt, or reads to the end.
    for (progress_after, taken) in [(None, 4), (Some(Duration::MAX), 6)] {
        let (budget, server) = (Turns::new(9), Server::new(scripts.clone()));
        let feed = feed(&budget, &server, progress_after).take(taken);
        assert_eq!(feed.count().await, taken.min(5));
        assert_eq!(budget.notes().join("; "), expected);
    }
}

#[tokio::test]
async fn a_feed_that_always_continues_does_not_use_up_its_budget() {
    #[retry(stream = "resume", backoff = "none", attempt = attempt, budget = budget)]
    fn feed(budget: &Budget, server: &Server) -> impl Stream<Item = Item> {
        let _ = budget;
        // More often than a server may break its streams early.
        attempt.progress();
        server.lazy()
    }

    let mut scripts = vec![breaks_after(1..=1); 1000];
    scripts.push(items(1..=1));
    let (budget, server) = (Budget::standard(), Server::new(scripts));
    let items = all(feed(&budget, &server)).await;
    assert_eq!(items, vec![Ok(1); 1001]);
    assert_eq!(budget.to_string(), "500 of 500 tokens");
    // One that can't reconnect does.
    let (budget, server) = (Budget::standard().capacity(20), Server::new([vec![BUSY]]));
    assert_eq!(all(feed(&budget, &server)).await, [Err(TRANSIENT)]);
    let expected = (2, "6 of 20 tokens".into());
    assert_eq!((server.attempts(), budget.to_string()), expected);
}

#[tokio::test]
async fn the_policy_is_evaluated_once_when_the_deadline_restarts() {
    #[retry(stream = "resume", policy = counted(evaluations), attempt = attempt)]
    fn feed(evaluations: &Cell<u32>, server: &Server) -> impl Stream<Item = Item> {
        let _ = (evaluations, attempt);
        server.lazy()
    }

    fn counted(evaluations: &Cell<u32>) -> Policy {
        evaluations.set(evaluations.get() + 1);
        Policy::none().deadline(secs(30))
    }

    let server = Server::new([breaks_after(1..=1), breaks_after(2..=2), items(3..=3)]);
    let evaluations = Cell::new(0);
    assert_eq!(all(feed(&evaluations, &server)).await.len(), 3);
    // Evaluated at the start, because `attempt` shows `max`, and for each of two failures.
    assert_eq!(evaluations.get(), 3);
}

/// A download that breaks after any number of chunks of any length, and asks for the rest by bytes.
#[tokio::test]
async fn the_position_is_what_the_body_counted() {
    const FILE: &[u8] = b"what is asked for again must not come twice";

    /// Sends what follows in chunks of 5 bytes, and breaks after the second one.
    fn range_from(first: u64) -> impl Stream<Item = Result<&'static [u8], Failure>> {
        let rest = &FILE[usize::try_from(first).unwrap()..];
        let breaks = (rest.len() > 10).then_some(Err(TRANSIENT));
        let sent = if rest.len() > 10 { &rest[..10] } else { rest };
        stream::iter(sent.chunks(5).map(Ok).chain(breaks))
    }

    #[retry(stream = "resume", max = 1, backoff = "none", attempt = attempt)]
    fn download(asked: &Mutex<Vec<u64>>) -> impl Stream<Item = Result<&'static [u8], Failure>> {
        asked.lock().unwrap().push(attempt.position());
        range_from(attempt.position()).inspect_ok(|chunk| {
            attempt.advance(chunk.len() as u64);
        })
    }

    let asked = Mutex::default();
    let chunks: Vec<_> = download(&asked).try_collect().await.unwrap();
    assert_eq!(chunks.concat(), FILE);
    assert_eq!(asked.into_inner().unwrap(), [0, 10, 20, 30, 40]);
}

#[tokio::test]
async fn the_position_ends_at_the_largest_number() {
    #[retry(stream = "resume", max = 2, backoff = "none", attempt = attempt)]
    fn stream(seen: &Mutex<Vec<u64>>) -> impl Stream<Item = Item> {
        seen.lock().unwrap().push(attempt.position());
        attempt.advance(u64::MAX - 1);
        stream::iter([Err(TRANSIENT)])
    }
    let seen = Mutex::default();
    assert_eq!(all(stream(&seen)).await, [Err(TRANSIENT)]);
    assert_eq!(seen.into_inner().unwrap(), [0, u64::MAX - 1, u64::MAX]);
}

/// For a server that breaks after each item.
#[tokio::test]
async fn breaks_may_be_limited_in_all() {
    #[retry(stream = "resume", max = 4, backoff = "none", attempt = attempt)]
    fn feed(server: &Server) -> impl Stream<Item = Item> {
        attempt.progress_after(Duration::MAX);
        server.lazy()
    }

    let scripts: Vec<_> = (1..=40).map(|item| breaks_after(item..=item)).collect();
    let server = Server::new(scripts);
    let seen = all(feed(&server)).await;
    assert_eq!(seen, [Ok(1), Ok(2), Ok(3), Ok(4), Ok(5), Err(TRANSIENT)]);
}

/// An item, and a break after a time.
fn breaking_after(lasts: Duration) -> impl Stream<Item = Item> {
    let breaks = stream::once(async move {
        sleep(lasts).await;
        Err(TRANSIENT)
    });
    stream::iter([Ok(0)]).chain(breaks)
}

#[tokio::test(start_paused = true)]
async fn a_server_that_breaks_each_stream_early_is_not_called_forever() {
    #[retry(stream = "resume", max = 3, base = "100ms", jitter = "none", attempt = _attempt)]
    fn feed(attempts: &Cell<usize>, lasts: Duration) -> impl Stream<Item = Item> {
        attempts.set(attempts.get() + 1);
        breaking_after(lasts)
    }

    // The first 100 breaks count as progress; 3 retries follow the last one.
    for (lasts, expected) in [(0, 103), (1_000, 103), (1_001, 1_000)] {
        let attempts = Cell::new(0);
        let items = feed(&attempts, millis(lasts)).take(1_000).count().await;
        assert!(items == attempts.get() + 1 || items == 1_000);
        assert_eq!(attempts.get(), expected, "{lasts}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_stream_that_lasts_starts_the_count_of_early_breaks_over() {
    #[retry(stream = "resume", max = 1, backoff = "none", attempt = _attempt)]
    fn feed(attempts: &Cell<u32>) -> impl Stream<Item = Item> {
        attempts.set(attempts.get() + 1);
        let lasts = attempts.get().is_multiple_of(100);
        breaking_after(secs(if lasts { 2 } else { 0 }))
    }

    assert_eq!(feed(&Cell::new(0)).take(1_000).count().await, 1_000);
}

/// Attempts that yield nothing are failures, which `max` limits; they are not streams that broke early.
#[tokio::test(start_paused = true)]
async fn an_opening_that_fails_is_not_an_early_break() {
    #[retry(stream = "resume", max = 120, backoff = "none", attempt = _attempt)]
    fn feed(attempts: &Cell<u32>) -> impl Stream<Item = Item> {
        attempts.set(attempts.get() + 1);
        let item = (attempts.get() > 100).then_some(Ok(0));
        stream::iter(item.into_iter().chain([Err(TRANSIENT)]))
    }

    let attempts = Cell::new(0);
    let items = feed(&attempts).filter(|item| ready(item.is_ok()));
    // 100 breaks count as progress; 120 retries follow the last one.
    assert_eq!(items.count().await, 100 + 120);
}
