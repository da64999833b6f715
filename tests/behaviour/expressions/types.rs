//! Types that can't be written out.

use support::prelude::*;

type Boxed = Box<dyn Error + Send + Sync>;

/// Has no `Error` and no `Display`.
#[derive(Debug, PartialEq)]
struct Bare(u32);

impl From<Failure> for Bare {
    fn from(_: Failure) -> Self {
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

#[tokio::test(start_paused = true)]
async fn the_type_may_come_from_the_end_of_the_block_or_from_on() {
    let _skipped = testing::skip_sleeps();
    assert_rows! {
        run!([TRANSIENT; 2], |script| retrying!(async { script.next() }).await) => (Ok(3), 3);
        run!([TRANSIENT; 2], |script| retrying!(on = bare, async { Ok(script.next()?) }).await) => (Ok(3), 3);
        run!([TRANSIENT; 2], |script| retrying!(on = |_: &Bare| true, async { Ok(script.next()?) }).await) => (Ok(3), 3);
        run!([TRANSIENT; 2], |script| retrying!(on = anyhow, async { Ok(script.next()?) }).await.ok()) => (Some(3), 3);
        run!([TRANSIENT; 2], |script| retrying!(on = bare, { Ok(script.next()?) })) => (Ok(3), 3);
        run!([TRANSIENT; 2], |script| retrying!(on = |_: &Bare| true, { Ok(script.next()?) })) => (Ok(3), 3);
    }
}

#[tokio::test(start_paused = true)]
async fn the_type_may_come_from_the_binding() {
    let _skipped = testing::skip_sleeps();
    let mut scripts = [(); 3].map(|()| Script::new([TRANSIENT; 2]));
    let outcome: Result<usize, Failure> = retrying!(async { Ok(scripts[0].next()?) }).await;
    assert_eq!(outcome, Ok(3));
    let outcome: anyhow::Result<usize> = retrying!(on = |_| true, { Ok(scripts[1].next()?) });
    assert_eq!(outcome.unwrap(), 3);
    let outcome: Result<usize, Bare> = retrying!(on = |_| true, { Ok(scripts[2].next()?) });
    assert_eq!(outcome, Ok(3));
}

#[tokio::test(start_paused = true)]
async fn a_type_may_be_written_in_part() {
    let _skipped = testing::skip_sleeps();
    assert_rows! {
        run!([TRANSIENT; 2], |script| retrying!(on = |_| true, async -> Result<_, Bare> { Ok(script.next()?) }).await)
            => (Ok(3), 3);
        run!([TRANSIENT; 2], |script| retrying!(on = |_| true, async -> anyhow::Result<_> { Ok(script.next()?) }).await.ok())
            => (Some(3), 3);
        run!([TRANSIENT; 2], |script| retrying!(-> Result<usize, Failure> { Ok(script.next()?) })) => (Ok(3), 3);
    }
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
    assert_rows! {
        run!([TRANSIENT; 2], |script| retrying!(on = bare, breaker = &BREAKER, timeout = "1s",
            async { Ok(script.next()?) }).await) => (Ok(3), 3);
        run!([TRANSIENT; 2], |script| retrying!(on = bare, attempt = attempt, async {
            let expected = (attempt.number() > 1).then_some(0);
            assert_eq!(attempt.last_error().map(|error| error.0), expected);
            Ok(script.next()?)
        }).await) => (Ok(3), 3);
        run!([TRANSIENT; 2], |script| retrying!(on = bare,
            validate = |value| if *value > 3 { Ok(()) } else { Err(Bare(3)) }, async { Ok(script.next()?) }).await)
            => (Ok(4), 4);
        run!([TRANSIENT; 2], |script| retrying!(on = bare, max = 1, fallback = async |_| Ok(9), repeats = 2,
            async { Ok(script.next()?) }).await) => (Ok(9), 2);
        run!([TRANSIENT; 2], |script| retrying!(on = bare, max = 1, give_up = |gave_up: GaveUp<_>| Bare(gave_up.attempts()),
            async { Ok(script.next()?) }).await) => (Err(Bare(2)), 2);
        // The same if the type is known from the end of the block.
        run!([TRANSIENT; 2], |script| retrying!(on = |_| true, max = 1, breaker = &BREAKER, fallback = async |_| Ok(9),
            validate = |value| if *value > 3 { Ok(()) } else { Err(Bare(3)) },
            async { script.next().map_err(Bare::from) }).await) => (Ok(9), 2);
    }
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
    let lines = [
        "gave up call attempt=1 max=0 error=no answer: refused reason=exhausted",
        "gave up call attempt=1 max=0 error=calls::expressions::types::Bare reason=exhausted",
    ];
    assert_eq!(recording.lines(), lines);
}
