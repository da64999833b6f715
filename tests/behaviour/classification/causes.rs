//! Causes inside of other errors: which are found, which can't be, and which have no end.

use std::error::Error;
use std::fmt;
use std::io::{self, ErrorKind};
use std::sync::Arc;

use http::{HeaderMap, StatusCode};
use retry_runtime::{Classify, ResponseError, Verdict, on};
use support::verdicts::BROKEN;

type Boxed = Box<dyn Error + Send + Sync>;

fn io(kind: ErrorKind) -> io::Error {
    kind.into()
}

fn response(status: u16) -> ResponseError {
    let status = StatusCode::from_u16(status).unwrap();
    ResponseError::new(status, HeaderMap::new(), "")
}

/// An error that names itself as its source.
#[derive(Debug)]
struct Endless;

impl fmt::Display for Endless {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("no end")
    }
}

impl Error for Endless {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        Some(self)
    }
}

/// Adds a source.
#[derive(Debug, thiserror::Error)]
#[error("step")]
struct Step(#[source] Boxed);

#[test]
fn causes_that_do_not_end_are_given_up() {
    let boxed: Boxed = Endless.into();
    assert_eq!(boxed.classify(), Verdict::STOP);
    assert_eq!(on::cause(&Endless), Verdict::STOP);
    assert_eq!(on::http(&Endless), Verdict::STOP);
    assert_eq!(on::transient_io(&Endless), Verdict::STOP);
    assert_eq!(on::transaction(&Endless), Verdict::STOP);
    assert!(!on::mentions("else")(&Endless));
    assert!(on::mentions("end")(&Endless));
    assert_eq!(io::Error::other(Endless).classify(), Verdict::STOP);
}

#[test]
fn a_cause_is_found_however_it_is_wrapped() {
    let mut deep: Boxed = response(503).into();
    for _ in 0..50 {
        deep = Step(deep).into();
    }
    assert_eq!(deep.classify(), BROKEN);

    let reset = || io(ErrorKind::ConnectionReset);
    let wrapped: [io::Error; 5] = [
        io::Error::other(reset()),
        io::Error::other(io::Error::other(io::Error::other(reset()))),
        io::Error::other(Step(reset().into())),
        io::Error::other(Arc::new(reset())),
        io::Error::other(anyhow::Error::from(reset()).context("while reading")),
    ];
    for error in wrapped {
        assert_eq!(error.classify(), BROKEN, "{error:?}");
        let error = anyhow::Error::from(error);
        assert_eq!(error.classify(), BROKEN, "{error:?}");
        let error = Step(io::Error::other(Step(Box::new(Step(reset().into())))).into());
        assert_eq!(on::cause(&error), BROKEN, "{error:?}");
    }
    let shared: Arc<dyn Error> = Arc::new(reset());
    assert_eq!(on::cause(&shared), BROKEN);
    let shared: Arc<dyn Error + Send + Sync> = Arc::new(reset());
    assert_eq!(on::cause(&shared), BROKEN);
    assert_eq!(io::Error::other(shared).classify(), BROKEN);

    let busy = io::Error::other(response(503));
    assert_eq!(busy.classify(), BROKEN);
    // What says something by its own kind is not asked for more.
    let garbled = io::Error::new(ErrorKind::InvalidData, response(503));
    assert_eq!(garbled.classify(), Verdict::STOP);
}

/// What `anyhow` turns into a box has another type, and no one can look into it: the guide says so.
#[test]
fn the_outermost_error_of_anyhow_is_lost_in_a_box() {
    let refused = || anyhow::Error::from(io(ErrorKind::ConnectionRefused));
    assert_eq!(refused().classify(), Verdict::TRANSIENT);
    let boxed: Boxed = refused().into();
    assert_eq!(boxed.classify(), Verdict::STOP);
    let boxed: Boxed = refused().context("while connecting").into();
    assert_eq!(boxed.classify(), Verdict::TRANSIENT);
    let boxed = refused().reallocate_into_boxed_dyn_error_without_backtrace();
    assert_eq!(boxed.classify(), Verdict::TRANSIENT);
}

/// Its source is the source of the error inside, so the error inside is skipped, as the guide says.
#[test]
fn transparent_hides_the_error_inside() {
    #[derive(Debug, thiserror::Error)]
    #[error(transparent)]
    struct Transparent(#[from] io::Error);

    let refused = Transparent(io(ErrorKind::ConnectionRefused));
    assert_eq!(on::cause(&refused), Verdict::STOP);
}
