//! The start times of attempts, the winner, and the events.

use retry_runtime::{Verdict, retry, testing};
use support::failure::{Failure, STOP, THROTTLED, TIMEOUT, TRANSIENT, throttled_for};

use crate::hedge::{Seen, Server, Step, answer, fails, millis, seen};

#[retry(hedge = "200ms", max = 3, jitter = "none", name = "call")]
async fn call(server: &Server) -> Result<usize, Failure> {
    server.ask().await
}

struct Case {
    what: &'static str,
    script: Vec<Step>,
    outcome: Result<usize, Failure>,
    seen: Seen,
    lines: &'static [&'static str],
}

const FIRST: &str = "hedging call attempt=2 max=3 delay=200ms";
const SECOND: &str = "hedging call attempt=3 max=3 delay=200ms";
const THIRD: &str = "hedging call attempt=4 max=3 delay=200ms";
const AT_ONCE: &str = "hedging call attempt=3 max=3 delay=0ns";

fn without_failures() -> [Case; 5] {
    [
        Case {
            what: "a quick one is alone",
            script: vec![answer(199)],
            outcome: Ok(1),
            seen: seen(&[0], 0, 199),
            lines: &[],
        },
        Case {
            what: "so is one that ends just then",
            script: vec![answer(200)],
            outcome: Ok(1),
            seen: seen(&[0], 0, 200),
            lines: &[],
        },
        Case {
            what: "the second wins",
            script: vec![answer(1_000), answer(50)],
            outcome: Ok(2),
            seen: seen(&[0, 200], 1, 250),
            lines: &[FIRST, "succeeded call attempt=2 max=3"],
        },
        Case {
            what: "the first wins after all",
            script: vec![answer(450), answer(500), answer(500)],
            outcome: Ok(1),
            seen: seen(&[0, 200, 400], 2, 450),
            lines: &[FIRST, SECOND],
        },
        Case {
            what: "at most max more",
            script: vec![answer(9_000), answer(8_000), answer(7_000), answer(9_000)],
            outcome: Ok(3),
            seen: seen(&[0, 200, 400, 600], 3, 7_400),
            lines: &[FIRST, SECOND, THIRD, "succeeded call attempt=3 max=3"],
        },
    ]
}

fn with_failures() -> [Case; 5] {
    [
        Case {
            what: "one that fails before is retried after a pause",
            script: vec![fails(199, TRANSIENT), answer(0)],
            outcome: Ok(2),
            seen: seen(&[0, 1_199], 0, 1_199),
            lines: &[
                "retrying call attempt=1 max=3 delay=1s error=transient reason=transient",
                "succeeded call attempt=2 max=3",
            ],
        },
        Case {
            what: "the other goes on, and the next begins at once",
            script: vec![fails(250, TRANSIENT), answer(100), answer(900)],
            outcome: Ok(2),
            seen: seen(&[0, 200, 250], 1, 300),
            lines: &[
                FIRST,
                "attempt failed call attempt=1 error=transient reason=transient",
                AT_ONCE,
                "succeeded call attempt=2 max=3",
            ],
        },
        Case {
            what: "and one more begins in its time",
            script: vec![fails(250, TRANSIENT), answer(900), answer(900), answer(10)],
            outcome: Ok(4),
            seen: seen(&[0, 200, 250, 450], 2, 460),
            lines: &[
                FIRST,
                "attempt failed call attempt=1 error=transient reason=transient",
                AT_ONCE,
                THIRD,
                "succeeded call attempt=4 max=3",
            ],
        },
        Case {
            what: "what is not worth a retry ends the call",
            script: vec![fails(300, STOP), answer(500)],
            outcome: Err(STOP),
            seen: seen(&[0, 200], 1, 300),
            lines: &[
                FIRST,
                "gave up call attempt=2 max=3 error=stop reason=not retryable",
            ],
        },
        Case {
            what: "also where it comes from the second",
            script: vec![answer(500), fails(10, STOP)],
            outcome: Err(STOP),
            seen: seen(&[0, 200], 1, 210),
            lines: &[
                FIRST,
                "gave up call attempt=2 max=3 error=stop reason=not retryable",
            ],
        },
    ]
}

fn where_all_fail() -> [Case; 4] {
    [
        Case {
            what: "a pause follows once all have failed",
            script: vec![fails(300, TRANSIENT), fails(100, TIMEOUT), answer(0)],
            outcome: Ok(3),
            seen: seen(&[0, 200, 2_300], 0, 2_300),
            lines: &[
                FIRST,
                "attempt failed call attempt=1 error=transient reason=transient",
                "retrying call attempt=2 max=3 delay=2s error=timeout reason=timeout",
                "succeeded call attempt=3 max=3",
            ],
        },
        Case {
            what: "attempts after a pause are hedged, too",
            script: vec![fails(0, TRANSIENT), answer(900), answer(5)],
            outcome: Ok(3),
            seen: seen(&[0, 1_000, 1_200], 1, 1_205),
            lines: &[
                "retrying call attempt=1 max=3 delay=1s error=transient reason=transient",
                SECOND,
                "succeeded call attempt=3 max=3",
            ],
        },
        Case {
            what: "retries run out",
            script: vec![
                fails(500, TRANSIENT),
                fails(500, TRANSIENT),
                fails(400, TIMEOUT),
                fails(100, TRANSIENT),
            ],
            outcome: Err(TIMEOUT),
            seen: seen(&[0, 200, 400, 500], 0, 800),
            lines: &[
                FIRST,
                SECOND,
                "attempt failed call attempt=1 error=transient reason=transient",
                "hedging call attempt=4 max=3 delay=0ns",
                "attempt failed call attempt=4 error=transient reason=transient",
                "attempt failed call attempt=2 error=transient reason=transient",
                "gave up call attempt=4 max=3 error=timeout reason=exhausted",
            ],
        },
        Case {
            what: "a failure at the same time hides no answer",
            script: vec![fails(300, TRANSIENT), answer(100)],
            outcome: Ok(2),
            seen: seen(&[0, 200], 0, 300),
            lines: &[
                FIRST,
                "attempt failed call attempt=1 error=transient reason=transient",
                "succeeded call attempt=2 max=3",
            ],
        },
    ]
}

fn pushed_back() -> [Case; 4] {
    [
        Case {
            what: "none begins beside any more once one was throttled",
            script: vec![fails(250, THROTTLED), answer(900)],
            outcome: Ok(2),
            seen: seen(&[0, 200], 0, 1_100),
            lines: &[
                FIRST,
                "attempt failed call attempt=1 error=throttled reason=throttled",
                "succeeded call attempt=2 max=3",
            ],
        },
        Case {
            what: "not after a pause, either",
            script: vec![fails(0, THROTTLED), answer(900)],
            outcome: Ok(2),
            seen: seen(&[0, 1_000], 0, 1_900),
            lines: &[
                "retrying call attempt=1 max=3 delay=1s error=throttled reason=throttled",
                "succeeded call attempt=2 max=3",
            ],
        },
        Case {
            what: "nor once the server asked to wait",
            script: vec![
                fails(0, Failure(Verdict::TRANSIENT.after(millis(100)))),
                answer(900),
            ],
            outcome: Ok(2),
            seen: seen(&[0, 1_000], 0, 1_900),
            lines: &[
                "retrying call attempt=1 max=3 delay=1s error=transient reason=transient",
                "succeeded call attempt=2 max=3",
            ],
        },
        Case {
            what: "the pause is as long as any of them asked for",
            script: vec![
                fails(250, throttled_for(millis(9_000))),
                fails(100, TRANSIENT),
                answer(900),
            ],
            outcome: Ok(3),
            seen: seen(&[0, 200, 9_300], 0, 10_200),
            lines: &[
                FIRST,
                "attempt failed call attempt=1 error=throttled reason=throttled",
                "retrying call attempt=2 max=3 delay=9s error=transient reason=transient",
                "succeeded call attempt=3 max=3",
            ],
        },
    ]
}

#[tokio::test(start_paused = true)]
async fn hedges_start_on_time_and_the_first_success_wins() {
    let cases = without_failures().into_iter();
    for case in cases
        .chain(with_failures())
        .chain(where_all_fail())
        .chain(pushed_back())
    {
        let recording = testing::record();
        let server = Server::new(case.script);
        assert_eq!(call(&server).await, case.outcome, "{}", case.what);
        assert_eq!(server.seen(), case.seen, "{}", case.what);
        assert_eq!(recording.lines(), case.lines, "{}", case.what);
    }
}

#[tokio::test(start_paused = true)]
async fn the_delay_may_be_an_expression() {
    #[retry(hedge = *after, jitter = "none")]
    async fn duration(server: &Server, after: &std::time::Duration) -> Result<usize, Failure> {
        server.ask().await
    }
    #[retry(hedge = after, jitter = "none")]
    async fn option(server: &Server, after: Option<std::time::Duration>) -> Result<usize, Failure> {
        server.ask().await
    }

    let script = [answer(900), answer(10)];
    let server = Server::new(script.clone());
    assert_eq!(duration(&server, &millis(30)).await, Ok(2));
    assert_eq!(server.seen(), seen(&[0, 30], 1, 40));
    let server = Server::new(script.clone());
    assert_eq!(option(&server, Some(millis(30))).await, Ok(2));
    assert_eq!(server.seen(), seen(&[0, 30], 1, 40));
    let server = Server::new(script);
    assert_eq!(option(&server, None).await, Ok(1));
    assert_eq!(server.seen(), seen(&[0], 0, 900));
    // All at once.
    let server = Server::new([answer(900), answer(800), answer(700), answer(900)]);
    assert_eq!(duration(&server, &millis(0)).await, Ok(3));
    assert_eq!(server.seen(), seen(&[0, 0, 0, 0], 3, 700));
}

#[tokio::test(start_paused = true)]
async fn skipping_pauses_skips_no_hedge() {
    let skipped = testing::skip_sleeps();
    let server = Server::new([fails(10, TRANSIENT), answer(900), answer(20)]);
    assert_eq!(call(&server).await, Ok(3));
    assert_eq!(server.seen(), seen(&[0, 10, 210], 1, 230));
    drop(skipped);
}
