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

#[test]
fn the_first_cause_of_a_known_type_decides() {
    let table = rows! {
        AppError::Prompt(io_error(ErrorKind::ConnectionRefused)), Verdict::TRANSIENT;
        AppError::Prompt(io_error(ErrorKind::NotFound)), Verdict::STOP;
        AppError::Prompt(io::Error::other(io_error(ErrorKind::BrokenPipe))), BROKEN;
        AppError::Prompt(io::Error::other(response(503))), BROKEN;
        AppError::Prompt(io::Error::new(ErrorKind::InvalidData, response(503))), BROKEN;
        AppError::Model(response(503).into()), BROKEN;
        AppError::Model(response(404).into()), Verdict::STOP;
        AppError::Shared(response(429).into()), Verdict::THROTTLED;
        AppError::Erased(response(502).into()), BROKEN;
        AppError::Erased(AppError::Model(response(429).into()).into()), Verdict::THROTTLED;
        AppError::TimedOut(TimedOut::new(Duration::ZERO)), Verdict::TIMEOUT;
        text("503"), Verdict::STOP;
    };
    for (error, expected) in table {
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
fn every_box_of_an_error_is_classified() {
    let refused = || io_error(ErrorKind::ConnectionRefused);
    let plain: Box<dyn Error> = refused().into();
    let send: Box<dyn Error + Send> = Box::new(refused());
    let shared: Arc<dyn Error + Send + Sync> = Arc::new(refused());
    let verdicts = [plain.classify(), send.classify(), shared.classify()];
    assert_eq!(verdicts, [Verdict::TRANSIENT; 3]);
    let verdicts = [on::cause(&plain), on::cause(&send), on::cause(&shared)];
    assert_eq!(verdicts, [Verdict::TRANSIENT; 3]);
}

#[test]
fn http_and_transient_io_match_only_errors_of_their_sort() {
    let table = rows! {
        AppError::Model(response(503).into()), BROKEN, Verdict::STOP;
        AppError::Model(response(404).into()), Verdict::STOP, Verdict::STOP;
        AppError::Prompt(io_error(ErrorKind::ConnectionRefused)), Verdict::STOP, Verdict::TRANSIENT;
        AppError::Prompt(io_error(ErrorKind::TimedOut)), Verdict::STOP, Verdict::TIMEOUT;
        AppError::Prompt(io_error(ErrorKind::PermissionDenied)), Verdict::STOP, Verdict::STOP;
        AppError::Erased(io::Error::other(io_error(ErrorKind::BrokenPipe)).into()), Verdict::STOP, BROKEN;
        text("503"), Verdict::STOP, Verdict::STOP;
    };
    for (error, http, transient_io) in table {
        assert_eq!(on::http(&error), http, "{error:?}");
        assert_eq!(on::transient_io(&error), transient_io, "{error:?}");
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
}

#[test]
fn texts_are_errors_too() {
    assert!(on::mentions("busy")(&String::from("Busy")));
    assert!(on::mentions("busy")(&"Busy"));
    assert!(on::mentions("busy")("Busy"));
    assert!(!on::mentions("busy")(&Cow::from("idle")));
    assert_eq!(on::cause("503"), Verdict::STOP);
    assert!(on::any("503"));
}

#[test]
fn combinations_have_the_verdict_of_their_parts() {
    let hint = |seconds| Duration::from_secs(seconds);
    let verdicts = [
        Verdict::STOP,
        Verdict::TRANSIENT,
        Verdict::THROTTLED.after(hint(2)),
        Verdict::TIMEOUT,
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
    let longer = |(): &()| Verdict::TRANSIENT.after(hint(3));
    let shorter = |(): &()| Verdict::THROTTLED.after(hint(2));
    assert_eq!(shorter.and(longer)(&()), Verdict::THROTTLED.after(hint(3)));
}

/// A call that always fails.
struct Failing {
    error: MakeError,
    needle: &'static str,
    attempts: u32,
}

impl Failing {
    fn fail(&mut self) -> Result<(), AppError> {
        self.attempts += 1;
        Err((self.error)())
    }
}

/// Makes such calls, one with each of these keys, and returns their attempts.
macro_rules! attempts_of {
    ($error:expr, |$failing:ident| $($result:ty: [$($key:tt)*],)*) => {
        [$({
            #[retry(max = 2, backoff = "none", $($key)*)]
            async fn call($failing: &mut Failing) -> Result<(), $result> {
                $failing.fail()?;
                Ok(())
            }

            let (error, needle) = ($error, "overloaded");
            let mut failing = Failing { error, needle, attempts: 0 };
            assert!(call(&mut failing).await.is_err());
            failing.attempts
        }),*]
    };
}

#[tokio::test]
async fn functions_of_the_attribute_are_paths_and_expressions() {
    let table: [(MakeError, [u32; 8]); 5] = rows! {
        || AppError::Prompt(io_error(ErrorKind::ConnectionRefused)), [3, 1, 3, 3, 1, 1, 3, 3];
        || AppError::Model(response(503).into()), [3, 3, 1, 3, 3, 3, 3, 3];
        || text("Overloaded"), [1, 1, 1, 3, 3, 3, 1, 1];
        || text("Overloaded: quota"), [1, 1, 1, 3, 3, 1, 1, 1];
        || text("no"), [1, 1, 1, 3, 1, 1, 1, 1];
    };
    for (error, expected) in table {
        let attempts = attempts_of! { error, |failing|
            AppError: [on = on::cause],
            AppError: [on = on::http],
            AppError: [on = on::transient_io],
            AppError: [on = on::any],
            AppError: [on = on::mentions(failing.needle)],
            AppError: [on = on::http.or(on::mentions("overloaded")).except(on::mentions("quota"))],
            Boxed: [],
            anyhow::Error: [],
        };
        assert_eq!(attempts, expected, "{}", error());
    }
}

#[tokio::test]
async fn policies_accept_on_helpers() {
    let policy = Policy::none().max(2);
    let mut attempts = 0;
    let mut fail = || {
        attempts += 1;
        Err::<(), _>(AppError::Model(response(503).into()))
    };
    let combined = on::transient_io.or(|error: &AppError| matches!(error, AppError::Model(_)));
    assert!(policy.on(on::http).call_blocking(&mut fail).is_err());
    let mentions = policy.on(on::mentions("overloaded"));
    assert!(mentions.call_blocking(&mut fail).is_err());
    assert!(policy.on(combined).call_blocking(&mut fail).is_err());
    let transient_io = policy.on(on::transient_io);
    assert!(transient_io.call_blocking(&mut fail).is_err());
    assert_eq!(attempts, 3 + 3 + 3 + 1);

    let future = policy.on(on::cause).call(async || Err::<(), _>(text("no")));
    assert!(is_send(future).await.is_err());
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
fn attempts(on: impl Fn(&anyhow::Error) -> Verdict, error: impl Fn() -> anyhow::Error) -> u32 {
    let mut attempts = 0;
    let failed = Policy::none().max(2).on(on).call_blocking(|| {
        attempts += 1;
        Err::<(), _>(error())
    });
    assert!(failed.is_err());
    attempts
}

#[test]
fn a_users_own_type_is_classified_inside_others() {
    scripted! {
        #[retry(max = 2, backoff = "none", on = on::is::<Busy>)]
        fn boxed(attempts: &mut u32) -> Result<(), Box<dyn Error>> = {
            *attempts += 1;
            Err(AppError::Erased(Busy.into()).into())
        };
    }

    let mut count = 0;
    assert!(boxed(&mut count).is_err());
    assert_eq!(count, 3);
    let by_default = Classify::classify;
    assert_rows! {
        attempts(on::is::<Busy>, || anyhow::Error::new(Busy).context("can't ask the model")) => 3;
        attempts(by_default, || Busy.into()) => 1;
        attempts(on::is::<Busy>, || Busy.into()) => 3;
        attempts(on::is::<Busy>, || Refusal::TooMany.into()) => 1;
        attempts(on::is::<Busy>, || io_error(ErrorKind::ConnectionRefused).into()) => 1;
        attempts(on::is::<Refusal>, || Refusal::NoSuchModel.into()) => 1;
    }
}

#[test]
fn several_user_types_are_classified() {
    let on = on::cause.or(on::is::<Busy>).or(on::is::<Refusal>);
    assert_eq!(attempts(&on, || Busy.into()), 3);
    assert_eq!(attempts(&on, || Refusal::TooMany.into()), 3);
    assert_eq!(attempts(&on, || Refusal::NoSuchModel.into()), 1);
    assert_eq!(
        attempts(&on, || io_error(ErrorKind::ConnectionRefused).into()),
        3
    );
    assert_eq!(attempts(&on, || anyhow::anyhow!("a text")), 1);
}

#[test]
fn a_users_own_type_is_found_in_any_wrapper() {
    assert_eq!(on::is::<Busy>(&io::Error::other(Busy)), Verdict::TRANSIENT);
    let shared: Arc<dyn Error + Send + Sync> = Arc::new(Busy);
    assert_eq!(on::is::<Busy>(&shared), Verdict::TRANSIENT);
    let boxed: Boxed = Box::new(AppError::Erased(Box::new(Box::new(Busy))));
    assert_eq!(on::is::<Busy>(&boxed), Verdict::TRANSIENT);
    assert_eq!(on::is::<Busy>(&*boxed), Verdict::TRANSIENT);
    assert_eq!(on::is::<Refusal>(&boxed), Verdict::STOP);
}
