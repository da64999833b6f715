use std::collections::HashMap;
use std::sync::Arc;

use crate::plan::Summary;

/// A plan's outputs and summary at one point in time. Validators get a snapshot by value.
///
/// ```
/// use retry_work::Plan;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), retry_work::plan::PlanError> {
/// let mut plan = Plan::<_, String>::new();
/// plan.add("search", [], async |[]| Ok(7));
/// plan.run().await?;
/// let snapshot = plan.snapshot();
/// drop(plan);
/// assert_eq!(snapshot.output("search"), Some(&7));
/// assert!(snapshot.summary().is_complete());
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct Snapshot<T> {
    outputs: Vec<(Arc<str>, Arc<T>)>,
    by_name: HashMap<Arc<str>, usize>,
    summary: Summary,
}

impl<T> Snapshot<T> {
    pub(crate) fn new(outputs: impl Iterator<Item = (Arc<str>, Arc<T>)>, summary: Summary) -> Self {
        let outputs: Vec<_> = outputs.collect();
        let names = outputs.iter().map(|(name, _)| Arc::clone(name));
        Self {
            by_name: names.zip(0..).collect(),
            outputs,
            summary,
        }
    }

    /// The output of the named subtask; `None` unless it completed.
    pub fn output(&self, name: &str) -> Option<&T> {
        let index = *self.by_name.get(name)?;
        self.outputs.get(index).map(|(_, output)| &**output)
    }

    /// The outputs of the completed subtasks with their names, in the order in which the subtasks were added.
    pub fn outputs(&self) -> impl Iterator<Item = (&str, &T)> {
        self.outputs
            .iter()
            .map(|(name, output)| (&**name, &**output))
    }

    /// The status of the subtasks.
    pub fn summary(&self) -> &Summary {
        &self.summary
    }
}

impl<T> Clone for Snapshot<T> {
    fn clone(&self) -> Self {
        Self {
            outputs: self.outputs.clone(),
            by_name: self.by_name.clone(),
            summary: self.summary.clone(),
        }
    }
}
