//! Retries against real databases that are killed, restarted and contended for. `.ci/databases` starts them.

use std::process::Command;

/// A setting from `.ci/databases`.
pub(crate) fn setting(name: &str) -> String {
    std::env::var(name).unwrap_or_else(|_| panic!("{name} is not set: run .ci/databases"))
}

/// Starts, kills or otherwise treats a server, and waits until that is done.
pub(crate) fn control(arguments: &[&str]) {
    let status = Command::new(setting("DATABASES_CONTROL")).args(arguments).status().unwrap();
    assert!(status.success(), "{arguments:?}: {status}");
}

/// Like [`control`], concurrently with other tasks.
pub(crate) async fn control_concurrently(arguments: &'static [&'static str]) {
    tokio::task::spawn_blocking(|| control(arguments)).await.unwrap();
}

/// Kills PostgreSQL, and starts it again.
#[cfg(any(feature = "sqlx", feature = "tokio_postgres"))]
pub(crate) async fn restart_postgres() {
    control_concurrently(&["postgres", "kill"]).await;
    // Long enough for attempts to be refused.
    tokio::time::sleep(std::time::Duration::from_millis(100)).await;
    control_concurrently(&["postgres", "start"]).await;
}

/// The error of a call, and how many attempts it made.
#[cfg(any(feature = "fred", feature = "redis", feature = "sqlx", feature = "tokio_postgres"))]
pub(crate) async fn attempts<T, E>(
    classify: impl Fn(&E) -> retry_runtime::Verdict,
    call: impl AsyncFn() -> Result<T, E>,
) -> (E, u32) {
    let count = std::cell::Cell::new(0);
    let policy = retry_runtime::Policy::none().max(2).on(classify);
    let result = policy.call(async || {
        count.set(count.get() + 1);
        call().await
    });
    (result.await.err().unwrap(), count.get())
}
