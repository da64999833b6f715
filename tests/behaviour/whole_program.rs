//! Settings for all calls of a program: log levels and redaction of secrets. In a separate process.

use retry_runtime::log::{Level, Record, reset_levels, set_level, set_most};
use retry_runtime::show;
use retry_runtime::testing::fail_times;
use support::prelude::*;
use support::sink::Sink;

/// The records of a call that fails a number of times, each with its level, and the number of those recorded.
fn levels_of(name: &str, failures: u32) -> (Vec<String>, usize) {
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
        let policy = Policy::none().max(1).name(name);
        let call = policy.on(|_: &String| true).show(fmt::Display::fmt);
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

/// Held by each test, because the settings and the log are global.
static TURN: Mutex<()> = Mutex::new(());

#[test]
fn each_record_has_its_configured_level() {
    let _turn = TURN.lock();
    let retrying = |level: &str| format!("{level} retry: {RETRYING}");
    let succeeded = |level: &str| format!("{level} retry: succeeded call=read attempt=2 max=1");
    let by_default = [retrying("WARN"), succeeded("INFO")];
    assert_eq!(levels_of("read", 1).0, by_default);
    for (level, name) in [
        (Level::Error, "ERROR"),
        (Level::Warn, "WARN"),
        (Level::Info, "INFO"),
        (Level::Debug, "DEBUG"),
        (Level::Trace, "TRACE"),
    ] {
        set_level(Record::Retrying, level);
        assert_eq!(levels_of("read", 1).0, [retrying(name), succeeded("INFO")]);
    }
    set_level(Record::Retrying, Level::Off);
    set_level(Record::Succeeded, Level::Debug);
    assert_eq!(levels_of("read", 1), (vec![succeeded("DEBUG")], 2));
    set_level(Record::RateChanged, Level::Off);
    set_level(Record::GaveUp, Level::Error);
    let gave_up = "ERROR retry: gave up call=read attempt=2 max=1 error=busy reason=exhausted";
    assert_eq!(levels_of("read", 2).0, [gave_up]);
    reset_levels();
    assert_eq!(levels_of("read", 1).0, by_default);

    // The explanation of a reason is logged once per process.
    let gave_up = gave_up.replace("ERROR", "WARN");
    let explained = "DEBUG retry::reason: what to do about it: https://docs.rs/retry-runtime/latest/\
                     retry_runtime/guide/troubleshooting/index.html#exhausted reason=\"exhausted\"";
    let lines = [&retrying("WARN"), &gave_up, explained];
    assert_eq!(levels_of("read", 2).0, lines);
    assert_eq!(levels_of("read", 2).0, lines[..2]);
}

#[test]
fn some_calls_log_less_than_others() {
    let _turn = TURN.lock();
    let levels = |name: &str| levels_of(name, 1).0;
    let all = |name: &str, levels: [&str; 2]| {
        let [retrying, succeeded] = levels;
        vec![
            format!("{retrying} retry: {}", RETRYING.replace("read", name)),
            format!("{succeeded} retry: succeeded call={name} attempt=2 max=1"),
        ]
    };
    set_most("quiet", Level::Debug);
    set_most("quiet::loud", Level::Info);
    set_most("quiet.silent", Level::Off);
    for (name, logged) in [
        ("quiet", ["DEBUG", "DEBUG"]),
        ("quiet::client.get", ["DEBUG", "DEBUG"]),
        ("quieter", ["WARN", "INFO"]),
        ("quiet::loud.get", ["INFO", "INFO"]),
    ] {
        assert_eq!(levels(name), all(name, logged), "{name}");
    }
    assert_eq!(levels("quiet.silent"), Vec::<String>::new());
    assert_eq!(levels_of("quiet.silent", 1).1, 2);
    set_most("quiet", Level::Trace);
    assert_eq!(levels("quiet"), all("quiet", ["TRACE", "TRACE"]));
    reset_levels();
    assert_eq!(levels("quiet"), all("quiet", ["WARN", "INFO"]));
}

#[test]
fn secrets_are_shown_if_the_program_allows_it() {
    const ERROR: &str = "https://me:pw@host/?q=1: password=hunter2\n\u{200b}";
    let _turn = TURN.lock();

    let shown = || {
        let recording = testing::record();
        let policy = Policy::none().max(0).name("read").on(|_: &String| true);
        let call = policy.show(fmt::Display::fmt);
        let _ = call.call_blocking(|| Err::<(), _>(String::from(ERROR)));
        recording.lines().remove(0)
    };
    let line = |error: &str| format!("gave up read attempt=1 max=0 error={error} reason=exhausted");
    assert_eq!(shown(), line(r"https://host/: password=…\n\u{200b}"));
    show::hide_secrets(false);
    let whole = r"https://me:pw@host/?q=1: password=hunter2\n\u{200b}";
    assert_eq!(shown(), line(whole));
    show::hide_secrets(true);
    assert!(shown().contains("password=…"));
}
