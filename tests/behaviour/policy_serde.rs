//! Policies in configuration files: TOML and JSON have the same keys, checks and messages as text.

use retry_runtime::configuration::Overrides;
use serde::{Deserialize, Serialize};
use support::prelude::*;

#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct Config {
    retry: Policy,
}

fn full() -> Policy {
    Policy::linear(millis(250))
        .max(u32::MAX)
        .factor(3.0)
        .cap(secs(90))
        .floor(millis(100))
        .jitter(Jitter::Ratio(0.5))
        .hint(Hint::Ignore)
        .max_hint(secs(5))
        .timeout(secs(45))
        .deadline(Duration::from_mins(2))
        .transient(
            Section::new()
                .backoff(Backoff::list(&[1, 5].map(secs)))
                .jitter(Jitter::Ratio(1.0)),
        )
        .throttled(Section::new().max(10).base(secs(5)).backoff(Backoff::None))
}

const TOML: &str = r#"[retry]
max = "unlimited"
backoff = "linear"
base = "250ms"
factor = 3.0
cap = "1m30s"
floor = "100ms"
jitter = 0.5
hint = "ignore"
max_hint = "5s"
timeout = "45s"
deadline = "2m"

[retry.transient]
backoff = ["1s", "5s"]
jitter = 1.0

[retry.throttled]
max = 10
backoff = "none"
base = "5s"
"#;

#[test]
fn toml_and_json_have_the_keys_of_the_text() {
    let config = Config { retry: full() };
    assert_eq!(toml::to_string(&config).unwrap(), TOML);
    assert_eq!(toml::from_str::<Config>(TOML).unwrap(), config);
    let json = r#"{"max":"unlimited","backoff":"linear","base":"250ms","factor":3.0,"cap":"1m30s","floor":"100ms","jitter":0.5,"hint":"ignore","max_hint":"5s","timeout":"45s","deadline":"2m","transient":{"backoff":["1s","5s"],"jitter":1.0},"throttled":{"max":10,"backoff":"none","base":"5s"}}"#;
    assert_eq!(serde_json::to_string(&full()).unwrap(), json);
    assert_eq!(serde_json::from_str::<Policy>(json).unwrap(), full());
    // A key that is missing in a table has its default, which is written, too.
    let config: Config = toml::from_str("[retry]").unwrap();
    assert_eq!(config.retry, Policy::new());
    assert_eq!(serde_json::from_str::<Policy>("{}").unwrap(), Policy::new());
    assert_eq!(
        serde_json::to_string(&Policy::new()).unwrap(),
        r#"{"max":3,"backoff":"exp","base":"1s","factor":2.0,"cap":"30s","jitter":"full","hint":"honor","max_hint":"2m"}"#,
    );
}

#[test]
fn numbers_may_be_integers_floats_or_text() {
    let expected = Policy::new().max(5).factor(3.0).jitter(Jitter::Ratio(1.0));
    for table in [
        "max = 5\nfactor = 3\njitter = 1",
        "max = 5.0\nfactor = 3.0\njitter = 1.0",
        "max = '5'\nfactor = '3'\njitter = '1'",
    ] {
        let policy: Policy = toml::from_str(table).unwrap();
        assert_eq!(policy, expected, "{table}");
    }
    let policy: Policy = serde_json::from_str(r#"{"factor": 18446744073709551615}"#).unwrap();
    assert_eq!(policy, Policy::new().factor(18_446_744_073_709_551_615.0));
}

#[test]
fn a_table_is_a_layer() {
    let file: Overrides = toml::from_str("max = 8\nthrottled = { max = 20, base = '5s' }").unwrap();
    let environment: Overrides = serde_json::from_str(r#"{"throttled": {"base": "10s"}}"#).unwrap();
    let policy = Policy::fixed(millis(250))
        .overridden_by(&file)
        .and_then(|policy| policy.overridden_by(&environment))
        .unwrap();
    let throttled = Section::new().max(20).base(secs(10));
    let expected = Policy::fixed(millis(250)).max(8).throttled(throttled);
    assert_eq!(policy, expected);
    let expected = r#"{"throttled":{"base":"10s"}}"#;
    assert_eq!(serde_json::to_string(&environment).unwrap(), expected);
}

#[test]
fn refuses_as_the_text_does() {
    for (text, as_toml, as_json) in rows! {
        "bakoff=exp", "bakoff = 'exp'", r#"{"bakoff": "exp"}"#;
        "throtled(max=5)", "throtled = { max = 5 }", r#"{"throtled": {"max": 5}}"#;
        "throttled(deadline=5s)", "throttled = { deadline = '5s' }", r#"{"throttled": {"deadline": "5s"}}"#;
        "factor=0.5", "factor = 0.5", r#"{"factor": 0.5}"#;
        "max=-1", "max = -1", r#"{"max": -1}"#;
        "max=4294967295", "max = 4294967295", r#"{"max": 4294967295}"#;
        "max=true", "max = true", r#"{"max": true}"#;
        "base=5", "base = 5", r#"{"base": 5}"#;
        "base=[5s]", "base = ['5s']", r#"{"base": ["5s"]}"#;
        "backoff=[1s, 5]", "backoff = ['1s', 5]", r#"{"backoff": ["1s", 5]}"#;
        "backoff=[]", "backoff = []", r#"{"backoff": []}"#;
        "floor=1m", "floor = '1m'", r#"{"floor": "1m"}"#;
        "base(secs=5)", "base = { secs = 5 }", r#"{"base": {"secs": 5}}"#;
        "throttled=5", "throttled = 5", r#"{"throttled": 5}"#;
    } {
        let message = text.parse::<Policy>().unwrap_err().to_string();
        let error = toml::from_str::<Policy>(as_toml).unwrap_err();
        assert_eq!(error.message(), message, "{as_toml}");
        let error = serde_json::from_str::<Policy>(as_json)
            .unwrap_err()
            .to_string();
        // The format adds the position.
        let expected = format!("{message} at line 1");
        assert!(error.starts_with(&expected), "{as_json}: {error}");
    }
    // The text has no list within a list.
    let message =
        "`backoff` can't be `[…]`: it takes a duration, as in \"250ms\", \"1.5s\" or \"1h30m\"";
    let error = toml::from_str::<Policy>("backoff = ['1s', ['5s']]").unwrap_err();
    assert_eq!(error.message(), message);
    let error = serde_json::from_str::<Policy>(r#"{"backoff": ["1s", ["5s"]]}"#).unwrap_err();
    assert!(error.to_string().starts_with(message), "{error}");
}

#[test]
fn an_error_points_at_the_place_of_its_value() {
    for (text, place) in [
        ("[retry]\nmax = 5\nbase = '5'", "'5'"),
        ("[retry]\nmax = 5\nmax_attempts = 7", "7"),
        ("[retry.throttled]\nmax = 5\nfactor = 0", "0"),
        ("[retry]\nthrotled = { max = 5 }", "{ max = 5 }"),
        ("[retry]\nbackoff = ['1s', 'x']", "['1s', 'x']"),
    ] {
        let error = toml::from_str::<Config>(text).unwrap_err();
        assert_eq!(error.span().map(|span| &text[span]), Some(place), "{error}");
    }
}

#[test]
fn rejects_values_that_only_json_has() {
    for (json, message) in rows! {
        r#"{"max": 5, "max": 5}"#, "`max` is given twice";
        r#"{"throttled": {}, "throttled": {}}"#, "`throttled` is given twice";
        r#"{"base": null}"#, "`base` can't be `null`: it takes a duration, as in \"250ms\"";
        r#""max=5""#, "invalid type: string \"max=5\", expected a table of keys";
    } {
        let error = serde_json::from_str::<Policy>(json)
            .unwrap_err()
            .to_string();
        assert!(error.starts_with(message), "{json}: {error}");
    }
}
