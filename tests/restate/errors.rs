//! The conversion of a failed call's error by `?` in a handler.

use restate_sdk::errors::{HandlerError, TerminalError};
use retry_durable::restate::RestateError;
use retry_durable::{DurableError, UnreadableError};

#[test]
fn only_errors_that_a_fixed_program_could_read_are_retried() {
    let cancelled = RestateError::Terminal(TerminalError::new("cancelled"));
    let unread = RestateError::Json {
        step: String::from("rate"),
        error: serde_json::from_str::<u32>("seven").unwrap_err(),
    };
    let engine = |error| DurableError::Engine { error, last: None };
    let unreadable = UnreadableError {
        kept: String::from(r#""GET https://host/path?key=secret""#),
        reason: String::from("unknown variant"),
    };
    let table = [
        (
            DurableError::GaveUp("402 from https://host/path?key=secret: declined"),
            "Terminal(TerminalErrorInner { code: 500, \
             message: \"402 from https://host/path: declined\"",
        ),
        (
            DurableError::Unreadable(unreadable),
            "Retryable(\"the call failed, and this program can't read the stored error \
             (unknown variant): \\\"GET https://host/path\\\"",
        ),
        (engine(cancelled), "Terminal"),
        (
            engine(unread),
            r#"Retryable("the result of step `rate`: expected value"#,
        ),
    ];
    for (error, kind) in table {
        let text = error.to_string();
        let error = format!("{:?}", HandlerError::from(error));
        assert!(error.contains(kind), "{text}: {error}");
    }
}
