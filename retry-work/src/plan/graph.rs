//! The dependencies, by index in the plan. Nothing here recurses, because a chain may have any length.

use std::collections::HashMap;
use std::sync::Arc;

use crate::plan::node::Node;

pub(crate) struct Graph {
    /// The dependencies of each subtask.
    pub(crate) needs: Vec<Vec<usize>>,
    /// The dependents of each subtask.
    pub(crate) dependents: Vec<Vec<usize>>,
    /// The first dependency that is not a subtask, and the index of its dependent. Omitted from the lists above.
    pub(crate) unknown: Option<(usize, Arc<str>)>,
}

impl Graph {
    pub(crate) fn new<T, E, F: ?Sized>(
        nodes: &[Node<'_, T, E, F>],
        by_name: &HashMap<Arc<str>, usize>,
    ) -> Self {
        let mut graph = Self {
            needs: Vec::with_capacity(nodes.len()),
            dependents: vec![Vec::new(); nodes.len()],
            unknown: None,
        };
        for (index, node) in nodes.iter().enumerate() {
            let mut needs = Vec::with_capacity(node.subtask.needs.len());
            for name in &node.subtask.needs {
                match by_name.get(name) {
                    Some(dependency) => {
                        needs.push(*dependency);
                        graph.dependents[*dependency].push(index);
                    }
                    None => {
                        graph.unknown.get_or_insert((index, Arc::clone(name)));
                    }
                }
            }
            graph.needs.push(needs);
        }
        graph
    }

    /// Subtasks that each depend on the next, and the last one on the first; empty if there is no cycle.
    pub(crate) fn cycle(&self) -> Vec<usize> {
        let mut waiting: Vec<usize> = self.needs.iter().map(Vec::len).collect();
        let indices = 0..waiting.len();
        let mut free: Vec<usize> = indices.filter(|index| waiting[*index] == 0).collect();
        while let Some(index) = free.pop() {
            for &dependent in &self.dependents[index] {
                waiting[dependent] -= 1;
                if waiting[dependent] == 0 {
                    free.push(dependent);
                }
            }
        }
        // Each remaining subtask depends on another remaining one, so the walk must reach a cycle.
        let Some(mut index) = waiting.iter().position(|waiting| *waiting > 0) else {
            return Vec::new();
        };
        let mut path = Vec::new();
        let mut step_of = HashMap::new();
        while step_of.insert(index, path.len()).is_none() {
            path.push(index);
            let next = self.needs[index].iter().find(|next| waiting[**next] > 0);
            index = *next.unwrap_or(&index);
        }
        let start = path.iter().position(|step| *step == index).unwrap_or(0);
        path.split_off(start)
    }

    /// True for each pending subtask that depends on a failed one, directly or not.
    pub(crate) fn blocked<T, E, F: ?Sized>(&self, nodes: &[Node<'_, T, E, F>]) -> Vec<bool> {
        let mut blocked = vec![false; nodes.len()];
        let indices = 0..nodes.len();
        let mut reached: Vec<usize> = indices.filter(|index| nodes[*index].is_failed()).collect();
        while let Some(index) = reached.pop() {
            for dependent in &self.dependents[index] {
                if nodes[*dependent].is_pending() && !blocked[*dependent] {
                    blocked[*dependent] = true;
                    reached.push(*dependent);
                }
            }
        }
        blocked
    }
}
