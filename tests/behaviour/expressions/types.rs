//! Types that can't be written out.

use support::prelude::*;

type Boxed = Box<dyn Error + Send + Sync>;

/// Has no `Error` and no `Display`.
#[derive(Debug, PartialEq)]
struct Bare(u32);

impl From<fmt::Error> for Bare {
    fn from(_: fmt::Error) -> Self {
        Self(0)
    }
}

impl From<TimedOut> for Bare {
    fn from(_: TimedOut) -> Self {
        Self(1)
    }
}

impl From<Rejected> for Bare {
    fn from(_: Rejected) -> Self {
        Self(2)
    }
}

fn bare(_: &Bare) -> bool {
    true
}

fn anyhow(_: &anyhow::Error) -> bool {
    true
}

fn boxed(_: &Boxed) -> bool {
    true
}

/// Fails twice.
fn flaky(attempts: &mut u32) -> io::Result<u32> {
    *attempts += 1;
    match *attempts {
        1 | 2 => Err(io::ErrorKind::ConnectionRefused.into()),
        attempt => Ok(attempt),
    }
}

fn format(attempts: &mut u32) -> Result<u32, fmt::Error> {
    flaky(attempts).map_err(|_| fmt::Error)
}

#[tokio::test(start_paused = true)]
async fn the_type_may_come_from_the_end_of_the_block() {
    let mut attempts = 0;
    assert_eq!(retrying!(async { flaky(&mut attempts) }).await.unwrap(), 3);
}

#[tokio::test(start_paused = true)]
async fn the_error_type_may_come_from_the_on_function() {
    for key in 0..2 {
        let mut attempts = 0;
        let outcome = if key == 0 {
            retrying!(on = bare, async { Ok(format(&mut attempts)?) }).await
        } else {
            retrying!(on = |_: &Bare| true, async { Ok(format(&mut attempts)?) }).await
        };
        assert_eq!(outcome, Ok(3));
    }
    let mut attempts = 0;
    let outcome = retrying!(on = anyhow, async { Ok(flaky(&mut attempts)?) }).await;
    assert_eq!(outcome.unwrap(), 3);
}

#[test]
fn the_error_type_may_come_from_the_on_function_in_blocking_code() {
    let _skipped = testing::skip_sleeps();
    for key in 0..2 {
        let mut attempts = 0;
        let outcome = if key == 0 {
            retrying!(on = bare, { Ok(format(&mut attempts)?) })
        } else {
            retrying!(on = |_: &Bare| true, { Ok(format(&mut attempts)?) })
        };
        assert_eq!(outcome, Ok(3));
    }
}

#[tokio::test(start_paused = true)]
async fn the_type_may_come_from_the_binding() {
    let _skipped = testing::skip_sleeps();
    let mut attempts = 0;
    let outcome: io::Result<u32> = retrying!(async { Ok(flaky(&mut attempts)?) }).await;
    assert_eq!(outcome.unwrap(), 3);
    attempts = 0;
    let outcome: anyhow::Result<u32> = retrying!(on = |_| true, { Ok(flaky(&mut attempts)?) });
    assert_eq!(outcome.unwrap(), 3);
    attempts = 0;
    let outcome: Result<u32, Bare> = retrying!(on = |_| true, { Ok(format(&mut attempts)?) });
    assert_eq!(outcome, Ok(3));
}

#[tokio::test(start_paused = true)]
async fn a_type_may_be_written_in_part() {
    let _skipped = testing::skip_sleeps();
    let mut attempts = 0;
    let outcome = retrying!(on = |_| true, async -> Result<_, Bare> { Ok(format(&mut attempts)?) });
    assert_eq!(outcome.await, Ok(3));
    attempts = 0;
    let outcome =
        retrying!(on = |_| true, async -> anyhow::Result<_> { Ok(flaky(&mut attempts)?) });
    assert_eq!(outcome.await.unwrap(), 3);
    attempts = 0;
    let outcome = retrying!(-> io::Result<u32> { Ok(flaky(&mut attempts)?) });
    assert_eq!(outcome.unwrap(), 3);
}

#[tokio::test(start_paused = true)]
async fn coercions_work() {
    let _skipped = testing::skip_sleeps();
    let outcome = retrying!(on = boxed, max = 1, async {
        if true {
            return Err(Box::new(fmt::Error));
        }
        Ok(())
    });
    let expected = fmt::Error.to_string();
    assert_eq!(outcome.await.unwrap_err().to_string(), expected);
    let outcome = retrying!(on = boxed, max = 1, {
        if true {
            return Err(Box::new(fmt::Error));
        }
        Ok(())
    });
    assert_eq!(outcome.unwrap_err().to_string(), fmt::Error.to_string());
}

/// Every key that needs the error's type in generated code, if the type is known only from the path of an `on`
/// function.
#[tokio::test(start_paused = true)]
async fn keys_use_the_error_type_of_on() {
    static BREAKER: Breaker = Breaker::new();
    let mut attempts = 0;
    let outcome = retrying!(on = bare, breaker = &BREAKER, timeout = "1s", async {
        Ok(format(&mut attempts)?)
    });
    assert_eq!(outcome.await, Ok(3));
    attempts = 0;
    let outcome = retrying!(on = bare, attempt = attempt, async {
        let expected = (attempt.number() > 1).then_some(0);
        assert_eq!(attempt.last_error().map(|error| error.0), expected);
        Ok(format(&mut attempts)?)
    });
    assert_eq!(outcome.await, Ok(3));
    attempts = 0;
    let outcome = retrying!(
        on = bare,
        validate = |value| if *value > 3 { Ok(()) } else { Err(Bare(3)) },
        async { Ok(format(&mut attempts)?) }
    );
    assert_eq!(outcome.await, Ok(4));
    attempts = 0;
    let outcome = retrying!(
        on = bare,
        max = 1,
        fallback = async |_| Ok(9),
        repeats = 2,
        async { Ok(format(&mut attempts)?) }
    );
    assert_eq!(outcome.await, Ok(9));
    attempts = 0;
    let outcome = retrying!(
        on = bare,
        max = 1,
        give_up = |gave_up: GaveUp<_>| Bare(gave_up.attempts()),
        async { Ok(format(&mut attempts)?) }
    );
    assert_eq!(outcome.await, Err(Bare(2)));
}

/// The same if the type is known from the end of the block.
#[tokio::test(start_paused = true)]
async fn keys_use_the_error_type_of_the_block() {
    static BREAKER: Breaker = Breaker::new();
    let mut attempts = 0;
    let outcome = retrying!(
        on = |_| true,
        max = 1,
        breaker = &BREAKER,
        fallback = async |_| Ok(9),
        validate = |value| if *value > 3 { Ok(()) } else { Err(Bare(3)) },
        async { format(&mut attempts).map_err(Bare::from) },
    );
    assert_eq!(outcome.await, Ok(9));
}

#[tokio::test(start_paused = true)]
async fn an_error_is_shown_as_under_the_attribute() {
    let recording = testing::record();
    let _: Result<(), _> = retrying!(name = "call", on = anyhow, max = 0, async {
        let failed = anyhow::Error::new(io::Error::other("refused"));
        Err(failed.context("no answer"))
    })
    .await;
    let _: Result<(), _> =
        retrying!(name = "call", on = bare, max = 0, async { Err(Bare(5)) }).await;
    assert_eq!(
        recording.lines(),
        [
            "gave up call attempt=1 max=0 error=no answer: refused reason=exhausted",
            "gave up call attempt=1 max=0 error=calls::expressions::types::Bare reason=exhausted",
        ]
    );
}
