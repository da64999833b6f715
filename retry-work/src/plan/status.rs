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

impl Status {
    pub(crate) const ALL: [Self; 5] = [
        Self::Completed,
        Self::Failed,
        Self::DeadEnd,
        Self::Blocked,
        Self::Pending,
    ];

    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Completed => "completed",
            Self::Failed => "failed",
            Self::DeadEnd => "dead_end",
            Self::Blocked => "blocked",
            Self::Pending => "pending",
        }
    }
}

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
