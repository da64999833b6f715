//! JSON Schemas of policies, so that editors can complete and check configuration files.

use alloc::borrow::Cow;
use alloc::collections::BTreeMap;

use ::schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use retry_vocabulary::key::{Key, KeyScope, ValueType};
use retry_vocabulary::word::{self, Word};

use crate::configure::policies::Policies;
use crate::policy::{
    BreakerSettings, LimiterSettings, Overrides, Policy, PolicySettings, Settings,
};

macro_rules! schemas {
    ($($(#[$doc:meta])* $type:ident: $name:literal, $about:literal, $schema:expr;)*) => {$(
        $(#[$doc])*
        impl JsonSchema for $type {
            fn schema_name() -> Cow<'static, str> {
                $name.into()
            }

            fn schema_id() -> Cow<'static, str> {
                concat!("retry_runtime::", stringify!($type)).into()
            }

            fn json_schema(_: &mut SchemaGenerator) -> Schema {
                let mut schema = $schema;
                schema.insert("description".into(), $about.into());
                schema
            }
        }
    )*};
}

schemas! {
    /// A table of a policy's keys, with their descriptions, ranges and defaults.
    ///
    /// It describes the form that `Serialize` writes. It doesn't allow numbers as text, which `Deserialize` accepts.
    /// Some mistakes are only found by `Deserialize`: a `base` above its `cap`, a list with a `factor`, and durations
    /// finer than a nanosecond or longer than 584 years.
    Policy: "RetryPolicy", "The number of retries, and the pause before each",
        table(KeyScope::Policy, &Self::new().all_in_force());
    /// The table of a [`Policy`], without defaults, because other layers may set an unset key.
    Overrides: "RetryOverrides", "Retries, overriding other sources", keys(KeyScope::Policy);
    /// The table of [`BreakerSettings`].
    BreakerSettings: "RetryBreaker", "Settings of a breaker", keys(KeyScope::Section(Key::Breaker));
    /// The table of [`LimiterSettings`].
    LimiterSettings: "RetryLimiter", "Limits of a limiter", keys(KeyScope::Section(Key::Limiter));
    /// A table of [`Overrides`] by the names of calls, with the tables `breaker` and `limiter` in each, and `enabled`.
    Policies: "RetryPolicies", "Policies by the names of calls; `default` is for all", policies();
}

fn policies() -> Schema {
    let sections = KeyScope::Policy.keys().filter(|key| key.is_section());
    let sections: Vec<_> = sections.map(Key::name).collect();
    json_schema!({
        "type": "object",
        "properties": { Key::Enabled.name(): describe(Key::Enabled) },
        "propertyNames": { "pattern": "[^.:*]$", "not": { "enum": sections } },
        "additionalProperties": keys(KeyScope::Entry),
    })
}

/// A table of keys, without defaults.
fn keys(keys: KeyScope) -> Schema {
    table(keys, &PolicySettings::new())
}

/// A table of keys, with their defaults.
fn table(keys: KeyScope, defaults: &PolicySettings) -> Schema {
    let properties = keys.keys().map(|key| {
        let mut schema = describe(key);
        if let Some(default) = defaults.get(key) {
            let default = json_schema!({ "default": default });
            let default = default.as_object().cloned().unwrap_or_default();
            schema.ensure_object().extend(default);
        }
        (key.name(), schema)
    });
    let properties: BTreeMap<_, _> = properties.collect();
    json_schema!({ "type": "object", "properties": properties, "additionalProperties": false })
}

fn describe(key: Key) -> Schema {
    let mut schema = value(key);
    schema.insert("description".into(), key.description().into());
    schema
}

fn value(key: Key) -> Schema {
    match key.value_type() {
        ValueType::Count => json_schema!({ "anyOf": [
            { "type": "integer", "minimum": 0, "maximum": u32::MAX - 1 },
            { "const": "unlimited" },
        ] }),
        ValueType::Factor => json_schema!({ "type": "number", "minimum": 1 }),
        ValueType::Backoff => json_schema!({ "anyOf": [
            { "enum": word::Backoff::words() },
            { "type": "array", "items": duration(""), "minItems": 1 },
        ] }),
        ValueType::Jitter => json_schema!({ "anyOf": [
            { "enum": word::Jitter::words() },
            { "type": "number", "minimum": 0, "maximum": 1 },
            { "type": "string", "pattern": r"^\+(0(\.[0-9]+)?|1(\.0+)?)$" },
        ] }),
        ValueType::Hint => json_schema!({ "enum": word::Hint::words() }),
        ValueType::Bool => json_schema!({ "type": "boolean" }),
        ValueType::Share => json_schema!({ "type": "number", "exclusiveMinimum": 0, "maximum": 1 }),
        ValueType::Attempts => json_schema!({ "type": "integer", "minimum": 1 }),
        ValueType::Section | ValueType::Expr(_) => keys(KeyScope::Section(key)),
        ValueType::DurationAboveZero => duration("(?=.*[1-9])"),
        // All other keys of a policy are durations.
        _ => duration(""),
    }
}

/// A duration. `ahead` is a lookahead for the start of the pattern, or empty.
fn duration(ahead: &str) -> Schema {
    let parts = r"\s*([0-9]+(\.[0-9]+)?\s*(ns|us|µs|μs|ms|s|m|h|d|w)\s*)+";
    json_schema!({
        "type": "string",
        "pattern": format!("^{ahead}{parts}$"),
        "examples": ["250ms", "1.5s", "1h30m"],
    })
}
