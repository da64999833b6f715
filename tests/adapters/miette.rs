use std::io;

use miette::{IntoDiagnostic, NarratableReportHandler, Report};
use retry_runtime::{GaveUp, retry};

#[derive(Debug, thiserror::Error)]
#[error("the model refused")]
struct Refused(#[source] io::Error);

fn report(gave_up: GaveUp<Refused>) -> Report {
    Err::<(), _>(gave_up).into_diagnostic().unwrap_err()
}

#[retry(max = 2, backoff = "none", fallback = |gave_up| Ok(report(gave_up)), on = |_| true)]
fn complete() -> Result<Report, Refused> {
    Err(Refused(io::Error::other("503 overloaded")))
}

#[test]
fn a_report_shows_each_cause_once() {
    let report = complete().unwrap();
    let mut shown = String::new();
    NarratableReportHandler::new()
        .render_report(&mut shown, report.as_ref())
        .unwrap();
    let (_, shown) = shown.split_once(" (exhausted): ").unwrap();
    assert_eq!(
        shown,
        "the model refused\n    Diagnostic severity: error\n    Caused by: 503 overloaded\n"
    );
}
