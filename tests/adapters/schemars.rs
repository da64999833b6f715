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
        let listed = schema.get(key).and_then(Value::as_array);
        values.extend(listed.into_iter().flatten().cloned());
    }
    if let Some(items) = schema.get("items") {
        values.extend(named(items).into_iter().map(|item| json!([item])));
    }
    let others = schema.get("anyOf").and_then(Value::as_array);
    values.extend(others.into_iter().flatten().flat_map(named));
    values
}

fn properties(schema: &Value) -> Vec<(&String, &Value)> {
    let properties = schema["properties"].as_object();
    properties.expect("an object").iter().collect()
}

#[test]
fn all_keys_in_the_schema_are_accepted() {
    let schema = schema_for!(Overrides).to_value();
    let mut values = 0;
    for (key, schema) in properties(&schema) {
        let of_section = schema.get("properties").map(|_| properties(schema));
        let own = named(schema).into_iter();
        let entries = own.map(|value| json!({ key.as_str(): value }));
        let within = of_section
            .into_iter()
            .flatten()
            .flat_map(|(inner, schema)| {
                let values = named(schema).into_iter();
                values.map(move |value| json!({ key.as_str(): { inner.as_str(): value } }))
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
    let throttled = &schema["properties"]["throttled"];
    assert_eq!(throttled["additionalProperties"], false);
    let layer = schema_for!(Overrides).to_value();
    assert_eq!(layer["properties"]["max"].get("default"), None);
    // `0s` is not a limit.
    let pattern = |key| layer["properties"][key]["pattern"].as_str().unwrap();
    let of_limit = pattern("cap").replacen('^', "^(?=.*[1-9])", 1);
    for limit in ["timeout", "deadline", "total_timeout", "total_delay"] {
        assert_eq!(pattern(limit), of_limit, "{limit}");
    }
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
    let expected = json!({ "enabled": layer["properties"]["enabled"] });
    assert_eq!(named["properties"], expected);
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
    let expected = json!({ "pattern": "[^.:*]$", "not": { "enum": sections } });
    assert_eq!(schema["propertyNames"], expected);
    for name in sections
        .into_iter()
        .chain(["", "redis.", "redis::", "redis*"])
    {
        let read = serde_json::from_value::<Policies>(json!({ name: { "max": 2 } }));
        let built = Policies::of([(name, Overrides::new())]);
        let expected = built.expect_err(name).to_string();
        assert_eq!(read.expect_err(name).to_string(), expected);
    }
}

/// Documents refer to them by these.
#[test]
fn each_schema_has_a_unique_name() {
    fn check<T: JsonSchema>(title: &str, name: &str) {
        assert_eq!(schema_for!(T).to_value()["title"], title);
        assert_eq!(T::schema_id(), format!("retry_runtime::{name}"));
    }

    check::<Policy>("RetryPolicy", "Policy");
    check::<Overrides>("RetryOverrides", "Overrides");
    check::<Policies>("RetryPolicies", "Policies");
    check::<BreakerSettings>("RetryBreaker", "BreakerSettings");
    check::<LimiterSettings>("RetryLimiter", "LimiterSettings");
}
