use std::process::{Command, Output};

use ::clap::{Args, FromArgMatches};
use retry_runtime::Policy;
use retry_runtime::configuration::{Overrides, PolicyArgs, PolicyFlags};

fn run(environment: &[(&str, &str)], arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_arguments"));
    let command = command.envs(environment.iter().copied()).args(arguments);
    command.output().expect("a program")
}

#[test]
fn the_command_line_wins_over_the_environment_and_a_keys_own_flag_over_the_one_for_all() {
    for (environment, arguments, expected) in [
        (&[][..], &[][..], "max=7, throttled(max=9)"),
        (&[("APP_RETRY_MAX", "4")], &[], "max=4, throttled(max=9)"),
        (
            &[("APP_RETRY", "max=4, cap=9s")],
            &[],
            "max=4, cap=9s, throttled(max=9)",
        ),
        (
            &[("APP_RETRY", "max=4, cap=9s"), ("APP_RETRY_MAX", "5")],
            &[],
            "max=5, cap=9s, throttled(max=9)",
        ),
        (
            &[("APP_RETRY_MAX", "5"), ("APP_RETRY_CAP", "8s")],
            &["--retry", "max=2"],
            "max=2, cap=8s, throttled(max=9)",
        ),
        (
            &[],
            &["--retry-max=6", "--retry", "max=2"],
            "max=6, throttled(max=9)",
        ),
        // Like an orchestrator that passes on unset variables.
        (
            &[("APP_RETRY_MAX", ""), ("APP_RETRY", " ")],
            &[],
            "max=7, throttled(max=9)",
        ),
        // Equal to the default, but set explicitly.
        (
            &[("APP_RETRY_MAX", "4")],
            &["--retry-max", "7"],
            "max=7, throttled(max=9)",
        ),
        (
            &[("APP_RETRY_THROTTLED", "base=5s")],
            &["--retry-throttled", "max=10"],
            "max=7, throttled(max=10)",
        ),
        (
            &[],
            &[
                "--retry-backoff",
                "[1s, 5s]",
                "--retry-jitter",
                "0.2",
                "--retry-floor",
                "1s",
                "--retry-hint",
                "clamp",
                "--retry-max-hint",
                "5m",
                "--retry-timeout",
                "30s",
                "--retry-deadline",
                "1h",
                "--retry-enabled",
                "false",
                "--retry-transient",
                "max=1",
                "--retry-timed-out",
                "max=2",
                "--retry-invalid",
                "max=3, backoff=fixed",
            ],
            "max=7, backoff=[1s, 5s], jitter=0.2, floor=1s, hint=clamp, max_hint=5m, timeout=30s, \
             deadline=1h, enabled=false, transient(max=1), throttled(max=9), timed_out(max=2), \
             invalid(max=3, backoff=fixed)",
        ),
        (
            &[],
            &["--retry-base", "2s", "--retry-factor", "3"],
            "max=7, base=2s, factor=3, throttled(max=9)",
        ),
    ] {
        let output = run(environment, arguments);
        let printed = String::from_utf8_lossy(&output.stdout);
        let expected: Policy = expected.parse().unwrap();
        assert_eq!(
            printed.trim(),
            expected.to_string(),
            "{environment:?} {arguments:?}"
        );
    }
}

#[test]
fn errors_name_the_flag() {
    for (environment, arguments, message) in [
        (
            &[][..],
            &["--retry", "maxx=5"][..],
            "error: invalid value 'maxx=5' for '--retry <KEYS>': unknown key `maxx`: did you mean `max`?",
        ),
        (
            &[],
            &["--retry", "max_attempts=5"],
            "error: invalid value 'max_attempts=5' for '--retry <KEYS>': unknown key `max_attempts`: use `max`, which counts retries, not attempts: write `max = 4`",
        ),
        (
            &[],
            &["--retry-max", "5, base=1s"],
            "error: invalid value '5, base=1s' for '--retry-max <COUNT>': `5` is a value without its key: write `max=5`",
        ),
        (
            &[],
            &["--retry-throttled", "deadline=1s"],
            "error: invalid value 'deadline=1s' for '--retry-throttled <KEYS>': unknown key `deadline` in `throttled(…)`: move `deadline` out of `throttled(…)`",
        ),
        (
            &[("APP_RETRY_BASE", "5")],
            &[],
            "error: invalid value '5' for '--retry-base <DURATION>': `base = 5` has no unit: write `\"5s\"` for seconds, or `ms`, `m`, `h`",
        ),
        (
            &[("APP_RETRY_MAX_RETRIES", "0")],
            &[],
            "error: environment variable `APP_RETRY_MAX_RETRIES`: unknown key `MAX_RETRIES`: use `max`, as in `max = 5`",
        ),
        (
            &[("APP_RETRY_ENABLE", "false")],
            &["--retry-max=1"],
            "error: environment variable `APP_RETRY_ENABLE`: unknown key `ENABLE`: did you mean `enabled`?",
        ),
        (
            &[("APP_RETRYMAX", "0"), ("APP_RETRY_Max", "0")],
            &[],
            "error: environment variable `APP_RETRY_Max`: unknown key `Max`: did you mean `max`?",
        ),
    ] {
        let output = run(environment, arguments);
        let printed = String::from_utf8_lossy(&output.stderr);
        assert_eq!(printed.lines().next(), Some(message), "{arguments:?}");
        assert_eq!(output.status.code(), Some(2));
    }
    // Detected only after merging, so the program reports it.
    let output = run(&[("APP_RETRY_CAP", "9s")], &["--retry-base", "10s"]);
    assert_eq!(
        String::from_utf8_lossy(&output.stdout).trim(),
        "`base = 10s` is above `cap = 9s`: lower the first or raise the second"
    );
}

#[test]
fn the_help_shows_flags_variables_and_defaults() {
    let help = run(&[], &["--help"]).stdout;
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
