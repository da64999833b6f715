//! Programs that depend on the runtime without its default features, in the 2021 edition.

use std::fs;
use std::process::{Command, Output};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

static COPIES: AtomicUsize = AtomicUsize::new(0);

/// Runs cargo on a program of `tests/features/`.
pub(crate) fn cargo(command: &str, program: &str, arguments: &[&str]) -> Output {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
    let folder = format!("{root}/tests/features");
    // The dependencies that this workspace has downloaded. Moved there as a whole, because other tests may be reading
    // it.
    let copied = format!("{folder}/Cargo.lock.{}", COPIES.fetch_add(1, Relaxed));
    fs::copy(format!("{root}/Cargo.lock"), &copied).expect("a lock file");
    fs::rename(copied, format!("{folder}/Cargo.lock")).expect("a lock file");
    Command::new(env!("CARGO"))
        .args([command, "--quiet", "--package", program, "--manifest-path"])
        .arg(format!("{folder}/Cargo.toml"))
        .args(arguments)
        .env(
            "CARGO_TARGET_DIR",
            format!("{}/features", env!("CARGO_TARGET_TMPDIR")),
        )
        .output()
        .unwrap()
}

fn run(program: &str) {
    let output = cargo("run", program, &[]);
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
}

#[test]
#[ignore = "compiles the runtime with other features; run with `-- --ignored`"]
fn without_tokio_any_timer_does() {
    run("no_tokio");
}

#[test]
#[ignore = "compiles the runtime with other features; run with `-- --ignored`"]
fn without_macros_policies_call() {
    run("no_macros");
}

#[test]
#[ignore = "compiles crates with other features; run with `-- --ignored`"]
fn errors_can_be_classified_without_the_runtime() {
    run("alone");
}

#[test]
#[ignore = "compiles the runtime with other features; run with `-- --ignored`"]
fn nested_retries_are_reported() {
    let output = cargo("test", "nested", &[]);
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stdout)
    );
}

#[test]
#[ignore = "compiles the runtime with other features; run with `-- --ignored`"]
fn without_std_calls_wait_with_embassys_timer() {
    let output = cargo("test", "bare", &[]);
    assert!(
        output.status.success(),
        "{}{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
}

#[test]
#[ignore = "compiles the runtime with other features; run with `-- --ignored`"]
fn without_random_numbers_delays_differ_and_no_error_is_lost() {
    let output = cargo("run", "no_random", &[]);
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
}

#[test]
#[ignore = "compiles the runtime with other features; run with `-- --ignored`"]
fn without_std_the_errors_ask_for_a_timer_with_a_clock() {
    let output = cargo("check", "no_clock", &[]);
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success());
    for text in [
        "src/lib.rs:10:14",
        "enable the feature `tokio` of `retry-runtime`",
        "src/lib.rs:14:1",
        "pass a type that implements `retry_runtime::BlockingTimer`, or",
        "src/lib.rs:21:26",
        "pass a type that implements `retry_runtime::Timer`, or",
        "src/lib.rs:26:1",
        "not all trait items implemented, missing: `now`",
        "src/lib.rs:47:18",
        "`budget` alone needs the feature `std` of `retry-runtime`",
    ] {
        assert!(stderr.contains(text), "{text} in:\n{stderr}");
    }
    assert_eq!(stderr.matches("error[").count(), 8, "{stderr}");
}

#[test]
#[ignore = "compiles the runtime with other features; run with `-- --ignored`"]
fn without_tokio_and_timer_the_error_shows_what_to_enable() {
    let output = cargo("check", "no_timer", &[]);
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success());
    assert!(
        stderr.contains("enable the feature `tokio` of `retry-runtime`"),
        "{stderr}"
    );
    assert!(
        stderr.contains("or set another runtime's timer with `timer = …`"),
        "{stderr}"
    );
    assert!(stderr.contains("src/main.rs:3:1"), "{stderr}");
    assert_eq!(stderr.matches("error[").count(), 1, "{stderr}");
}

#[test]
#[ignore = "compiles the runtime with other features; run with `-- --ignored`"]
fn without_stream_the_error_shows_what_to_enable() {
    let output = cargo("check", "no_stream", &[]);
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success());
    assert!(
        stderr.contains("`stream` needs the feature `stream` of `retry-runtime`"),
        "{stderr}"
    );
    assert!(stderr.contains("src/main.rs:11:9"), "{stderr}");
    // One, and the count of them at the end.
    assert_eq!(stderr.matches("error: ").count(), 2, "{stderr}");
}

#[test]
#[ignore = "compiles the runtime with other features; run with `-- --ignored`"]
fn without_tracing_the_error_shows_what_spans_need() {
    let output = cargo("check", "no_spans", &[]);
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success());
    for text in [
        "`span` needs the feature `tracing` of `retry-runtime`",
        "src/main.rs:3:25",
        "src/main.rs:8:25",
    ] {
        assert!(stderr.contains(text), "{stderr}");
    }
    assert_eq!(stderr.matches("error[").count(), 2, "{stderr}");
}
