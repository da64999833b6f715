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

/// Runs a command that must succeed.
fn succeeds(command: &str, program: &str) {
    let output = cargo(command, program, &[]);
    let [stdout, stderr] =
        [&output.stdout, &output.stderr].map(|text| String::from_utf8_lossy(text));
    assert!(output.status.success(), "{stdout}{stderr}");
}

/// Checks that a program is rejected with these texts, and with this number of errors that start like that.
fn rejected(program: &str, texts: &[&str], (error, count): (&str, usize)) {
    let output = cargo("check", program, &[]);
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success());
    for text in texts {
        assert!(stderr.contains(text), "{text} in:\n{stderr}");
    }
    assert_eq!(stderr.matches(error).count(), count, "{stderr}");
}

macro_rules! tests {
    ($($name:ident: $check:ident($($argument:expr),*);)*) => {
        $(
            #[test]
            #[ignore = "compiles the runtime with other features; run with `-- --ignored`"]
            fn $name() {
                $check($($argument),*);
            }
        )*
    };
}

tests! {
    without_tokio_any_timer_does: succeeds("run", "no_tokio");
    without_macros_policies_call: succeeds("run", "no_macros");
    errors_can_be_classified_without_the_runtime: succeeds("run", "alone");
    nested_retries_are_reported: succeeds("test", "nested");
    without_std_calls_wait_with_embassys_timer: succeeds("test", "bare");
    without_random_numbers_delays_differ_and_no_error_is_lost: succeeds("run", "no_random");
    without_std_the_errors_ask_for_a_timer_with_a_clock: rejected("no_clock", &[
        "src/lib.rs:11:14",
        "enable the feature `tokio` of `retry-runtime`",
        "src/lib.rs:15:1",
        "pass a type that implements `retry_runtime::seam::BlockingTimer`, or",
        "src/lib.rs:22:26",
        "pass a type that implements `retry_runtime::seam::Timer`, or",
        "src/lib.rs:27:1",
        "not all trait items implemented, missing: `now`",
        "src/lib.rs:48:18",
        "`budget` alone needs the feature `std` of `retry-runtime`",
    ], ("error[", 8));
    without_tokio_and_timer_the_error_shows_what_to_enable: rejected("no_timer", &[
        "enable the feature `tokio` of `retry-runtime`",
        "or set another runtime's timer with `timer = …`",
        "src/main.rs:3:1",
    ], ("error[", 1));
    // One, and the count of them at the end.
    without_stream_the_error_shows_what_to_enable: rejected("no_stream", &[
        "`stream` needs the feature `stream` of `retry-runtime`",
        "src/main.rs:11:9",
    ], ("error: ", 2));
    without_tracing_the_error_shows_what_spans_need: rejected("no_spans", &[
        "`span` needs the feature `tracing` of `retry-runtime`",
        "src/main.rs:3:25",
        "src/main.rs:8:25",
    ], ("error[", 2));
}
