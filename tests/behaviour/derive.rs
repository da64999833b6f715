//! `#[derive(Classify)]`: the verdict of each mark.

use std::fmt::Debug;

use support::prelude::*;

#[derive(Debug, Classify)]
#[expect(dead_code, reason = "read by Debug")]
enum ModelError {
    #[classify(throttled, after = retry_after)]
    RateLimited {
        retry_after: Duration,
        message: String,
    },
    #[classify(throttled, after = 1)]
    Slow(&'static str, Option<Duration>),
    #[classify(transient)]
    Overloaded,
    #[classify(transient, ambiguous)]
    Reset(String),
    #[classify(timeout)]
    NoAnswer { after: Duration },
    #[classify(transparent)]
    Io(io::Error),
    #[classify(transparent)]
    Named { source: io::ErrorKind },
    #[classify(stop)]
    Unauthorized,
}

#[test]
fn every_mark_gives_its_verdict() {
    let second = secs(1);
    let (retry_after, message) = (second, String::new());
    let cases = rows! {
        ModelError::RateLimited { retry_after, message }, Verdict::THROTTLED.after(second);
        ModelError::Slow("", Some(second)), Verdict::THROTTLED.after(second);
        ModelError::Slow("", None), Verdict::THROTTLED;
        ModelError::Overloaded, Verdict::TRANSIENT;
        ModelError::Reset(String::new()), Verdict::TRANSIENT.ambiguous();
        ModelError::NoAnswer { after: second }, Verdict::TIMEOUT;
        ModelError::Io(io::ErrorKind::ConnectionRefused.into()), Verdict::TRANSIENT;
        ModelError::Io(io::ErrorKind::NotFound.into()), Verdict::STOP;
        ModelError::Named { source: io::ErrorKind::ConnectionReset }, Verdict::TRANSIENT.ambiguous();
        ModelError::Unauthorized, Verdict::STOP;
    };
    for (error, verdict) in cases {
        assert_eq!(error.classify(), verdict, "{error:?}");
    }
}

#[derive(Classify)]
#[classify(transient, ambiguous)]
enum WithDefault {
    Unmarked,
    #[classify(stop)]
    Marked,
    #[classify(after = 0)]
    Hinted(Duration),
    #[classify(transient)]
    Unambiguous,
}

#[test]
fn unmarked_variants_take_the_default() {
    let second = secs(1);
    assert_rows! {
        WithDefault::Unmarked.classify() => Verdict::TRANSIENT.ambiguous();
        WithDefault::Marked.classify() => Verdict::STOP;
        WithDefault::Hinted(second).classify() => Verdict::TRANSIENT.ambiguous().after(second);
        WithDefault::Unambiguous.classify() => Verdict::TRANSIENT;
    }
}

#[derive(Classify)]
#[classify(throttled, after = after)]
struct Throttled {
    after: Option<Duration>,
}

#[derive(Classify)]
#[classify(transparent)]
struct Wrapper<E>(E);

#[derive(Classify)]
#[classify(stop)]
struct Unit;

#[derive(Classify)]
enum Never {}

#[derive(Classify)]
enum Generic<'a, E: Debug, const N: usize>
where
    E: Clone,
{
    #[classify(transparent)]
    Inner(Box<Wrapper<E>>),
    #[classify(stop)]
    #[expect(dead_code, reason = "only its verdict counts")]
    Other(&'a [E; N]),
}

#[test]
fn structs_and_generics_are_classified() {
    let second = secs(1);
    let after = Some(second);
    let inner: Generic<'_, _, 1> = Generic::Inner(Box::new(Wrapper(io::ErrorKind::BrokenPipe)));
    assert_rows! {
        Throttled { after }.classify() => Verdict::THROTTLED.after(second);
        Wrapper(io::ErrorKind::TimedOut).classify() => Verdict::TIMEOUT;
        Unit.classify() => Verdict::STOP;
        inner.classify() => Verdict::TRANSIENT.ambiguous();
        Generic::Other(&[io::ErrorKind::Other]).classify() => Verdict::STOP;
    }
    let _: fn(&Never) -> Verdict = Never::classify;
}

/// An error that contains itself, like error contexts.
#[derive(Debug, Classify)]
enum Context<E> {
    #[classify(transparent)]
    Cause(E),
    #[classify(transparent)]
    Within(Box<Context<E>>),
}

#[test]
fn a_generic_error_may_hold_itself() {
    let cause = Context::Cause(io::Error::from(io::ErrorKind::TimedOut));
    let within = Context::Within(Box::new(cause));
    assert_eq!(within.classify().kind(), Some(Kind::Timeout));
}

macro_rules! error {
    ($name:ident, $field:ident: $after:ty, $inner:ty) => {
        #[derive(Debug, Classify)]
        enum $name {
            #[classify(throttled, after = $field)]
            Busy { $field: $after },
            #[classify(transparent)]
            Io($inner),
        }
    };
}

error!(Given, wait: Duration, io::Error);

#[test]
fn a_macro_may_be_given_the_fields() {
    let wait = secs(7);
    let expected = Verdict::THROTTLED.after(wait);
    assert_eq!(Given::Busy { wait }.classify(), expected);
    let inner = Given::Io(io::ErrorKind::TimedOut.into());
    assert_eq!(inner.classify().kind(), Some(Kind::Timeout));
}
