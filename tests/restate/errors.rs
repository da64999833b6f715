//! What a handler's `?` makes of a call that ended without a value.

use restate_sdk::errors::{HandlerError, TerminalError};
use retry_durable::DurableError;
use retry_durable::restate::RestateError;

#[test]
fn only_what_a_corrected_program_could_read_is_tried_again() {
    let cancelled = RestateError::Terminal(TerminalError::new("cancelled"));
    let unread = RestateError::Json {
        step: String::from("rate"),
        error: serde_json::from_str::<u32>("seven").unwrap_err(),
    };
    let engine = |error| DurableError::Engine { error, last: None };
    let table = [
        (DurableError::GaveUp("402 declined"), "Terminal"),
        (engine(cancelled), "Terminal"),
        (
            engine(unread),
            r#"Retryable(Error("the result of step `rate`: expected value""#,
        ),
    ];
    for (error, kind) in table {
        let text = error.to_string();
        let error = format!("{:?}", HandlerError::from(error));
        assert!(error.contains(kind), "{text}: {error}");
    }
}
