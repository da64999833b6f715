use std::collections::{BTreeMap, HashSet};
use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;

use ::serde::de::{Deserialize, Deserializer, Error, MapAccess, Visitor};
use ::serde::ser::{Serialize, SerializeStruct, Serializer};

use crate::plan::node::{State, SubtaskFailure};
use crate::plan::{Plan, PlanError};

/// What became of a plan's subtasks, by name. With the feature `serde`, it can be saved and loaded.
///
/// It is a table of `completed` (name to output), `failed` (name to the text of the error), `dead_ends` (names) and
/// `executions` (a number). What blocked and pending subtasks are follows from the plan.
///
/// ```
/// use retry_runtime::Plan;
/// use retry_runtime::plan::PlanState;
///
/// fn plan() -> Plan<'static, u32, String> {
///     let mut plan = Plan::new();
///     plan.add("search", [], async |[]| Ok(7));
///     plan.add("extract", ["search"], async |[_]| Err(String::from("503 overloaded")));
///     plan
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let mut first = plan();
/// first.run().await?;
/// let saved = serde_json::to_string(&first.state())?;
/// assert_eq!(
///     saved,
///     r#"{"completed":{"search":7},"failed":{"extract":"503 overloaded"},"dead_ends":[],"executions":2}"#
/// );
///
/// let mut second = plan();
/// second.load(serde_json::from_str(&saved)?)?;
/// assert_eq!(second.summary(), first.summary());
/// let summary = second.retry_failed().await?;
/// assert_eq!(summary.executions, 3); // `search` did not run again.
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct PlanState<T> {
    completed: BTreeMap<String, Arc<T>>,
    failed: BTreeMap<String, String>,
    dead_ends: Vec<String>,
    executions: u64,
}

impl<T> PlanState<T> {
    /// The names of all subtasks in the state. The plan must have them all before it loads the state, including those
    /// that a validator had added.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        let names = self.completed.keys().chain(self.failed.keys());
        let dead_ends = self.dead_ends.iter();
        let dead_ends = dead_ends.filter(|name| !self.failed.contains_key(*name));
        names.chain(dead_ends).map(String::as_str)
    }
}

impl<T, E, F: ?Sized> Plan<'_, T, E, F> {
    /// The state of the subtasks so far, for saving. The outputs are shared with the plan, not copied.
    pub fn state(&self) -> PlanState<T>
    where
        E: fmt::Display,
    {
        let mut state = PlanState {
            completed: BTreeMap::new(),
            failed: BTreeMap::new(),
            dead_ends: Vec::new(),
            executions: self.executions,
        };
        for node in &self.nodes {
            let name = node.name().to_string();
            match &node.state {
                State::Pending => {}
                State::Completed(output) => {
                    state.completed.insert(name, Arc::clone(output));
                }
                State::Failed { failure, dead_end } => {
                    if *dead_end {
                        state.dead_ends.push(name.clone());
                    }
                    state.failed.insert(name, failure.to_string());
                }
            }
        }
        state
    }

    /// Goes on from a saved state. Completed subtasks have their outputs and do not run again. Failed subtasks and dead
    /// ends are failed and dead ends again. The executions are added to this plan's. Subtasks that are not in the state
    /// stay as they were.
    ///
    /// If the state names subtasks that the plan doesn't have, the error names them all and nothing is loaded.
    pub fn load(&mut self, state: PlanState<T>) -> Result<(), PlanError> {
        let unknown: Vec<&str> = state
            .names()
            .filter(|name| !self.index.contains_key(*name))
            .collect();
        if !unknown.is_empty() {
            return Err(PlanError::not_in_plan(&unknown));
        }
        let dead_ends: HashSet<&str> = state.dead_ends.iter().map(String::as_str).collect();
        for (name, text) in state.failed {
            let dead_end = dead_ends.contains(name.as_str());
            let failure = SubtaskFailure::Loaded(text);
            self.set(&name, State::Failed { failure, dead_end });
        }
        for (name, output) in state.completed {
            self.set(&name, State::Completed(output));
        }
        self.executions = self.executions.saturating_add(state.executions);
        Ok(())
    }

    fn set(&mut self, name: &str, state: State<T, E>) {
        if let Some(place) = self.index.get(name) {
            let node = &mut self.nodes[*place];
            node.state = state;
            node.executions = node.executions.max(1);
        }
    }
}

impl<T: Serialize> Serialize for PlanState<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let completed: BTreeMap<&str, &T> = self
            .completed
            .iter()
            .map(|(name, output)| (name.as_str(), &**output))
            .collect();
        let mut table = serializer.serialize_struct("PlanState", KEYS.len())?;
        table.serialize_field("completed", &completed)?;
        table.serialize_field("failed", &self.failed)?;
        table.serialize_field("dead_ends", &self.dead_ends)?;
        table.serialize_field("executions", &self.executions)?;
        table.end()
    }
}

const KEYS: &[&str] = &["completed", "failed", "dead_ends", "executions"];

impl<'de, T: Deserialize<'de>> Deserialize<'de> for PlanState<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_struct("PlanState", KEYS, TableVisitor(PhantomData))
    }
}

struct TableVisitor<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for TableVisitor<T> {
    type Value = PlanState<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the state of a plan")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<PlanState<T>, A::Error> {
        let mut completed: Option<BTreeMap<String, T>> = None;
        let (mut failed, mut dead_ends, mut executions) = (None, None, None);
        while let Some(key) = map.next_key::<String>()? {
            match key.as_str() {
                "completed" => completed = Some(map.next_value()?),
                "failed" => failed = Some(map.next_value()?),
                "dead_ends" => dead_ends = Some(map.next_value()?),
                "executions" => executions = Some(map.next_value()?),
                _ => return Err(A::Error::unknown_field(&key, KEYS)),
            }
        }
        let completed = completed.ok_or_else(|| A::Error::missing_field("completed"))?;
        let shared = |(name, output)| (name, Arc::new(output));
        Ok(PlanState {
            completed: completed.into_iter().map(shared).collect(),
            failed: failed.ok_or_else(|| A::Error::missing_field("failed"))?,
            dead_ends: dead_ends.ok_or_else(|| A::Error::missing_field("dead_ends"))?,
            executions: executions.ok_or_else(|| A::Error::missing_field("executions"))?,
        })
    }
}
