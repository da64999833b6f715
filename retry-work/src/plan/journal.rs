//! Records the changes to subtasks while a plan runs.

use std::fmt;

use crate::plan::{Plan, PlanState};

/// The recorder of changes to subtasks.
pub(crate) struct Journal<'a, T> {
    record: Box<dyn FnMut(PlanState<T>) + Send + 'a>,
    /// The number of executions recorded so far.
    pub(crate) executions: u64,
}

impl<'a, T, E: fmt::Display, F: ?Sized> Plan<'a, T, E, F> {
    /// Passes each subtask's result to `record` as soon as the subtask has ended, before anything else starts. So a
    /// program that is killed loses only the subtasks that were in flight.
    ///
    /// ```
    /// use std::sync::Mutex;
    /// use retry_work::Plan;
    ///
    /// fn plan() -> Plan<'static, u32, String> {
    ///     let mut plan = Plan::new();
    ///     plan.add("search", [], async |[]| Ok(7));
    ///     plan.add("double", ["search"], async |[page]| Ok(2 * *page));
    ///     plan
    /// }
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let lines = Mutex::new(Vec::new()); // In place of a file that is appended to.
    /// let write = |change| {
    ///     let line = serde_json::to_string(&change).unwrap();
    ///     lines.lock().unwrap().push(line);
    /// };
    /// plan().journal(write).run().await?;
    ///
    /// let mut resumed = plan();
    /// for line in &*lines.lock().unwrap() {
    ///     resumed.load(serde_json::from_str(line)?)?;
    /// }
    /// let summary = resumed.run().await?;
    /// // Nothing ran again.
    /// assert_eq!((summary.completed.len(), summary.executions), (2, 2));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// Each change is a state with one subtask: its output, or its failure and whether it is a dead end. To restore a
    /// plan, [load](Self::load) a full [state](Self::state), if you have one, and then the changes in order. Loaded
    /// changes are not passed to `record` again.
    ///
    /// `record` runs on the task that runs the plan, and delays the other subtasks. If writing takes long, send the
    /// change to another task or thread, or run the subtasks with [`start`](Self::start) and
    /// [`complete`](Self::complete).
    pub fn journal(mut self, record: impl FnMut(PlanState<T>) + Send + 'a) -> Self {
        self.journal = Some(Journal {
            record: Box::new(record),
            executions: self.executions,
        });
        self
    }

    /// Records the result of the subtask at this index.
    pub(crate) fn record(&mut self, index: usize) {
        if let Some(journal) = &mut self.journal {
            let executions = self.executions.saturating_sub(journal.executions);
            let mut change = PlanState::new(executions);
            change.add(&self.nodes[index]);
            journal.executions = self.executions;
            (journal.record)(change);
        }
    }
}
