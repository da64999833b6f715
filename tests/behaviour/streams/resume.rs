//! `stream = "resume"`: the body requests the rest, and no item is yielded twice.

use futures::stream::{self, LocalBoxStream, Stream, StreamExt, TryStreamExt};
use support::clock::Simulated;
use support::prelude::*;
use support::turns::Turns;

use super::{BUSY, Failure, Item, Server, all, breaks_after, items, secs};

/// An attempt's number, the number of items before it, the last of them, and whether it is the last attempt.
type Seen = (u32, usize, Option<u32>, bool);

#[tokio::test]
async fn each_attempt_has_the_number_of_yielded_items_which_restart_the_count() {
    #[retry(stream = "resume", max = 2, backoff = "none", attempt = attempt)]
    async fn feed(
        server: &Server,
        asked: &Mutex<Vec<Seen>>,
        prompt: String,
    ) -> Result<impl Stream<Item = Item> + Send, Failure> {
        assert_eq!(prompt, "hello");
        let last = attempt.last_item().copied();
        let (number, yielded) = (attempt.number(), attempt.yielded());
        let seen = (number, yielded, last, attempt.is_last());
        asked.lock().unwrap().push(seen);
        server.connect().await
    }

    let (first, second) = (breaks_after(1..=3), breaks_after(4..=4));
    let server = Server::new([first, vec![BUSY], second, items(5..=6)]);
    let asked = Mutex::default();
    let stream = feed(&server, &asked, String::from("hello")).await.unwrap();
    assert_eq!(server.pulled(), 1);
    assert_eq!(all(stream).await, (1..=6).map(Ok).collect::<Vec<Item>>());
    let expected = rows! {
        1, 0, None, false;
        2, 3, Some(3), false;
        3, 3, Some(3), true;
        4, 4, Some(4), false;
    };
    assert_eq!(asked.into_inner().unwrap(), expected);
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

    #[retry(stream = "resume", attempt = attempt, timer = DefaultTimer, policy = {
        evaluated.set(evaluated.get() + 1);
        Policy::none().max(u32::MAX).deadline(secs(10))
    })]
    fn of_policy(evaluated: &Cell<u32>) -> impl Stream<Item = Item> {
        source(attempt.number())
    }

    #[retry(stream = "resume", max = "unlimited", backoff = "none", attempt = attempt, deadline = {
        evaluated.set(evaluated.get() + 1);
        secs(10)
    })]
    fn counted(evaluated: &Cell<u32>) -> impl Stream<Item = Item> {
        source(attempt.number())
    }

    let expected = [Ok(1), Ok(2), Ok(3), Err(TRANSIENT)];
    let (evaluated, start) = (Cell::new(0), Instant::now());
    assert_eq!(all(counted(&evaluated)).await, expected);
    // The last break is at 18 s, and failures follow at 21, 24, 27 and 30 s.
    assert_eq!(start.elapsed(), secs(30));
    // Evaluated at the start, and at the three breaks after an item.
    assert_eq!(evaluated.take(), 1 + 3);
    assert_eq!(all(of_policy(&evaluated)).await, expected);
    assert_eq!(start.elapsed(), secs(60));
    // Evaluated at the start, because `attempt` shows `max`, and for each of seven failures.
    assert_eq!(evaluated.get(), 1 + 7);
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

    #[retry(stream = "resume", max = 2, backoff = "none", attempt = attempt)]
    fn endless(seen: &Mutex<Vec<u64>>) -> impl Stream<Item = Item> {
        seen.lock().unwrap().push(attempt.position());
        attempt.advance(u64::MAX - 1);
        stream::iter([Err(TRANSIENT)])
    }

    let asked = Mutex::default();
    let chunks: Vec<_> = download(&asked).try_collect().await.unwrap();
    assert_eq!(chunks.concat(), FILE);
    assert_eq!(asked.into_inner().unwrap(), [0, 10, 20, 30, 40]);
    // It ends at the largest number.
    let seen = Mutex::default();
    assert_eq!(all(endless(&seen)).await, [Err(TRANSIENT)]);
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

/// Attempts that yield nothing are failures, which `max` limits; they are not streams that broke early.
#[tokio::test(start_paused = true)]
async fn only_early_breaks_in_a_row_are_counted() {
    /// The seconds that an attempt's stream lasts, if it yields an item.
    type Lasts = fn(u32) -> Option<u64>;

    #[retry(stream = "resume", max = max, backoff = "none", attempt = attempt)]
    fn feed(max: u32, attempts: &Cell<u32>, lasts: Lasts) -> LocalBoxStream<'_, Item> {
        if max == 2 {
            attempt.progress();
        }
        attempts.set(attempts.get() + 1);
        match lasts(attempts.get()) {
            Some(lasts) => breaking_after(secs(lasts)).boxed_local(),
            None => stream::iter([Err(TRANSIENT)]).boxed_local(),
        }
    }

    let rows: [(u32, Lasts, usize); 3] = rows! {
        // The body reports progress.
        2, |_| Some(0), 1_000;
        // Each hundredth stream lasts.
        1, |attempt| Some(if attempt.is_multiple_of(100) { 2 } else { 0 }), 1_000;
        // 100 attempts yield nothing, 100 breaks count as progress, and 120 retries follow the last one.
        120, |attempt| (attempt > 100).then_some(0), 100 + 120;
    };
    for (max, lasts, expected) in rows {
        let attempts = Cell::new(0);
        let items = feed(max, &attempts, lasts).filter(|item| ready(item.is_ok()));
        assert_eq!(items.take(1_000).count().await, expected);
    }
}
