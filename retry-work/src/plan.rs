//! Subtasks with dependencies: a retry runs only the failed subtasks.
//!
//! [`Plan`] is the entry point; the [guide] explains its uses.
//!
//! [guide]: https://docs.rs/retry-runtime/latest/retry_runtime/guide/plans/index.html

mod dependencies;
mod end;
mod error;
mod event;
mod graph;
#[cfg(feature = "serde")]
mod journal;
mod mermaid;
mod node;
mod plan_run;
mod round_budget;
mod run;
mod run_until;
#[cfg(feature = "serde")]
mod saved;
mod snapshot;
#[cfg(feature = "serde")]
mod state;
mod status;
mod steps;
mod subtask;
mod summary;
mod validity;

use std::collections::HashMap;
use std::fmt;
use std::num::NonZeroUsize;
use std::sync::Arc;

use retry_runtime::macro_support::shown;

pub use dependencies::Dependencies;
pub use end::PlanEnd;
pub use error::PlanError;
pub use snapshot::Snapshot;
#[cfg(feature = "serde")]
pub use state::PlanState;
pub use subtask::{Local, Sendable, Subtask};
pub use summary::Summary;
pub use validity::Validity;

use retry_vocabulary::nearest;

use crate::plan::graph::Graph;
#[cfg(feature = "serde")]
use crate::plan::journal::Journal;
use crate::plan::node::Node;
use crate::plan::status::Status;

/// Named subtasks with dependencies. Failed subtasks run again; the others keep their results.
///
/// A subtask is an async closure that gets the outputs of the subtasks it depends on. All subtasks share one output
/// type `T` and one error type `E`, such as an enum, a `String` or a JSON value.
///
/// ```
/// use std::cell::Cell;
/// use retry_work::Plan;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), retry_work::plan::PlanError> {
/// let busy = Cell::new(true);
/// let mut plan = Plan::local();
/// plan.add("search", [], async |[]| Ok(String::from("page 7")));
/// plan.add("read", ["search"], async |[page]| {
///     if busy.replace(false) {
///         return Err("503 overloaded");
///     }
///     Ok(format!("text of {page}"))
/// });
/// plan.add("label", ["read"], async |[text]| Ok(format!("label of {text}")));
///
/// let summary = plan.run().await?;
/// assert_eq!(summary.failed, ["read"]);
/// assert_eq!(summary.blocked, ["label"]); // It depends on `read`, so it did not run.
/// assert_eq!(plan.output("search").unwrap(), "page 7");
///
/// let summary = plan.retry_failed().await?;
/// assert_eq!(summary.executions, 4); // `search` did not run again.
/// assert_eq!(plan.output("label").unwrap(), "label of text of page 7");
/// # Ok(())
/// # }
/// ```
///
/// - [`retry_failed`](Self::retry_failed) executes the failed subtasks, and then those that they had blocked.
/// - [`run_until`](Self::run_until) runs the plan, validates all results, and retries by a
///   [`Policy`](retry_runtime::Policy).
///
/// A failed subtask blocks only the subtasks that depend on it, directly or not. If it fails again when retried, it is
/// a dead end. All other outputs stay available.
///
/// `Plan::new` creates a plan whose futures are `Send`: subtasks, `T` and `E` must be `Send`, and `T` must be `Sync`,
/// because the subtasks that depend on an output share it. [`Plan::local`] requires none of this. The lifetime `'a`
/// lets the closures borrow anything that outlives the plan, such as a client.
///
/// If a run's future is dropped or panics, the running subtasks are dropped. Completed subtasks stay completed. A
/// subtask that was being retried stays failed and keeps its error. The others run when the plan is run again.
pub struct Plan<'a, T, E, F: ?Sized = Sendable<'a, T, E>> {
    name: Arc<str>,
    concurrency: NonZeroUsize,
    nodes: Vec<Node<'a, T, E, F>>,
    /// The index of the first node with each name.
    by_name: HashMap<Arc<str>, usize>,
    /// True if only an external executor runs the plan.
    is_driven: bool,
    /// The dependencies, once an external executor has needed them.
    graph: Option<Arc<Graph>>,
    #[cfg(feature = "serde")]
    journal: Option<Journal<'a, T>>,
    executions: u64,
}

const DEFAULT_CONCURRENCY: NonZeroUsize = NonZeroUsize::new(8).unwrap();

impl<T, E> Plan<'_, T, E> {
    /// Creates an empty plan. Its futures are `Send`.
    pub fn new() -> Self {
        Self::empty()
    }
}

impl<'a, T: 'a, E: 'a> Plan<'a, T, E, Local<'a, T, E>> {
    /// Creates an empty plan whose futures need not be `Send`, for tasks that stay on one thread.
    ///
    /// Subtasks of this plan may own the values they use; in a plan from `Plan::new`, they must clone or borrow them.
    pub fn local() -> Self {
        Self::empty()
    }
}

impl<T, E> Default for Plan<'_, T, E> {
    fn default() -> Self {
        Self::new()
    }
}

impl<'a, T, E, F: ?Sized> Plan<'a, T, E, F> {
    fn empty() -> Self {
        Self {
            name: Arc::from("plan"),
            concurrency: DEFAULT_CONCURRENCY,
            is_driven: false,
            nodes: Vec::new(),
            by_name: HashMap::new(),
            graph: None,
            #[cfg(feature = "serde")]
            journal: None,
            executions: 0,
        }
    }

    /// Sets the plan's name in the log, where it precedes the subtask's name. Default `"plan"`.
    pub fn name(mut self, name: impl Into<Arc<str>>) -> Self {
        self.name = name.into();
        self
    }

    /// Sets the maximum number of subtasks that run at once. 0 counts as 1. Default 8.
    pub fn concurrency(mut self, limit: usize) -> Self {
        self.concurrency = NonZeroUsize::new(limit).unwrap_or(NonZeroUsize::MIN);
        self
    }

    /// Leaves the plan to your own executor: [`run`](Self::run), [`retry_failed`](Self::retry_failed) and
    /// [`run_until`](Self::run_until) then fail without executing anything.
    ///
    /// Use it for plans in a replaying engine. The methods above poll several subtasks at once, so the engine could
    /// assign one subtask's outcome to another subtask.
    ///
    /// ```
    /// use retry_work::Plan;
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), retry_work::plan::PlanError> {
    /// let mut plan = Plan::<u32, String>::new().driven();
    /// plan.add("two", [], async |[]| Ok(2));
    /// assert!(plan.run().await.is_err());
    ///
    /// let outcome = plan.start("two")?.await;
    /// plan.complete("two", outcome)?;
    /// assert_eq!(plan.output("two"), Some(&2));
    /// # Ok(())
    /// # }
    /// ```
    pub fn driven(mut self) -> Self {
        self.is_driven = true;
        self
    }

    /// Adds a subtask created by [`Subtask::new`] or [`Subtask::local`]. [`add`](Plan::add) creates and adds one.
    pub fn push(&mut self, subtask: Subtask<'a, T, E, F>) {
        let name = Arc::clone(&subtask.name);
        self.by_name.entry(name).or_insert(self.nodes.len());
        self.nodes.push(Node::new(subtask));
        self.graph = None;
    }

    /// Removes all subtasks after the first `len`.
    fn truncate(&mut self, len: usize) {
        self.nodes.truncate(len);
        self.by_name.retain(|_, node| *node < len);
        self.graph = None;
    }

    /// Checks that the plan can run: names are unique, every dependency is a subtask, and none depends on itself,
    /// directly or not. Every run checks this before it executes anything.
    ///
    /// ```
    /// use retry_work::Plan;
    ///
    /// let mut plan = Plan::<(), String>::new();
    /// plan.add("search", ["label"], async |[_]| Ok(()));
    /// plan.add("extract", ["search"], async |[_]| Ok(()));
    /// plan.add("label", ["extract"], async |[_]| Ok(()));
    /// assert_eq!(
    ///     plan.check().unwrap_err().to_string(),
    ///     "each subtask waits for the next and none can begin: \
    ///      search → label → extract → search",
    /// );
    /// ```
    pub fn check(&self) -> Result<(), PlanError> {
        self.checked().map(drop)
    }

    fn checked(&self) -> Result<Graph, PlanError> {
        for (index, node) in self.nodes.iter().enumerate() {
            let (name, first) = (node.name(), self.by_name[node.name()]);
            if first != index {
                let (first, second) = (first + 1, index + 1);
                return Err(PlanError(format!(
                    "the subtasks added as number {first} and number {second} are both named `{name}`: \
                     give each a unique name"
                )));
            }
        }
        let graph = Graph::new(&self.nodes, &self.by_name);
        if let Some((node, name)) = &graph.unknown {
            let remedy = self.did_you_mean(name);
            let remedy = remedy.unwrap_or("add it, or remove the dependency".into());
            let subtask = self.nodes[*node].name();
            return Err(PlanError(format!(
                "{subtask} → {name}: there is no subtask `{name}`; {remedy}"
            )));
        }
        let cycle = graph.cycle();
        let Some(first) = cycle.first() else {
            return Ok(graph);
        };
        let names = cycle.iter().chain([first]);
        let names: Vec<_> = names.map(|node| &**self.nodes[*node].name()).collect();
        Err(PlanError(format!(
            "each subtask waits for the next and none can begin: {}",
            names.join(" → ")
        )))
    }

    /// A question that suggests the nearest subtask name.
    fn did_you_mean(&self, name: &str) -> Option<String> {
        // Sorted, so that the message is the same each time if two names are equally similar.
        let mut known: Vec<&str> = self.by_name.keys().map(|name| &**name).collect();
        known.sort_unstable();
        nearest(name, &known).map(|name| format!("did you mean `{name}`?"))
    }

    /// The index of the subtask with this name.
    fn index_of(&self, name: &str) -> Result<usize, PlanError> {
        self.by_name.get(name).copied().ok_or_else(|| {
            let guess = self.did_you_mean(name).map(|guess| format!("; {guess}"));
            let guess = guess.unwrap_or_default();
            PlanError(format!("there is no subtask `{name}`{guess}"))
        })
    }

    /// The dependencies, computed once for the current subtasks.
    fn graph(&mut self) -> Result<Arc<Graph>, PlanError> {
        let graph = match self.graph.take() {
            Some(graph) => graph,
            None => Arc::new(self.checked()?),
        };
        Ok(Arc::clone(self.graph.insert(graph)))
    }

    /// The dependencies of a plan that this crate's executor may run.
    fn runnable(&self) -> Result<Graph, PlanError> {
        if self.is_driven {
            return Err(PlanError(String::from(
                "another executor drives the plan: use `ready`, `start` and `complete`",
            )));
        }
        self.checked()
    }

    /// The number of subtasks.
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Returns true if the plan has no subtasks.
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    fn node(&self, name: &str) -> Option<&Node<'a, T, E, F>> {
        self.by_name.get(name).map(|node| &self.nodes[*node])
    }

    /// The output of the named subtask; `None` unless it completed.
    pub fn output(&self, name: &str) -> Option<&T> {
        self.node(name)?.output().map(|output| &**output)
    }

    /// The outputs of the completed subtasks with their names, in the order in which the subtasks were added.
    pub fn outputs(&self) -> impl Iterator<Item = (&str, &T)> {
        self.nodes
            .iter()
            .filter_map(|node| Some((&**node.name(), &**node.output()?)))
    }

    /// The error of the named subtask; `None` unless it failed. Loaded failures have no error, because errors are saved
    /// as text.
    pub fn error(&self, name: &str) -> Option<&E> {
        self.node(name)?.error()
    }

    /// The errors of the failed subtasks with their names, in the order in which the subtasks were added.
    pub fn errors(&self) -> impl Iterator<Item = (&str, &E)> {
        self.nodes
            .iter()
            .filter_map(|node| Some((&**node.name(), node.error()?)))
    }

    /// The status of the subtasks so far.
    pub fn summary(&self) -> Summary {
        let graph = Graph::new(&self.nodes, &self.by_name);
        let mut summary = Summary {
            executions: self.executions,
            ..Summary::default()
        };
        for (node, status) in self.statuses(&graph) {
            let name = node.name().to_string();
            match status {
                Status::Completed => summary.completed.push(name),
                Status::Failed => summary.failed.push(name),
                Status::DeadEnd => {
                    summary.dead_ends.push(name.clone());
                    summary.failed.push(name);
                }
                Status::Blocked => summary.blocked.push(name),
                Status::Pending => summary.pending.push(name),
            }
        }
        summary
    }

    /// The outputs and the summary, as a value that later runs don't change and that may outlive the plan. The outputs
    /// are shared with the plan, not copied.
    pub fn snapshot(&self) -> Snapshot<T> {
        let completed = |node: &Node<'a, T, E, F>| {
            let output = node.output()?;
            Some((Arc::clone(node.name()), Arc::clone(output)))
        };
        Snapshot::new(self.nodes.iter().filter_map(completed), self.summary())
    }
}

impl<T, E, F: ?Sized> fmt::Debug for Plan<'_, T, E, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Plan({}: {})", shown(&self.name), self.summary())
    }
}
