//! The functions of `retry_runtime::on`, in the attribute and in policies, and errors without a type.

use std::borrow::Cow;
use std::io::ErrorKind;

use retry_runtime::ResponseError;
use retry_runtime::on::{self, Combine};
use support::prelude::*;
use support::verdicts::BROKEN;

use crate::classification::{Boxed, io_error, response};

type MakeError = fn() -> AppError;

/// A typical application error: it names the failed operation, and contains the cause.
#[derive(Debug, thiserror::Error)]
enum AppError {
    #[error("can't read the prompt")]
    Prompt(#[from] io::Error),
    #[error("no answer")]
    Model(#[source] Box<ResponseError>),
    #[error("no answer")]
    Shared(#[source] Arc<ResponseError>),
    #[error("no answer")]
    Erased(#[source] Boxed),
    #[error("too late")]
    TimedOut(#[from] TimedOut),
    #[error("{0}")]
    Text(String),
}

fn text(text: &str) -> AppError {
    AppError::Text(text.to_owned())
}

/// `on::http` and `on::transient_io` match only errors of their sort.
#[test]
fn the_first_cause_of_a_known_type_decides() {
    const STOP: Verdict = Verdict::STOP;

    let broken_pipe = || io::Error::other(io_error(ErrorKind::BrokenPipe));
    let table = rows! {
        AppError::Prompt(io_error(ErrorKind::ConnectionRefused)), Verdict::TRANSIENT, STOP, Verdict::TRANSIENT;
        AppError::Prompt(io_error(ErrorKind::TimedOut)), Verdict::TIMEOUT, STOP, Verdict::TIMEOUT;
        AppError::Prompt(io_error(ErrorKind::NotFound)), STOP, STOP, STOP;
        AppError::Prompt(io_error(ErrorKind::PermissionDenied)), STOP, STOP, STOP;
        AppError::Model(response(503).into()), BROKEN, BROKEN, STOP;
        AppError::Model(response(404).into()), STOP, STOP, STOP;
        AppError::Shared(response(429).into()), Verdict::THROTTLED, Verdict::THROTTLED, STOP;
        AppError::Erased(response(502).into()), BROKEN, BROKEN, STOP;
        AppError::Erased(AppError::Model(response(429).into()).into()), Verdict::THROTTLED, Verdict::THROTTLED, STOP;
        AppError::Erased(broken_pipe().into()), BROKEN, STOP, BROKEN;
        AppError::TimedOut(TimedOut::new(Duration::ZERO)), Verdict::TIMEOUT, STOP, Verdict::TIMEOUT;
        text("503"), STOP, STOP, STOP;
    };
    for (error, expected, http, transient_io) in table {
        assert_eq!(on::http(&error), http, "{error:?}");
        assert_eq!(on::transient_io(&error), transient_io, "{error:?}");
        assert_eq!(on::cause(&error), expected, "{error:?}");
        assert_eq!(on::transaction(&error), expected, "{error:?}");
        let error: Boxed = error.into();
        assert_eq!(error.classify(), expected, "{error:?}");
        assert_eq!(on::cause(&error), expected, "{error:?}");
        let error = anyhow::Error::from_boxed(error).context("while testing");
        assert_eq!(error.classify(), expected, "{error:?}");
        assert_eq!(on::cause(&error), expected, "{error:?}");
    }
}

#[test]
fn mentions_searches_all_messages_case_insensitively() {
    let overloaded = on::mentions("overLOADED");
    assert!(overloaded(&text("529: Overloaded")));
    assert!(overloaded(&AppError::Model(response(400).into())));
    assert!(!overloaded(&text("over loaded")));
    assert!(on::mentions("é")(&text("É")));
    assert!(on::mentions("")(&text("")));

    let anyhow = anyhow::Error::msg("overloaded").context("no answer");
    assert!(on::mentions("overloaded")(&anyhow));
    let boxed: Box<dyn Error> = "overloaded".into();
    assert!(on::mentions("overloaded")(&boxed));
    // Texts are errors, too.
    assert!(on::mentions("busy")(&String::from("Busy")));
    assert!(on::mentions("busy")(&"Busy"));
    assert!(on::mentions("busy")("Busy"));
    assert!(!on::mentions("busy")(&Cow::from("idle")));
    assert_eq!(on::cause("503"), Verdict::STOP);
    assert!(on::any("503"));
}

#[test]
fn combinations_have_the_verdict_of_their_parts() {
    let verdicts = [
        Verdict::STOP,
        Verdict::TRANSIENT.after(secs(3)),
        Verdict::THROTTLED.after(secs(2)),
        Verdict::TIMEOUT,
        BROKEN,
    ];
    for first in verdicts {
        for second in verdicts {
            let (a, b) = (|(): &()| first, |(): &()| second);
            let either = if first.is_retryable() { first } else { second };
            assert_eq!(a.or(b)(&()), either);
            let excepted = second.is_retryable();
            let left = if excepted { Verdict::STOP } else { first };
            assert_eq!(a.except(b)(&()), left);
            let both = a.and(b)(&());
            let are_retryable = first.is_retryable() && second.is_retryable();
            assert_eq!(both.is_retryable(), are_retryable);
            if both.is_retryable() {
                assert_eq!(both.kind(), first.kind());
                assert_eq!(both.hint(), first.hint().max(second.hint()));
                let is_ambiguous = first.is_ambiguous() || second.is_ambiguous();
                assert_eq!(both.is_ambiguous(), is_ambiguous);
            }
        }
    }
}

/// Makes calls that always fail, one with each of these keys, and returns their attempts.
macro_rules! attempts_of {
    ($error:expr, |$needle:ident| $($result:ty: [$($key:tt)*],)*) => {
        [$({
            #[retry(max = 2, backoff = "none", $($key)*)]
            fn call(error: MakeError, $needle: &str, attempts: &mut u32) -> Result<(), $result> {
                let _ = $needle;
                *attempts += 1;
                Err(error())?
            }

            let mut attempts = 0;
            assert!(call($error, "overloaded", &mut attempts).is_err());
            attempts
        }),*]
    };
}

#[test]
fn functions_of_the_attribute_are_paths_and_expressions() {
    let table: [(MakeError, [u32; 8]); 5] = rows! {
        || AppError::Prompt(io_error(ErrorKind::ConnectionRefused)), [3, 1, 3, 3, 1, 1, 3, 3];
        || AppError::Model(response(503).into()), [3, 3, 1, 3, 3, 3, 3, 3];
        || text("Overloaded"), [1, 1, 1, 3, 3, 3, 1, 1];
        || text("Overloaded: quota"), [1, 1, 1, 3, 3, 1, 1, 1];
        || text("no"), [1, 1, 1, 3, 1, 1, 1, 1];
    };
    for (error, expected) in table {
        let attempts = attempts_of! { error, |needle|
            AppError: [on = on::cause],
            AppError: [on = on::http],
            AppError: [on = on::transient_io],
            AppError: [on = on::any],
            AppError: [on = on::mentions(needle)],
            AppError: [on = on::http.or(on::mentions("overloaded")).except(on::mentions("quota"))],
            Boxed: [],
            anyhow::Error: [],
        };
        assert_eq!(attempts, expected, "{}", error());
    }
}

#[derive(Debug, thiserror::Error, Classify)]
#[error("busy")]
#[classify(transient)]
struct Busy;

#[derive(Debug, thiserror::Error, Classify)]
enum Refusal {
    #[error("too many requests")]
    #[classify(throttled)]
    TooMany,
    #[error("no such model")]
    #[classify(stop)]
    NoSuchModel,
}

/// The attempts of a function whose error hides its type.
fn attempts<V: Into<Verdict>>(
    on: impl Fn(&anyhow::Error) -> V,
    error: impl Fn() -> anyhow::Error,
) -> u32 {
    let mut attempts = 0;
    let failed = Policy::none().max(2).on(on).call_blocking(|| {
        attempts += 1;
        Err::<(), _>(error())
    });
    assert!(failed.is_err());
    attempts
}

#[tokio::test]
async fn policies_accept_on_helpers() {
    let failed = || anyhow::Error::new(response(503));
    let refused = || anyhow::Error::new(io_error(ErrorKind::ConnectionRefused));
    let is_refusal = |error: &anyhow::Error| error.is::<Refusal>();
    let several = on::cause.or(on::is::<Busy>).or(on::is::<Refusal>);
    assert_rows! {
        attempts(on::http, failed) => 3;
        attempts(on::mentions("overloaded"), failed) => 3;
        attempts(on::transient_io, failed) => 1;
        attempts(on::transient_io.or(is_refusal), failed) => 1;
        attempts(on::transient_io.or(is_refusal), || Refusal::NoSuchModel.into()) => 3;
        // A user's own type inside others, alone and with others.
        attempts(on::is::<Busy>, || anyhow::Error::new(Busy).context("can't ask the model")) => 3;
        attempts(Classify::classify, || Busy.into()) => 1;
        attempts(on::is::<Busy>, || Busy.into()) => 3;
        attempts(on::is::<Busy>, || Refusal::TooMany.into()) => 1;
        attempts(on::is::<Busy>, refused) => 1;
        attempts(on::is::<Refusal>, || Refusal::NoSuchModel.into()) => 1;
        attempts(&several, || Busy.into()) => 3;
        attempts(&several, || Refusal::TooMany.into()) => 3;
        attempts(&several, || Refusal::NoSuchModel.into()) => 1;
        attempts(&several, refused) => 3;
        attempts(&several, || anyhow::anyhow!("a text")) => 1;
    }
    let call = Policy::none().on(on::cause);
    let future = call.call(async || Err::<(), _>(text("no")));
    assert!(is_send(future).await.is_err());
}

#[test]
fn a_users_own_type_is_found_in_any_wrapper() {
    scripted! {
        #[retry(max = 2, backoff = "none", on = on::is::<Busy>)]
        fn boxed(attempts: &mut u32) -> Result<(), Box<dyn Error>> = {
            *attempts += 1;
            Err(AppError::Erased(Busy.into()).into())
        };
    }

    let mut attempts = 0;
    assert!(boxed(&mut attempts).is_err());
    assert_eq!(attempts, 3);
    let shared: Arc<dyn Error + Send + Sync> = Arc::new(Busy);
    let boxed: Boxed = Box::new(AppError::Erased(Box::new(Box::new(Busy))));
    assert_rows! {
        on::is::<Busy>(&io::Error::other(Busy)) => Verdict::TRANSIENT;
        on::is::<Busy>(&shared) => Verdict::TRANSIENT;
        on::is::<Busy>(&boxed) => Verdict::TRANSIENT;
        on::is::<Busy>(&*boxed) => Verdict::TRANSIENT;
        on::is::<Refusal>(&boxed) => Verdict::STOP;
    }
}
