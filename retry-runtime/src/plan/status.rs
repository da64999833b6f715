use crate::listed::listed;
use crate::plan::Plan;
use crate::plan::graph::Graph;
use crate::plan::node::{Node, State};

/// The status of a subtask.
#[derive(Clone, Copy)]
pub(crate) enum Status {
    Completed,
    Failed,
    DeadEnd,
    Blocked,
    Pending,
}

listed!(Status:
    Completed = "completed", Failed = "failed", DeadEnd = "dead_end", Blocked = "blocked",
    Pending = "pending"
);

impl<'a, T, E, F: ?Sized> Plan<'a, T, E, F> {
    /// The subtasks, with the status of each.
    pub(crate) fn statuses(
        &self,
        graph: &Graph,
    ) -> impl Iterator<Item = (&Node<'a, T, E, F>, Status)> {
        let blocked = graph.blocked(&self.nodes);
        self.nodes.iter().zip(blocked).map(|(node, blocked)| {
            let status = match &node.state {
                State::Completed(_) => Status::Completed,
                State::Failed { dead_end: true, .. } => Status::DeadEnd,
                State::Failed { .. } => Status::Failed,
                State::Pending if blocked => Status::Blocked,
                State::Pending => Status::Pending,
            };
            (node, status)
        })
    }
}
