//! `#[derive(Classify)]`: the verdict of each mark.

use std::fmt::Debug;

use support::prelude::*;

#[derive(Classify)]
#[expect(dead_code, reason = "only the verdict counts")]
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
    let source = io::ErrorKind::ConnectionReset;
    assert_rows! {
        ModelError::RateLimited { retry_after, message }.classify() => Verdict::THROTTLED.after(second);
        ModelError::Slow("", Some(second)).classify() => Verdict::THROTTLED.after(second);
        ModelError::Slow("", None).classify() => Verdict::THROTTLED;
        ModelError::Overloaded.classify() => Verdict::TRANSIENT;
        ModelError::Reset(String::new()).classify() => Verdict::TRANSIENT.ambiguous();
        ModelError::NoAnswer { after: second }.classify() => Verdict::TIMEOUT;
        ModelError::Io(io::ErrorKind::ConnectionRefused.into()).classify() => Verdict::TRANSIENT;
        ModelError::Io(io::ErrorKind::NotFound.into()).classify() => Verdict::STOP;
        ModelError::Named { source }.classify() => Verdict::TRANSIENT.ambiguous();
        ModelError::Unauthorized.classify() => Verdict::STOP;
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

/// An error that contains itself, like error contexts.
#[derive(Classify)]
enum Context<E> {
    #[classify(transparent)]
    Cause(E),
    #[classify(transparent)]
    Within(Box<Context<E>>),
}

macro_rules! error {
    ($name:ident, $field:ident: $after:ty, $inner:ty) => {
        #[derive(Classify)]
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
fn structs_generics_and_fields_given_to_a_macro_are_classified() {
    let wait = secs(1);
    let after = Some(wait);
    let inner: Generic<'_, _, 1> = Generic::Inner(Box::new(Wrapper(io::ErrorKind::BrokenPipe)));
    assert_rows! {
        Throttled { after }.classify() => Verdict::THROTTLED.after(wait);
        Wrapper(io::ErrorKind::TimedOut).classify() => Verdict::TIMEOUT;
        Unit.classify() => Verdict::STOP;
        inner.classify() => Verdict::TRANSIENT.ambiguous();
        Generic::Other(&[io::ErrorKind::Other]).classify() => Verdict::STOP;
        Context::Within(Box::new(Context::Cause(io::ErrorKind::TimedOut))).classify() => Verdict::TIMEOUT;
        Given::Busy { wait }.classify() => Verdict::THROTTLED.after(wait);
        Given::Io(io::ErrorKind::TimedOut.into()).classify() => Verdict::TIMEOUT;
    }
    let _: fn(&Never) -> Verdict = Never::classify;
}
