use alloc::sync::Arc;
use core::cmp::Reverse;
use core::fmt;
use core::future::Future;
use core::pin::pin;
use core::time::Duration;

use crate::call::attempted;
use crate::call::decide::refused;
#[cfg(feature = "nested")]
use crate::call::nested::Outer;
use crate::chain::into_chain::IntoChain;
use crate::chain::keys::SharedKeys;
use crate::chain::on_error::OnError;
use crate::chain::span::SpanKey;
use crate::chain::under_way::Bounds;
use crate::classify::kind::Kind;
use crate::classify::verdict::Verdict;
use crate::observe::attempt_end::AttemptEnd;
use crate::observe::ignored_timeout;
use crate::observe::reason::Reason;
use crate::plan::graph::Graph;
use crate::plan::node::Node;
use crate::plan::run::Again;
use crate::plan::run_keys::RunKeys;
use crate::plan::{Plan, PlanEnd, PlanError, Snapshot, Subtask, Validity};
use crate::time::cancel::MayCancel;
use crate::time::race::race;
use crate::time::signal::Signal;
use crate::time::timer::{Timer, sleep_until};

impl<'a, T, E, F, R> Plan<'a, T, E, F>
where
    F: Fn(Vec<Arc<T>>) -> R + ?Sized,
    R: Future<Output = Result<T, E>>,
    E: fmt::Display,
{
    /// Runs the plan, lets `validate` check all results together, and goes on until they are valid or `policy` gives
    /// up. Each further round retries the failed subtasks or, if none is left to retry, adds those that the validator
    /// asks for.
    ///
    /// ```
    /// use retry_runtime::plan::{PlanEnd, Subtask, Validity};
    /// use retry_runtime::{Plan, Policy};
    ///
    /// # #[tokio::main(flavor = "current_thread", start_paused = true)]
    /// # async fn main() -> Result<(), retry_runtime::plan::PlanError> {
    /// let mut plan = Plan::<String, String>::new();
    /// plan.add("search", [], async |[]| Ok(String::from("page 7")));
    /// let end = plan
    ///     .run_until(
    ///         Policy::new().on(|error: &String| error.contains("overloaded")),
    ///         async |results| match results.output("label") {
    ///             Some(_) => Validity::Valid,
    ///             None => Validity::Missing(vec![Subtask::new(
    ///                 "label",
    ///                 ["search"],
    ///                 async |[page]| Ok(format!("label of {page}")),
    ///             )]),
    ///         },
    ///     )
    ///     .await?;
    /// assert_eq!(end, PlanEnd::Valid);
    /// assert_eq!(plan.output("label").unwrap(), "label of page 7");
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// Pass a [`Policy`](crate::Policy) if the error type is [`Classify`](crate::Classify), otherwise the result of
    /// [`Policy::on`](crate::Policy::on), or another chain of [keys](crate::PolicyCall). Its `max` is the number of
    /// rounds after the first, its delays are the pauses before them, and its `deadline` counts from this call: no
    /// round begins after it, and the subtasks and the validator that are running then are dropped. A subtask that is
    /// dropped counts as given up, with [`Reason::Deadline`]: it stays pending, or becomes a dead end if it had failed
    /// before. All outputs are kept. What [`PolicyCall::cancel`](crate::PolicyCall::cancel) names ends the pause and
    /// the plan; a running round may finish. A round in which several subtasks failed counts as one failure: the one
    /// with the longest hint, or else one that was throttled, or else one that timed out. Rounds that add subtasks
    /// count and pause like transient failures.
    ///
    /// If the validator asks for a subtask with the name of one that failed or is blocked, it is not added again,
    /// because it was already tried. The plan gives up if the validator asks for no new subtasks, or only for ones that
    /// depend on failed subtasks.
    ///
    /// A failure that is not worth a retry, or whose hint is longer than the policy's `max_hint`, is a dead end at
    /// once, and gets no further round. So is a failure whose hint reaches past the deadline, if another failure can be
    /// retried in time. When the policy gives up, all failed subtasks become dead ends. If only dead ends are left, the
    /// plan gives up with the reason of the first of this run, or as not retryable.
    ///
    /// # Shared protections
    ///
    /// To what [`PolicyCall::budget`](crate::PolicyCall::budget), [`breaker`](crate::PolicyCall::breaker),
    /// [`limiter`](crate::PolicyCall::limiter) and [`observe`](crate::PolicyCall::observe) name, each subtask is a call
    /// of its own, named `plan.subtask`, and each execution is an attempt: it pays for its own retry, has its own pass,
    /// and waits for its own turn.
    ///
    /// ```
    /// use std::time::Duration;
    /// use retry_runtime::plan::Validity;
    /// use retry_runtime::{Breaker, Plan, Policy, Reason};
    ///
    /// # #[tokio::main(flavor = "current_thread", start_paused = true)]
    /// # async fn main() -> Result<(), retry_runtime::plan::PlanError> {
    /// let breaker = Breaker::new().consecutive_failures(1);
    /// let policy = Policy::none().on(|_: &String| true).breaker(&breaker);
    /// let mut plan = Plan::<(), String>::new();
    /// plan.add("search", [], async |[]| Err(String::from("503 overloaded")));
    /// let end = plan
    ///     .run_until(policy, async |_| Validity::Invalid(String::from("no page")))
    ///     .await?;
    /// assert_eq!(end.to_string(), "gave up (rejected): no page");
    /// assert_eq!(plan.error("search").unwrap(), "503 overloaded");
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// A failed subtask whose retry is not paid for is a dead end. One that breaker or limiter holds back does not run
    /// again in this run: if it had failed before, it is a dead end, otherwise it stays pending. If nothing is left to
    /// retry because of that, the plan gives up with that reason, too.
    ///
    /// # Ends
    ///
    /// The validator is called after every round, even if nothing failed, and gets a [`Snapshot`] by value. The plan
    /// keeps its outputs and can be run again after either [end](PlanEnd). The error comes from [`check`](Self::check),
    /// or says that the plan is [`driven`](Self::driven). The subtasks that the validator asks for are checked, too; if
    /// that fails, they are not added, and the log and observers are told that the plan gave up.
    pub fn run_until<P, V, W>(
        &mut self,
        policy: P,
        validate: V,
    ) -> impl Future<Output = Result<PlanEnd, PlanError>>
    where
        P: IntoChain<On: OnError<E>, Cancel: MayCancel, Timer: Timer>,
        V: FnMut(Snapshot<T>) -> W,
        W: Future<Output = Validity<'a, T, E, F>>,
    {
        let call = policy.into_chain();
        let clock = || call.timer.clock();
        let keys = RunKeys::new(&call.policy, &self.name, call.on, call.keys, clock);
        keys.plan.keys.span.around(
            (self, keys),
            |(_, keys)| keys.plan.name(),
            |(plan, keys)| plan.run_rounds(keys, call.cancel, call.timer, validate),
        )
    }

    /// Runs rounds until the results are valid or the policy gives up.
    async fn run_rounds<On, K, C, W, V, Validated>(
        &mut self,
        mut keys: RunKeys<On, K>,
        cancel: C,
        timer: W,
        mut validate: V,
    ) -> Result<PlanEnd, PlanError>
    where
        On: OnError<E>,
        K: SharedKeys,
        C: MayCancel,
        W: Timer,
        V: FnMut(Snapshot<T>) -> Validated,
        Validated: Future<Output = Validity<'a, T, E, F>>,
    {
        let mut graph = self.runnable()?;
        timer.expect(|| keys.plan.name());
        let mut scope = self.scope(Node::is_pending);
        self.prepare(&mut keys);
        let limit = keys.plan.policy.time_limit();
        let deadline = limit.and_then(|limit| timer.now().checked_add(limit));
        let cancelled = pin!(cancel.into_cancelled());
        let mut bounds = Bounds {
            timer: &timer,
            deadline,
            end: pin!(sleep_until(&timer, deadline)),
            signal: Signal::new(cancelled).await,
        };
        loop {
            keys.begin_round(self.len());
            #[cfg(feature = "nested")]
            let outer = Outer::shared(&keys.plan.policy, Arc::from(keys.plan.name()));
            let late = attempted::awaited!(
                self.execute(&graph, &scope, Again::Failed, &mut keys, &mut bounds),
                outer
            );
            if let Some(late) = late {
                let message = self.under_way(&late);
                return Ok(self.cut(&mut keys, message, None, Reason::Deadline));
            }
            let left = deadline.map_or(Duration::MAX, |end| end.since(timer.now()));
            let round = self.classify(&graph, &mut keys, left);
            let validator = pin!(validate(self.snapshot()));
            let Some(validity) = race(validator, bounds.end.as_mut()).await else {
                let message = String::from("the validator was under way at the deadline");
                return Ok(self.cut(&mut keys, message, None, Reason::Deadline));
            };
            if let Validity::Valid = validity {
                self.accepted(&mut keys);
                return Ok(PlanEnd::Valid);
            }
            let message = validity.message();
            let len = self.len();
            let verdict = match round.worst {
                Some(verdict) => verdict,
                None => self
                    .add_missing(validity, &mut graph)
                    .inspect_err(|error| self.failed(&mut keys, error))?,
            };
            if let Some(reason) = keys.refusal().filter(|_| !verdict.is_retryable()) {
                self.truncate(len);
                return Ok(self.cut(&mut keys, message, Some(AttemptEnd::Stop), reason));
            }
            let error = self.round_error(&message);
            let retried = &round.retried;
            let ended = self.pause(&mut keys, &mut bounds, verdict, retried, &error);
            if let Some(reason) = ended.await {
                self.truncate(len);
                self.gave_up(reason, &mut keys);
                return Ok(PlanEnd::GaveUp { reason, message });
            }
            scope = (0..self.len())
                .map(|index| self.runs_again(index, &keys))
                .collect();
        }
    }

    /// Before the first round.
    fn prepare<On: OnError<E>, K: SharedKeys>(&mut self, keys: &mut RunKeys<On, K>) {
        if On::IS_SHOWN {
            for node in &mut self.nodes {
                node.show(|error| keys.shown(error));
            }
        }
        keys.begin_with(
            self.count_of(Node::is_completed),
            self.count_of(Node::is_dead_end),
        );
        if keys.plan.policy.attempt_limit().is_some() {
            ignored_timeout::tell(keys.plan.name());
        }
    }

    /// Pauses after a round that failed. Returns why no other follows, if none does.
    async fn pause<On, K: SharedKeys>(
        &mut self,
        keys: &mut RunKeys<On, K>,
        bounds: &mut Bounds<'_, impl Timer, impl Future<Output = ()>, impl Future>,
        verdict: Verdict,
        retried: &[(usize, Verdict)],
        error: &str,
    ) -> Option<Reason> {
        let is_cancelled = bounds.signal.is_cancelled();
        let clock = (bounds.deadline, || bounds.timer.now());
        match keys.round_failed(verdict, retried, error, is_cancelled, clock) {
            Err(reason) => Some(reason),
            Ok((pause, unpaid)) => {
                for index in unpaid {
                    self.make_dead_end(index, Reason::Budget, keys);
                }
                bounds.pause(pause).await;
                let reason = bounds.ended();
                reason.inspect(|reason| keys.round_gave_up(error, *reason))
            }
        }
    }

    fn count_of(&self, is: impl Fn(&Node<'a, T, E, F>) -> bool) -> usize {
        self.nodes.iter().filter(|node| is(node)).count()
    }

    /// Whether the next round executes that subtask, if it can begin.
    fn runs_again<On, K: SharedKeys>(&self, index: usize, keys: &RunKeys<On, K>) -> bool {
        let node = &self.nodes[index];
        node.is_open() || node.is_pending() && !keys.is_refused(index)
    }

    /// Makes a dead end of a failure that is not worth a retry, whatever becomes of its round: a saved plan knows it.
    pub(crate) fn refuse_final<On: OnError<E>, K: SharedKeys>(
        &mut self,
        index: usize,
        keys: &mut RunKeys<On, K>,
    ) {
        let (policy, node) = (keys.plan.policy_in_force(), &self.nodes[index]);
        let verdict = keys.verdict(index, node.error());
        let idempotent = keys.plan.keys.idempotent;
        if let Some(reason) = refused(&policy, verdict, idempotent, Duration::MAX) {
            self.refuse(index, reason, keys);
        }
    }

    /// Makes dead ends of the failures that are not worth a retry. Returns the others.
    fn classify<On: OnError<E>, K: SharedKeys>(
        &mut self,
        graph: &Graph,
        keys: &mut RunKeys<On, K>,
        left: Duration,
    ) -> Round {
        let policy = keys.plan.policy_in_force();
        let left = left.min(keys.pauses_left(&policy));
        let (mut retried, mut late) = (Vec::new(), Vec::new());
        for index in 0..self.len() {
            let node = &self.nodes[index];
            // What it waits for has failed, too, and decides whether there is another round.
            if !node.is_open() || !self.is_ready(index, graph) {
                continue;
            }
            let verdict = keys.verdict(index, node.error());
            match refused(&policy, verdict, keys.plan.keys.idempotent, left) {
                None => retried.push((index, verdict)),
                Some(Reason::Deadline) => late.push((index, verdict)),
                Some(reason) => self.refuse(index, reason, keys),
            }
        }
        let verdicts = retried.iter().map(|(_, verdict)| *verdict);
        // Where there are no others, the shortest of these hints may still be in time.
        let worst = verdicts.min_by_key(|verdict| Reverse(severity(*verdict)));
        let worst = worst.or_else(|| {
            let verdicts = late.iter().map(|(_, verdict)| *verdict);
            verdicts.min_by_key(|verdict| verdict.hint())
        });
        for (index, verdict) in late {
            if worst.is_some_and(|worst| verdict.hint() > worst.hint()) {
                self.refuse(index, Reason::Deadline, keys);
            } else {
                retried.push((index, verdict));
            }
        }
        Round { worst, retried }
    }

    /// A failure of that subtask gets no further round. If nothing else is left to retry, the plan gives up for that reason, too.
    fn refuse<On, K: SharedKeys>(
        &mut self,
        index: usize,
        reason: Reason,
        keys: &mut RunKeys<On, K>,
    ) {
        keys.note_dead_end(index, reason);
        self.make_dead_end(index, reason, keys);
    }

    /// Adds what the validator asks for. The verdict on the round before: whether anything of that can begin.
    fn add_missing(
        &mut self,
        validity: Validity<'a, T, E, F>,
        graph: &mut Graph,
    ) -> Result<Verdict, PlanError> {
        let len = self.len();
        let missing = self.untried(validity);
        *graph = self.extend(missing)?;
        let begins = (len..self.len()).any(|index| self.is_ready(index, graph));
        Ok(if begins {
            Verdict::TRANSIENT
        } else {
            Verdict::STOP
        })
    }

    /// What the validator asks for, without what the plan has already and could not complete.
    fn untried(&self, validity: Validity<'a, T, E, F>) -> Vec<Subtask<'a, T, E, F>> {
        let Validity::Missing(mut subtasks) = validity else {
            return Vec::new();
        };
        subtasks.retain(|subtask| {
            let known = self.node(subtask.name());
            known.is_none_or(|node| node.output().is_some())
        });
        subtasks
    }

    /// Adds the subtasks if the plan can run with them.
    fn extend(&mut self, subtasks: Vec<Subtask<'a, T, E, F>>) -> Result<Graph, PlanError> {
        let len = self.len();
        for subtask in subtasks {
            self.push(subtask);
        }
        let checked = self.checked();
        if checked.is_err() {
            self.truncate(len);
        }
        checked
    }

    /// What is wrong with a round: the failures in it, and what the validator says.
    fn round_error(&self, message: &str) -> String {
        if self.nodes.iter().any(Node::is_open) {
            format!("{}; {message}", self.failures(Node::is_open))
        } else {
            message.to_owned()
        }
    }

    fn accepted<On, K: SharedKeys>(&mut self, keys: &mut RunKeys<On, K>) {
        for index in 0..self.len() {
            let node = &self.nodes[index];
            if node.retried && node.is_open() {
                self.make_dead_end(index, Reason::Exhausted, keys);
            }
        }
        keys.round_succeeded();
        self.log_summary(keys.plan.name());
    }

    /// Tells of the end of a plan that can't run with what the validator asks for.
    fn failed<On, K: SharedKeys>(&mut self, keys: &mut RunKeys<On, K>, error: &PlanError) {
        let (message, ended) = (error.to_string(), Some(AttemptEnd::Stop));
        let _ = self.cut(keys, message, ended, Reason::NotRetryable);
    }

    /// Gives up in the middle of a round (`None`), or after one with that end that no other could follow.
    fn cut<On, K: SharedKeys>(
        &mut self,
        keys: &mut RunKeys<On, K>,
        message: String,
        ended: Option<AttemptEnd>,
        reason: Reason,
    ) -> PlanEnd {
        keys.cut(&message, ended, reason);
        self.gave_up(reason, keys);
        PlanEnd::GaveUp { reason, message }
    }

    fn gave_up<On, K: SharedKeys>(&mut self, reason: Reason, keys: &mut RunKeys<On, K>) {
        for index in 0..self.len() {
            if self.nodes[index].is_open() {
                self.make_dead_end(index, reason, keys);
            }
        }
        self.log_summary(keys.plan.name());
    }
}

/// The failures of a round.
struct Round {
    /// The verdict that the round counts as. `None` if nothing is worth a retry.
    worst: Option<Verdict>,
    /// The subtasks that are worth a retry, by index.
    retried: Vec<(usize, Verdict)>,
}

/// Which of two failures a round counts as.
fn severity(verdict: Verdict) -> (Option<Duration>, Option<usize>) {
    let kinds = [Kind::Timeout, Kind::Throttled];
    let kind = kinds.iter().position(|kind| verdict.kind() == Some(*kind));
    (verdict.hint(), kind)
}
