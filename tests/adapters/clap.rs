use std::process::{Command, Output};

use ::clap::{Args, FromArgMatches};
use retry_runtime::Policy;
use retry_runtime::configuration::{Overrides, PolicyArgs, PolicyFlags};

/// Runs the program with these variables and arguments, which are separated by `|` and begin with `APP_RETRY` or
/// `--retry`.
fn run(environment: &str, arguments: &str) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_arguments"));
    for variable in environment.split('|').filter(|text| !text.is_empty()) {
        let (name, value) = variable.split_once('=').expect("a value");
        command.env(format!("APP_RETRY{name}"), value);
    }
    for argument in arguments.split('|').filter(|text| !text.is_empty()) {
        command.arg(format!("--retry{argument}"));
    }
    command.output().expect("a program")
}

#[test]
fn the_command_line_wins_over_the_environment_and_a_keys_own_flag_over_the_one_for_all() {
    for (environment, arguments, expected) in [
        ("", "", "max=7, throttled(max=9)"),
        ("_MAX=4", "", "max=4, throttled(max=9)"),
        ("=max=4, cap=9s", "", "max=4, cap=9s, throttled(max=9)"),
        (
            "=max=4, cap=9s|_MAX=5",
            "",
            "max=5, cap=9s, throttled(max=9)",
        ),
        (
            "_MAX=5|_CAP=8s",
            "=max=2",
            "max=2, cap=8s, throttled(max=9)",
        ),
        ("", "-max=6|=max=2", "max=6, throttled(max=9)"),
        // Like an orchestrator that passes on unset variables.
        ("_MAX=|= ", "", "max=7, throttled(max=9)"),
        // Equal to the default, but set explicitly.
        ("_MAX=4", "-max=7", "max=7, throttled(max=9)"),
        (
            "_THROTTLED=base=5s",
            "-throttled=max=10",
            "max=7, throttled(max=10)",
        ),
        (
            "",
            "-backoff=[1s, 5s]|-jitter=0.2|-floor=1s|-hint=clamp|-max-hint=5m|-timeout=30s|\
             -deadline=1h|-enabled=false|-transient=max=1|-timed-out=max=2|\
             -invalid=max=3, backoff=fixed",
            "max=7, backoff=[1s, 5s], jitter=0.2, floor=1s, hint=clamp, max_hint=5m, timeout=30s, \
             deadline=1h, enabled=false, transient(max=1), throttled(max=9), timed_out(max=2), \
             invalid(max=3, backoff=fixed)",
        ),
        (
            "",
            "-base=2s|-factor=3",
            "max=7, base=2s, factor=3, throttled(max=9)",
        ),
    ] {
        let output = run(environment, arguments);
        let printed = String::from_utf8_lossy(&output.stdout);
        let expected: Policy = expected.parse().unwrap();
        assert_eq!(
            printed.trim(),
            expected.to_string(),
            "{environment} {arguments}"
        );
    }
}

#[test]
fn errors_name_the_flag() {
    for (environment, arguments, message) in [
        (
            "",
            "=maxx=5",
            "invalid value 'maxx=5' for '--retry <KEYS>': unknown key `maxx`: did you mean `max`?",
        ),
        (
            "",
            "=max_attempts=5",
            "invalid value 'max_attempts=5' for '--retry <KEYS>': unknown key `max_attempts`: use `max`, which counts \
             retries, not attempts: write `max = 4`",
        ),
        (
            "",
            "-max=5, base=1s",
            "invalid value '5, base=1s' for '--retry-max <COUNT>': `5` is a value without its key: write `max=5`",
        ),
        (
            "",
            "-throttled=deadline=1s",
            "invalid value 'deadline=1s' for '--retry-throttled <KEYS>': unknown key `deadline` in `throttled(…)`: move \
             `deadline` out of `throttled(…)`",
        ),
        (
            "_BASE=5",
            "",
            "invalid value '5' for '--retry-base <DURATION>': `base = 5` has no unit: write `\"5s\"` for seconds, or \
             `ms`, `m`, `h`",
        ),
        (
            "_MAX_RETRIES=0",
            "",
            "environment variable `APP_RETRY_MAX_RETRIES`: unknown key `MAX_RETRIES`: use `max`, as in `max = 5`",
        ),
        (
            "_ENABLE=false",
            "-max=1",
            "environment variable `APP_RETRY_ENABLE`: unknown key `ENABLE`: did you mean `enabled`?",
        ),
        (
            "MAX=0|_Max=0",
            "",
            "environment variable `APP_RETRY_Max`: unknown key `Max`: did you mean `max`?",
        ),
    ] {
        let output = run(environment, arguments);
        let printed = String::from_utf8_lossy(&output.stderr);
        let expected = format!("error: {message}");
        assert_eq!(printed.lines().next(), Some(&*expected), "{arguments}");
        assert_eq!(output.status.code(), Some(2));
    }
    // Detected only after merging, so the program reports it.
    let output = run("_CAP=9s", "-base=10s");
    let expected = "`base = 10s` is above `cap = 9s`: lower the first or raise the second";
    assert_eq!(String::from_utf8_lossy(&output.stdout).trim(), expected);
}

#[test]
fn the_help_shows_flags_variables_and_defaults() {
    let help = Command::new(env!("CARGO_BIN_EXE_arguments"))
        .arg("--help")
        .output()
        .expect("a program")
        .stdout;
    let help = String::from_utf8_lossy(&help);
    for (flag, end) in [
        ("--retry <KEYS>", "[env: APP_RETRY=]"),
        ("--retry-max <COUNT>", "[env: APP_RETRY_MAX=] [default: 7]"),
        (
            "--retry-base <DURATION>",
            "[env: APP_RETRY_BASE=] [default: 1s]",
        ),
        ("--retry-deadline <DURATION>", "[env: APP_RETRY_DEADLINE=]"),
        (
            "--retry-throttled <KEYS>",
            "[env: APP_RETRY_THROTTLED=] [default: max=9]",
        ),
    ] {
        let line = help.lines().find(|line| line.contains(flag));
        assert!(
            line.is_some_and(|line| line.ends_with(end)),
            "{flag}: {help}"
        );
    }
}

struct Model;

impl PolicyFlags for Model {
    const FLAG: &'static str = "model-retry";
    const ENV: &'static str = "";
}

struct Database;

impl PolicyFlags for Database {
    const FLAG: &'static str = "database-retry";
    const ENV: &'static str = "";
}

#[test]
fn two_clients_have_separate_flags() {
    let command = ::clap::Command::new("two").no_binary_name(true);
    let command = PolicyArgs::<Model>::augment_args(command);
    let command = PolicyArgs::<Database>::augment_args(command);
    let matches = command
        .try_get_matches_from(["--model-retry-max", "9", "--database-retry", "max=1"])
        .unwrap();
    let policy = |overrides: &Overrides| Policy::new().overridden_by(overrides).unwrap();
    let model = PolicyArgs::<Model>::from_arg_matches(&matches).unwrap();
    assert_eq!(policy(model.overrides()), Policy::new().max(9));
    let database = PolicyArgs::<Database>::from_arg_matches(&matches).unwrap();
    assert_eq!(database.clone().policy(), Ok(Policy::new().max(1)));
}
