use std::collections::BTreeSet;

use ::schemars::{JsonSchema, schema_for};
use retry_runtime::configuration::{BreakerSettings, LimiterSettings, Overrides};
use retry_runtime::{Policies, Policy};
use serde_json::{Value, json};

/// The values that a schema names: its default, its examples, its words, the ends of its range.
fn named(schema: &Value) -> Vec<Value> {
    let mut values = Vec::new();
    for key in ["default", "const", "minimum", "maximum"] {
        values.extend(schema.get(key).cloned());
    }
    for key in ["enum", "examples"] {
        values.extend(
            schema
                .get(key)
                .and_then(Value::as_array)
                .cloned()
                .into_iter()
                .flatten(),
        );
    }
    if let Some(items) = schema.get("items") {
        values.extend(named(items).into_iter().map(|item| json!([item])));
    }
    for other in schema
        .get("anyOf")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
    {
        values.extend(named(other));
    }
    values
}

fn properties(schema: &Value) -> Vec<(&String, &Value)> {
    schema["properties"]
        .as_object()
        .expect("an object")
        .iter()
        .collect()
}

#[test]
fn all_keys_in_the_schema_are_accepted() {
    let schema = schema_for!(Overrides).to_value();
    let mut values = 0;
    for (key, schema) in properties(&schema) {
        let of_section = schema
            .get("properties")
            .map(|_| properties(schema))
            .unwrap_or_default();
        let entries = named(schema)
            .into_iter()
            .map(|value| json!({ key.as_str(): value }));
        let within = of_section.into_iter().flat_map(|(inner, schema)| {
            named(schema)
                .into_iter()
                .map(move |value| json!({ key.as_str(): { inner.as_str(): value } }))
        });
        for table in entries.chain(within) {
            let read = serde_json::from_value::<Overrides>(table.clone());
            assert!(read.is_ok(), "{table}: {read:?}");
            values += 1;
        }
    }
    assert!(values > 100, "{values}");
}

#[test]
fn the_schema_has_keys_descriptions_and_defaults() {
    let every_key: Policy =
        "floor=1s, timeout=1s, deadline=1s, total_timeout=1s, total_delay=1s, enabled=false, transient(max=1), \
        throttled(max=1), timed_out(max=1), invalid(max=1), rejected(max=1)"
            .parse()
            .unwrap();
    let written = serde_json::to_value(every_key).unwrap();
    let schema = schema_for!(Policy).to_value();
    let keys =
        |value: &Value| -> BTreeSet<_> { value.as_object().unwrap().keys().cloned().collect() };
    assert_eq!(keys(&schema["properties"]), keys(&written));
    let defaults = serde_json::to_value(Policy::new()).unwrap();
    for (key, schema) in properties(&schema) {
        assert!(schema["description"].is_string(), "{key}");
        assert_eq!(schema.get("default"), defaults.get(key), "{key}");
    }
    assert_eq!(schema["additionalProperties"], false);
    assert_eq!(
        schema["properties"]["throttled"]["additionalProperties"],
        false
    );
    let layer = schema_for!(Overrides).to_value();
    assert_eq!(layer["properties"]["max"].get("default"), None);
    // `0s` is not a limit.
    let pattern = |key| layer["properties"][key]["pattern"].as_str().unwrap();
    let of_limit = pattern("cap").replacen('^', "^(?=.*[1-9])", 1);
    assert_eq!(pattern("timeout"), of_limit);
    assert_eq!(pattern("deadline"), of_limit);
    assert_eq!(pattern("total_timeout"), of_limit);
    assert_eq!(pattern("total_delay"), of_limit);
}

#[test]
fn an_entry_of_named_policies_is_a_layer() {
    let named = schema_for!(Policies).to_value();
    let layer = schema_for!(Overrides).to_value();
    let mut keys = named["additionalProperties"]["properties"].clone();
    // The settings of shared protections are next to the policy.
    for (key, numbers) in [
        ("breaker", schema_for!(BreakerSettings)),
        ("limiter", schema_for!(LimiterSettings)),
    ] {
        let shared = keys.as_object_mut().and_then(|keys| keys.remove(key));
        let shared = shared.expect(key);
        assert_eq!(shared["properties"], numbers.to_value()["properties"]);
        assert_eq!(shared["additionalProperties"], false);
    }
    assert_eq!(keys, layer["properties"]);
    assert_eq!(
        named["properties"],
        json!({ "enabled": layer["properties"]["enabled"] })
    );
    let (breaker, limiter) = (json!({ "ratio": 0.8 }), json!({ "most": 5 }));
    let written = json!({ "max": 2, "breaker": breaker, "limiter": limiter });
    let written = json!({ "enabled": true, "default": written });
    let policies: Policies = serde_json::from_value(written).unwrap();
    assert_eq!(policies.find("redis"), Policy::new().max(2));
    assert_eq!(policies.breaker("redis"), "ratio=0.8".parse().unwrap());
    assert_eq!(policies.limiter("redis"), "most=5".parse().unwrap());
}

#[test]
fn no_entry_has_a_name_that_parsing_rejects() {
    let schema = schema_for!(Policies).to_value();
    let sections = ["transient", "throttled", "timed_out", "invalid", "rejected"];
    assert_eq!(
        schema["propertyNames"],
        json!({ "pattern": "[^.:*]$", "not": { "enum": sections } })
    );
    for name in sections
        .into_iter()
        .chain(["", "redis.", "redis::", "redis*"])
    {
        let read = serde_json::from_value::<Policies>(json!({ name: { "max": 2 } }));
        let built = Policies::of([(name, Overrides::new())]);
        assert_eq!(
            read.expect_err(name).to_string(),
            built.expect_err(name).to_string()
        );
    }
}

/// Documents refer to them by these.
#[test]
fn each_schema_has_a_unique_name() {
    fn name_and_id<T: JsonSchema>() -> (Value, String) {
        let schema = schema_for!(T).to_value();
        (schema["title"].clone(), T::schema_id().into_owned())
    }

    let named = |name: &str, id: &str| (json!(name), id.to_owned());
    for (found, expected) in [
        (
            name_and_id::<Policy>(),
            named("RetryPolicy", "retry_runtime::Policy"),
        ),
        (
            name_and_id::<Overrides>(),
            named("RetryOverrides", "retry_runtime::Overrides"),
        ),
        (
            name_and_id::<Policies>(),
            named("RetryPolicies", "retry_runtime::Policies"),
        ),
        (
            name_and_id::<BreakerSettings>(),
            named("RetryBreaker", "retry_runtime::BreakerSettings"),
        ),
        (
            name_and_id::<LimiterSettings>(),
            named("RetryLimiter", "retry_runtime::LimiterSettings"),
        ),
    ] {
        assert_eq!(found, expected);
    }
}
