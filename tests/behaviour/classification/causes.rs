//! Causes inside other errors: causes that are found, causes that can't be found, and endless chains.

use std::io::ErrorKind;

use retry_runtime::on;
use support::prelude::*;
use support::verdicts::BROKEN;

use crate::classification::{Boxed, io_error, response};

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
    assert_rows! {
        Boxed::from(Endless).classify() => Verdict::STOP;
        on::cause(&Endless) => Verdict::STOP;
        on::http(&Endless) => Verdict::STOP;
        on::transient_io(&Endless) => Verdict::STOP;
        on::transaction(&Endless) => Verdict::STOP;
        on::mentions("else")(&Endless) => false;
        on::mentions("end")(&Endless) => true;
        io::Error::other(Endless).classify() => Verdict::STOP;
    }
}

#[test]
fn a_cause_is_found_in_any_wrapper() {
    let mut deep: Boxed = response(503).into();
    for _ in 0..50 {
        deep = Step(deep).into();
    }
    assert_eq!(deep.classify(), BROKEN);

    let reset = || io_error(ErrorKind::ConnectionReset);
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
    // An error kind that only names the failed step must not hide the cause, for example when a body is decoded.
    for kind in [
        ErrorKind::InvalidData,
        ErrorKind::InvalidInput,
        ErrorKind::Unsupported,
    ] {
        let garbled = io::Error::new(kind, reset());
        assert_eq!(garbled.classify(), BROKEN, "{kind:?}");
        let garbled = io::Error::new(kind, response(503));
        assert_eq!(anyhow::Error::from(garbled).classify(), BROKEN, "{kind:?}");
        let garbled = io::Error::new(kind, io_error(ErrorKind::NotFound));
        assert_eq!(garbled.classify(), Verdict::STOP, "{kind:?}");
    }
}

/// An error of the same texts as one of a crate that these tests do not depend on.
#[derive(thiserror::Error)]
#[error("{1}")]
struct Foreign(&'static str, &'static str);

impl fmt::Debug for Foreign {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

#[test]
fn errors_of_the_ecosystem_are_known_by_their_texts() {
    const REFUSED: &str =
        "stream error received: refused stream before processing any application logic";
    for (debug, display, expected) in rows! {
        "Elapsed(())", "request timed out", Verdict::TIMEOUT;
        "Overloaded", "service overloaded", Verdict::THROTTLED;
        "TimeoutError(())", "data was not received within the designated timeout", Verdict::TIMEOUT;
        "TimeoutExpired(())", "Timeout expired", Verdict::TIMEOUT;
        "TimedOut", "operation timed out", Verdict::TIMEOUT;
        "Error { kind: Reset(StreamId(1), REFUSED_STREAM, Remote) }", REFUSED, Verdict::TRANSIENT;
        "Error { kind: GoAway(b\"\", NO_ERROR, Remote) }",
            "connection error received: not a result of an error", Verdict::TRANSIENT;
        "Error { kind: Reset(StreamId(1), CANCEL, Remote) }", "stream error received: stream no longer needed", BROKEN;
        "Error { kind: GoAway(b\"\", ENHANCE_YOUR_CALM, Remote) }",
            "connection error received: detected excessive load generating behavior", Verdict::THROTTLED.ambiguous();
        "Error { kind: Reset(StreamId(1), HTTP_1_1_REQUIRED, Remote) }",
            "stream error received: endpoint requires HTTP/1.1", Verdict::STOP;
        "Error { kind: GoAway(b\"\", INADEQUATE_SECURITY, Remote) }",
            "connection error received: security properties do not meet minimum requirements", Verdict::STOP;
        "AlertReceived(InternalError)", "received fatal alert: InternalError", BROKEN;
        "Ssl(Error { code: ErrorCode(1), cause: None }, 0)",
            "error:0A000126:SSL routines::unexpected eof while reading", BROKEN;
        // Permanent errors, and texts that may be quotations.
        "AlertReceived(BadCertificate)", "received fatal alert: BadCertificate", Verdict::STOP;
        "Quoted", REFUSED, Verdict::STOP;
        "Error { kind: Io(NotFound) }", "no such file", Verdict::STOP;
    } {
        let error = || Foreign(debug, display);
        assert_eq!(on::cause(&error()), expected, "{debug}");
        let boxed: Boxed = error().into();
        assert_eq!(boxed.classify(), expected, "{debug}");
        let wrapped = anyhow::Error::from(Step(error().into())).context("while calling");
        assert_eq!(wrapped.classify(), expected, "{debug}");
        let io = io::Error::new(ErrorKind::InvalidData, error());
        assert_eq!(io.classify(), expected, "{debug}");
    }
}

#[tokio::test(start_paused = true)]
async fn timeouts_of_tokio_are_known() {
    let elapsed = || async {
        let never = pending::<()>();
        let waits = timeout(secs(1), never);
        waits.await.unwrap_err()
    };
    let boxed: Boxed = elapsed().await.into();
    assert_eq!(boxed.classify(), Verdict::TIMEOUT);
    let error = anyhow::Error::from(elapsed().await);
    assert_eq!(error.classify(), Verdict::TIMEOUT);
    assert_eq!(on::cause(&Step(elapsed().await.into())), Verdict::TIMEOUT);

    // The text alone is not enough: it may be quoted.
    let quoted: Boxed = "request timed out".into();
    assert_eq!(quoted.classify(), Verdict::STOP);
}

#[test]
fn a_program_makes_its_own_types_known() {
    #[derive(Debug, thiserror::Error)]
    #[error("busy")]
    struct Busy(#[source] Boxed);

    let error = || anyhow::Error::from(Busy(io_error(ErrorKind::NotFound).into())).context("step");
    assert_eq!(error().classify(), Verdict::STOP);
    // It may ask for what is inside.
    on::known(|busy: &Busy| {
        let inside = busy.0.classify();
        if inside == Verdict::STOP {
            Verdict::THROTTLED
        } else {
            inside
        }
    });
    assert_eq!(error().classify(), Verdict::THROTTLED);
    assert_eq!(io::Error::other(error()).classify(), Verdict::THROTTLED);
    let shared = io::Error::other(Arc::new(Busy(io_error(ErrorKind::ConnectionReset).into())));
    assert_eq!(on::cause(&shared), BROKEN);
}

/// As the guide explains.
#[test]
fn some_causes_can_not_be_found() {
    // Its source is the source of the inner error, so the inner error is skipped.
    #[derive(Debug, thiserror::Error)]
    #[error(transparent)]
    struct Transparent(#[from] io::Error);

    let refused = || anyhow::Error::from(io_error(ErrorKind::ConnectionRefused));
    assert_rows! {
        on::cause(&Transparent(io_error(ErrorKind::ConnectionRefused))) => Verdict::STOP;
        // An `anyhow::Error` converted into a box has another type, which can't be inspected.
        refused().classify() => Verdict::TRANSIENT;
        Boxed::from(refused()).classify() => Verdict::STOP;
        Boxed::from(refused().context("while connecting")).classify() => Verdict::TRANSIENT;
        refused().reallocate_into_boxed_dyn_error_without_backtrace().classify() => Verdict::TRANSIENT;
    }
}
