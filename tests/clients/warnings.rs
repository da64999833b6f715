//! The log's warnings about verdicts.

use support::sink::Sink;
use tracing::Level;
use tracing::subscriber::{DefaultGuard, set_default};

/// Captures the log of this thread until the guard is dropped.
pub(crate) fn listen() -> (Sink, DefaultGuard) {
    let sink = Sink::default();
    let subscriber = tracing_subscriber::fmt()
        .with_writer(sink.writer())
        .with_max_level(Level::WARN)
        .without_time()
        .with_ansi(false)
        .finish();
    (sink, set_default(subscriber))
}

/// The warnings about verdicts, without the error at their end.
pub(crate) fn warned(log: &Sink) -> Vec<String> {
    let text = log.text();
    let lines = text.lines().map(str::trim_start);
    let warnings = lines.filter_map(|line| line.strip_prefix("WARN retry::classify: "));
    let about = warnings.map(|line| line.split(" error=").next().unwrap_or(line));
    about.map(str::to_owned).collect()
}
