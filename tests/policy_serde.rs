//! Policies in configuration files: TOML and JSON have the keys, the checks and the messages of the text.

use std::time::Duration;

use retry_runtime::{Backoff, Hint, Jitter, Overrides, Policy, Section};
use serde::{Deserialize, Serialize};

#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct Config {
    retry: Policy,
}

fn full() -> Policy {
    Policy::linear(Duration::from_millis(250))
        .unlimited()
        .factor(3.0)
        .cap(Duration::from_secs(90))
        .jitter(Jitter::Ratio(0.5))
        .hint(Hint::Ignore)
        .max_hint(Duration::from_secs(5))
        .deadline(Duration::from_mins(2))
        .transient(Section::new().jitter(Jitter::Ratio(1.0)))
        .throttled(
            Section::new()
                .max(10)
                .base(Duration::from_secs(5))
                .backoff(Backoff::None),
        )
}

const TOML: &str = r#"[retry]
max = "unlimited"
backoff = "linear"
base = "250ms"
factor = 3.0
cap = "1m30s"
jitter = 0.5
hint = "ignore"
max_hint = "5s"
deadline = "2m"

[retry.transient]
jitter = 1.0

[retry.throttled]
max = 10
backoff = "none"
base = "5s"
"#;

#[test]
fn toml_has_the_keys_of_the_text() {
    let config = Config { retry: full() };
    assert_eq!(toml::to_string(&config).unwrap(), TOML);
    assert_eq!(toml::from_str::<Config>(TOML).unwrap(), config);
    // What a table does not name is the default.
    let config: Config = toml::from_str("[retry]").unwrap();
    assert_eq!(config.retry, Policy::new());
}

#[test]
fn json_has_the_keys_of_the_text() {
    let json = r#"{"max":"unlimited","backoff":"linear","base":"250ms","factor":3.0,"cap":"1m30s","jitter":0.5,"hint":"ignore","max_hint":"5s","deadline":"2m","transient":{"jitter":1.0},"throttled":{"max":10,"backoff":"none","base":"5s"}}"#;
    assert_eq!(serde_json::to_string(&full()).unwrap(), json);
    assert_eq!(serde_json::from_str::<Policy>(json).unwrap(), full());
    assert_eq!(
        serde_json::to_string(&Policy::new()).unwrap(),
        r#"{"max":3,"backoff":"exp","base":"1s","factor":2.0,"cap":"30s","jitter":"full","hint":"honor","max_hint":"1m"}"#,
    );
    assert_eq!(serde_json::from_str::<Policy>("{}").unwrap(), Policy::new());
}

#[test]
fn numbers_may_be_integers_floats_or_text() {
    let expected = Policy::new().max(5).factor(3.0).jitter(Jitter::Ratio(1.0));
    for table in [
        "max = 5\nfactor = 3\njitter = 1",
        "max = 5\nfactor = 3.0\njitter = 1.0",
        "max = '5'\nfactor = '3'\njitter = '1'",
    ] {
        assert_eq!(
            toml::from_str::<Policy>(table).unwrap(),
            expected,
            "{table}"
        );
    }
    let policy: Policy = serde_json::from_str(r#"{"factor": 18446744073709551615}"#).unwrap();
    assert_eq!(policy, Policy::new().factor(18_446_744_073_709_551_615.0));
}

#[test]
fn a_table_is_a_layer() {
    let file: Overrides = toml::from_str("max = 8\nthrottled = { max = 20, base = '5s' }").unwrap();
    let environment: Overrides = serde_json::from_str(r#"{"throttled": {"base": "10s"}}"#).unwrap();
    let policy = Policy::fixed(Duration::from_millis(250))
        .overridden_by(&file)
        .and_then(|policy| policy.overridden_by(&environment))
        .unwrap();
    let throttled = Section::new().max(20).base(Duration::from_secs(10));
    assert_eq!(
        policy,
        Policy::fixed(Duration::from_millis(250))
            .max(8)
            .throttled(throttled)
    );
    assert_eq!(
        serde_json::to_string(&environment).unwrap(),
        r#"{"throttled":{"base":"10s"}}"#
    );
}

/// The same table in both formats, and its message.
const REFUSED: &[(&str, &str, &str)] = &[
    (
        "bakoff = 'exp'",
        r#"{"bakoff": "exp"}"#,
        "unknown key `bakoff`: did you mean `backoff`? The keys are max, backoff, base, factor, cap, jitter, hint, \
         max_hint, deadline, transient, throttled, timed_out, invalid",
    ),
    (
        "throtled = { max = 5 }",
        r#"{"throtled": {"max": 5}}"#,
        "unknown key `throtled`: did you mean `throttled`? The keys are max, backoff, base, factor, cap, jitter, hint, \
         max_hint, deadline, transient, throttled, timed_out, invalid",
    ),
    (
        "throttled = { deadline = '5s' }",
        r#"{"throttled": {"deadline": "5s"}}"#,
        "unknown key `throttled.deadline`: the keys are max, backoff, base, factor, cap, jitter",
    ),
    (
        "factor = 0.5",
        r#"{"factor": 0.5}"#,
        "`factor = 0.5` is out of range: a number from 1 up",
    ),
    (
        "throttled = { factor = 0 }",
        r#"{"throttled": {"factor": 0}}"#,
        "`throttled.factor = 0` is out of range: a number from 1 up",
    ),
    (
        "max = -1",
        r#"{"max": -1}"#,
        "`max = -1` is out of range: a whole number from 0 to 4294967294, or `unlimited`",
    ),
    (
        "max = 4294967295",
        r#"{"max": 4294967295}"#,
        "`max = 4294967295` is out of range: a whole number from 0 to 4294967294, or `unlimited`",
    ),
    (
        "max = true",
        r#"{"max": true}"#,
        "`max = true` is not a count: a whole number from 0 to 4294967294, or `unlimited`",
    ),
    (
        "base = 5",
        r#"{"base": 5}"#,
        "`base = 5` is not a duration: write a unit, as in `5s`",
    ),
    (
        "base = ['5s']",
        r#"{"base": ["5s"]}"#,
        "`base = […]` is not a duration, as `250ms`, `1.5s` and `1h30m` are",
    ),
    (
        "base = { secs = 5 }",
        r#"{"base": {"secs": 5}}"#,
        "`base = (…)` is not a duration, as `250ms`, `1.5s` and `1h30m` are",
    ),
    (
        "jitter = 2",
        r#"{"jitter": 2}"#,
        "`jitter = 2` is out of range: a ratio from 0 to 1",
    ),
    (
        "hint = 'honour'",
        r#"{"hint": "honour"}"#,
        "unknown word `honour` for `hint`: did you mean `honor`? The words are honor, clamp, ignore",
    ),
    (
        "throttled = 5",
        r#"{"throttled": 5}"#,
        "`throttled = 5` is not a section: write its keys, as in `throttled(max=5)`",
    ),
    (
        "cap = '500ms'",
        r#"{"cap": "500ms"}"#,
        "`base = 1s` is above `cap = 500ms`: lower the first or raise the second",
    ),
];

#[test]
fn refuses_as_the_text_does() {
    for (as_toml, as_json, message) in REFUSED {
        let error = toml::from_str::<Policy>(as_toml).unwrap_err();
        assert_eq!(error.message(), *message, "{as_toml}");
        let error = serde_json::from_str::<Policy>(as_json)
            .unwrap_err()
            .to_string();
        // The format adds where it stands.
        assert!(
            error.starts_with(&format!("{message} at line 1")),
            "{as_json}: {error}"
        );
    }
}

#[test]
fn refuses_what_only_json_can_say() {
    for (json, message) in [
        (r#"{"max": 5, "max": 5}"#, "`max` is named twice"),
        (
            r#"{"throttled": {}, "throttled": {}}"#,
            "`throttled` is named twice",
        ),
        (
            r#"{"base": null}"#,
            "`base = null` is not a duration, as `250ms`, `1.5s` and `1h30m` are",
        ),
        (
            r#""max=5""#,
            "invalid type: string \"max=5\", expected a table of a policy's keys",
        ),
    ] {
        let error = serde_json::from_str::<Policy>(json)
            .unwrap_err()
            .to_string();
        assert!(error.starts_with(message), "{json}: {error}");
    }
}
