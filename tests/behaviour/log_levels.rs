//! Levels of log records that the program has changed. In a process of its own, since all of a process share them.

use retry_runtime::log::{Level, Record, reset_levels, set_level};
use retry_runtime::testing::fail_times;
use retry_runtime::{Policy, testing};
use support::sink::Sink;

/// The level of each record of a call that fails so often, and what was recorded.
fn levels_of(failures: u32) -> (Vec<String>, usize) {
    let sink = Sink::default();
    let subscriber = tracing_subscriber::fmt()
        .with_writer(sink.writer())
        .without_time()
        .with_ansi(false)
        .with_max_level(tracing::Level::TRACE)
        .finish();
    let recording = testing::record();
    tracing::subscriber::with_default(subscriber, || {
        let server = fail_times(failures, String::from("busy"));
        let policy = Policy::none().max(1).name("read");
        let call = policy.on(|_: &String| true).show(std::fmt::Display::fmt);
        let _ = call.call_blocking(|| server.next());
    });
    let text = sink.text();
    (
        text.lines().map(|line| line.trim().to_owned()).collect(),
        recording.lines().len(),
    )
}

const RETRYING: &str =
    "retrying at once call=read attempt=1 max=1 delay=0.0 error=busy reason=transient";

#[test]
fn each_record_has_the_level_that_it_was_given() {
    let retrying = |level: &str| format!("{level} retry: {RETRYING}");
    let succeeded = |level: &str| format!("{level} retry: succeeded call=read attempt=2 max=1");
    assert_eq!(levels_of(1).0, [retrying("WARN"), succeeded("INFO")]);
    for (level, name) in [
        (Level::Error, "ERROR"),
        (Level::Warn, "WARN"),
        (Level::Info, "INFO"),
        (Level::Debug, "DEBUG"),
        (Level::Trace, "TRACE"),
    ] {
        set_level(Record::Retrying, level);
        assert_eq!(levels_of(1).0, [retrying(name), succeeded("INFO")]);
    }
    set_level(Record::Retrying, Level::Off);
    set_level(Record::Succeeded, Level::Debug);
    assert_eq!(levels_of(1), (vec![succeeded("DEBUG")], 2));
    set_level(Record::RateChanged, Level::Off);
    set_level(Record::GaveUp, Level::Error);
    let gave_up = "ERROR retry: gave up call=read attempt=2 max=1 error=busy reason=exhausted";
    assert_eq!(levels_of(2).0, [gave_up]);
    reset_levels();
    assert_eq!(levels_of(1).0, [retrying("WARN"), succeeded("INFO")]);
}
