//! Serialization of a plan's state.

use std::collections::BTreeMap;
use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;

use ::serde::de::{Deserialize, Deserializer, Error, IgnoredAny, MapAccess, Visitor};
use ::serde::ser::{Serialize, SerializeStruct, Serializer};

use crate::plan::PlanState;

/// The version of the format, incremented when programs that support only earlier versions would misread a state.
const VERSION: u32 = 1;

const KEYS: &[&str] = &["version", "completed", "failed", "dead_ends", "executions"];

impl<T: Serialize> Serialize for PlanState<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let completed: BTreeMap<&str, &T> = self
            .completed
            .iter()
            .map(|(name, output)| (name.as_str(), &**output))
            .collect();
        let mut table = serializer.serialize_struct("PlanState", KEYS.len())?;
        table.serialize_field("version", &VERSION)?;
        table.serialize_field("completed", &completed)?;
        table.serialize_field("failed", &self.failed)?;
        table.serialize_field("dead_ends", &self.dead_ends)?;
        table.serialize_field("executions", &self.executions)?;
        table.end()
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for PlanState<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_struct("PlanState", KEYS, StateVisitor(PhantomData))
    }
}

struct StateVisitor<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for StateVisitor<T> {
    type Value = PlanState<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the state of a plan")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<PlanState<T>, A::Error> {
        let (mut version, mut completed, mut failed) = (None, None, None);
        let (mut dead_ends, mut executions) = (None, None);
        while let Some(key) = map.next_key::<String>()? {
            match key.as_str() {
                "version" => read_once("version", &mut version, &mut map)?,
                "completed" => read_once("completed", &mut completed, &mut map)?,
                "failed" => read_once("failed", &mut failed, &mut map)?,
                "dead_ends" => read_once("dead_ends", &mut dead_ends, &mut map)?,
                "executions" => read_once("executions", &mut executions, &mut map)?,
                _ => {
                    let _: IgnoredAny = map.next_value()?;
                }
            }
        }
        // A state without a version has the fields of version 1.
        let version: u32 = version.unwrap_or(VERSION);
        if version == 0 || version > VERSION {
            return Err(A::Error::custom(format_args!(
                "version {version} of a plan's state is unknown: the latest is {VERSION}"
            )));
        }
        let Named(completed) = completed.ok_or_else(|| A::Error::missing_field("completed"))?;
        let Named(failed) = failed.ok_or_else(|| A::Error::missing_field("failed"))?;
        if let Some(name) = failed.keys().find(|name| completed.contains_key(*name)) {
            return Err(A::Error::custom(format_args!(
                "`{name}` has both completed and failed"
            )));
        }
        Ok(PlanState {
            completed: completed
                .into_iter()
                .map(|(name, output)| (name, Arc::new(output)))
                .collect(),
            failed,
            dead_ends: dead_ends.ok_or_else(|| A::Error::missing_field("dead_ends"))?,
            executions: executions.ok_or_else(|| A::Error::missing_field("executions"))?,
        })
    }
}

/// Reads the value of a field that must not be repeated.
fn read_once<'de, A: MapAccess<'de>, V: Deserialize<'de>>(
    field: &'static str,
    value: &mut Option<V>,
    map: &mut A,
) -> Result<(), A::Error> {
    if value.is_some() {
        return Err(A::Error::duplicate_field(field));
    }
    *value = Some(map.next_value()?);
    Ok(())
}

/// A value for each name. Names must not be repeated.
struct Named<V>(BTreeMap<String, V>);

impl<'de, V: Deserialize<'de>> Deserialize<'de> for Named<V> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(NamedVisitor(PhantomData))
    }
}

struct NamedVisitor<V>(PhantomData<V>);

impl<'de, V: Deserialize<'de>> Visitor<'de> for NamedVisitor<V> {
    type Value = Named<V>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a table of subtasks by name")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Named<V>, A::Error> {
        let mut named = BTreeMap::new();
        while let Some((name, value)) = map.next_entry::<String, V>()? {
            if named.contains_key(&name) {
                return Err(A::Error::custom(format_args!("`{name}` occurs twice")));
            }
            named.insert(name, value);
        }
        Ok(Named(named))
    }
}
