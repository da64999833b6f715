//! The start times of attempts, the winner, and the events.

use support::prelude::*;

use crate::hedge::{Seen, Server, Step, answer, fails, millis, seen};

asks!(fn call(), hedge = "200ms", max = 3, jitter = "none", name = "call");

const SECOND: &str = "hedging call attempt=2 max=3 delay=200ms";
const THIRD: &str = "hedging call attempt=3 max=3 delay=200ms";
const FOURTH: &str = "hedging call attempt=4 max=3 delay=200ms";
const THIRD_AT_ONCE: &str = "hedging call attempt=3 max=3 delay=0ns";
const FOURTH_AT_ONCE: &str = "hedging call attempt=4 max=3 delay=0ns";
const FIRST_FAILED: &str = "attempt failed call attempt=1 error=transient reason=transient";
const FIRST_THROTTLED: &str = "attempt failed call attempt=1 error=throttled reason=throttled";
const STOPPED: &str = "gave up call attempt=2 max=3 error=stop reason=not retryable";
const RETRYING: &str = "retrying call attempt=1 max=3 delay=1s error=transient reason=transient";
const SUCCEEDED: [&str; 5] = [
    "",
    "",
    "succeeded call attempt=2 max=3",
    "succeeded call attempt=3 max=3",
    "succeeded call attempt=4 max=3",
];

/// A name, the script, the outcome, the requests and the log.
type Row = (
    &'static str,
    Vec<Step>,
    Result<usize, Failure>,
    Seen,
    &'static [&'static str],
);

fn rows_without_pauses() -> [Row; 11] {
    rows! {
        "a quick one is alone", vec![answer(199)], Ok(1), seen(&[0], 0, 199), &[];
        "so is one that ends just then", vec![answer(200)], Ok(1), seen(&[0], 0, 200), &[];
        "the second wins", vec![answer(1_000), answer(50)], Ok(2), seen(&[0, 200], 1, 250),
            &[SECOND, SUCCEEDED[2]];
        "the first wins after all", vec![answer(450), answer(500), answer(500)],
            Ok(1), seen(&[0, 200, 400], 2, 450), &[SECOND, THIRD];
        "at most max more", vec![answer(9_000), answer(8_000), answer(7_000), answer(9_000)],
            Ok(3), seen(&[0, 200, 400, 600], 3, 7_400), &[SECOND, THIRD, FOURTH, SUCCEEDED[3]];
        "the other goes on, and the next begins at once",
            vec![fails(250, TRANSIENT), answer(100), answer(900)],
            Ok(2), seen(&[0, 200, 250], 1, 300),
            &[SECOND, FIRST_FAILED, THIRD_AT_ONCE, SUCCEEDED[2]];
        "and one more begins in its time",
            vec![fails(250, TRANSIENT), answer(900), answer(900), answer(10)],
            Ok(4), seen(&[0, 200, 250, 450], 2, 460),
            &[SECOND, FIRST_FAILED, THIRD_AT_ONCE, FOURTH, SUCCEEDED[4]];
        "what is not worth a retry ends the call", vec![fails(300, STOP), answer(500)],
            Err(STOP), seen(&[0, 200], 1, 300), &[SECOND, STOPPED];
        "also where it comes from the second", vec![answer(500), fails(10, STOP)],
            Err(STOP), seen(&[0, 200], 1, 210), &[SECOND, STOPPED];
        "a failure at the same time hides no answer", vec![fails(300, TRANSIENT), answer(100)],
            Ok(2), seen(&[0, 200], 0, 300), &[SECOND, FIRST_FAILED, SUCCEEDED[2]];
        "no hedge starts once an attempt was throttled",
            vec![fails(250, THROTTLED), answer(900)], Ok(2), seen(&[0, 200], 0, 1_100),
            &[SECOND, FIRST_THROTTLED, SUCCEEDED[2]];
    }
}

fn rows_with_pauses() -> [Row; 7] {
    let hinted = Failure(Verdict::TRANSIENT.after(millis(100)));
    rows! {
        "one that fails before is retried after a pause", vec![fails(199, TRANSIENT), answer(0)],
            Ok(2), seen(&[0, 1_199], 0, 1_199), &[RETRYING, SUCCEEDED[2]];
        "a pause follows once all have failed",
            vec![fails(300, TRANSIENT), fails(100, TIMEOUT), answer(0)],
            Ok(3), seen(&[0, 200, 2_300], 0, 2_300),
            &[SECOND, FIRST_FAILED,
                "retrying call attempt=2 max=3 delay=2s error=timeout reason=timeout", SUCCEEDED[3]];
        "attempts after a pause are hedged, too", vec![fails(0, TRANSIENT), answer(900), answer(5)],
            Ok(3), seen(&[0, 1_000, 1_200], 1, 1_205), &[RETRYING, THIRD, SUCCEEDED[3]];
        "retries run out", vec![fails(500, TRANSIENT), fails(500, TRANSIENT), fails(400, TIMEOUT),
                fails(100, TRANSIENT)],
            Err(TIMEOUT), seen(&[0, 200, 400, 500], 0, 800),
            &[SECOND, THIRD, FIRST_FAILED, FOURTH_AT_ONCE,
                "attempt failed call attempt=4 error=transient reason=transient",
                "attempt failed call attempt=2 error=transient reason=transient",
                "gave up call attempt=4 max=3 error=timeout reason=exhausted"];
        "none begins after a pause once one was throttled", vec![fails(0, THROTTLED), answer(900)],
            Ok(2), seen(&[0, 1_000], 0, 1_900),
            &["retrying call attempt=1 max=3 delay=1s error=throttled reason=throttled", SUCCEEDED[2]];
        "nor once the server asked to wait", vec![fails(0, hinted), answer(900)],
            Ok(2), seen(&[0, 1_000], 0, 1_900), &[RETRYING, SUCCEEDED[2]];
        "the next pause is as long as any of them asked for",
            vec![fails(250, throttled_for(millis(9_000))), fails(100, TRANSIENT), fails(900, TRANSIENT),
                answer(0)],
            Ok(4), seen(&[0, 200, 9_300, 14_200], 0, 14_200),
            &[SECOND, FIRST_THROTTLED,
                "retrying call attempt=2 max=3 delay=9s error=transient reason=transient",
                "retrying call attempt=3 max=3 delay=4s error=transient reason=transient", SUCCEEDED[4]];
    }
}

#[tokio::test(start_paused = true)]
async fn hedges_start_on_time_and_the_first_success_wins() {
    let rows = rows_without_pauses().into_iter().chain(rows_with_pauses());
    for (name, script, outcome, seen, lines) in rows {
        let recording = testing::record();
        let server = Server::new(script);
        assert_eq!(call(&server).await, outcome, "{name}");
        assert_eq!(server.seen(), seen, "{name}");
        assert_eq!(recording.lines(), lines, "{name}");
    }
}

#[tokio::test(start_paused = true)]
async fn the_delay_may_be_an_expression() {
    asks!(fn duration(after: &Duration), hedge = *after, jitter = "none");
    asks!(fn option(after: Option<Duration>), hedge = after, jitter = "none");

    for (after, number, expected) in [
        (Some(millis(30)), 2, seen(&[0, 30], 1, 40)),
        (None, 1, seen(&[0], 0, 900)),
    ] {
        let server = Server::new([answer(900), answer(10)]);
        assert_eq!(option(&server, after).await, Ok(number));
        assert_eq!(server.seen(), expected);
    }
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
