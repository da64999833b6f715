//! Retries against real databases that are killed, restarted and contended for. `.ci/databases` starts them.

use std::process::Command;

/// What `.ci/databases` says.
pub(crate) fn setting(name: &str) -> String {
    std::env::var(name).unwrap_or_else(|_| panic!("{name} is not set: run .ci/databases"))
}

/// Starts, kills or otherwise treats a server, and waits until that is done.
pub(crate) fn control(arguments: &[&str]) {
    let status = Command::new(setting("DATABASES_CONTROL"))
        .args(arguments)
        .status()
        .unwrap();
    assert!(status.success(), "{arguments:?}: {status}");
}

/// As [`control`], beside other tasks.
pub(crate) async fn control_beside(arguments: &'static [&'static str]) {
    tokio::task::spawn_blocking(|| control(arguments))
        .await
        .unwrap();
}
