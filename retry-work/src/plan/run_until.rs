use std::cmp::Reverse;
use std::collections::BTreeSet;
use std::fmt;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use retry_runtime::chain::{IntoChain, MayCancel, OnError};
use retry_runtime::macro_support::{Bounds, Job, attempt_within, bounds, in_span, refusal};
use retry_runtime::{AttemptEnd, Kind, Reason, Verdict, seam::Timer};

use crate::plan::event::RepeatFailure;
use crate::plan::node::Node;
use crate::plan::plan_run::PlanRun;
use crate::plan::{Plan, PlanEnd, PlanError, Snapshot, Validity};

impl<'a, T, E, F, R> Plan<'a, T, E, F>
where
    F: Fn(Vec<Arc<T>>) -> R + ?Sized,
    R: Future<Output = Result<T, E>>,
    E: fmt::Display,
{
    /// Runs the plan in rounds, until `validate` accepts the results as a whole or `policy` gives up. Each round after
    /// the first retries the failed subtasks or, if none is left to retry, adds the subtasks that the validator
    /// requests.
    ///
    /// ```
    /// use retry_work::plan::{PlanEnd, Subtask, Validity};
    /// use retry_runtime::Policy;
    /// use retry_work::Plan;
    ///
    /// # #[tokio::main(flavor = "current_thread", start_paused = true)]
    /// # async fn main() -> Result<(), retry_work::plan::PlanError> {
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
    /// Pass a [`Policy`](retry_runtime::Policy) if the error type is [`Classify`](retry_runtime::Classify), otherwise
    /// the result of [`Policy::on`](retry_runtime::Policy::on), or another chain of
    /// [keys](retry_runtime::chain::PolicyCall). The policy's `max` is the number of rounds after the first, its delays
    /// are the pauses between rounds, and its `deadline` counts from this call: no round starts after the deadline, and
    /// subtasks and validators in flight are dropped when it passes. A dropped subtask counts as given up, with
    /// [`Reason::Deadline`]: it stays pending, or becomes a dead end if it had failed before. All outputs are kept.
    /// [`PolicyCall::cancel`](retry_runtime::chain::PolicyCall::cancel) ends the pause and the plan; a running round
    /// may finish. A round in which several subtasks failed counts as one failure: the failure with the longest hint,
    /// or else one that was throttled, or else one that timed out. Rounds that add subtasks count and pause like
    /// transient failures.
    ///
    /// A requested subtask with the name of one that failed or is blocked is not added, because that one was already
    /// tried. The plan gives up if the validator requests no new subtasks, or only subtasks that depend on failed ones.
    ///
    /// A failure that is not retryable, or whose hint is longer than the policy's `max_hint`, is a dead end at once,
    /// and gets no further round. A failure whose hint exceeds the deadline is also a dead end, if another failure can
    /// be retried in time. When the policy gives up, all failed subtasks become dead ends. If only dead ends are left,
    /// the plan gives up with the reason of this run's first dead end, or as not retryable.
    ///
    /// # Shared protections
    ///
    /// For [`PolicyCall::budget`](retry_runtime::chain::PolicyCall::budget),
    /// [`breaker`](retry_runtime::chain::PolicyCall::breaker), [`limiter`](retry_runtime::chain::PolicyCall::limiter)
    /// and [`observe`](retry_runtime::chain::PolicyCall::observe), each subtask is a separate call, named
    /// `plan.subtask`, and each execution is an attempt, which pays separately for its retry and needs its own
    /// admission by the breaker and the limiter.
    ///
    /// ```
    /// use std::time::Duration;
    /// use retry_work::plan::Validity;
    /// use retry_protections::Breaker;
    /// use retry_runtime::{Policy, Reason};
    /// use retry_work::Plan;
    ///
    /// # #[tokio::main(flavor = "current_thread", start_paused = true)]
    /// # async fn main() -> Result<(), retry_work::plan::PlanError> {
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
    /// A failed subtask whose retry is not paid for is a dead end. A subtask that the breaker or the limiter rejects
    /// does not run again in this run: if it had failed before, it is a dead end, otherwise it stays pending. If
    /// nothing else is left to retry, the plan gives up for the same reason.
    ///
    /// # Ends
    ///
    /// The validator is called after every round, even if nothing failed, and gets a [`Snapshot`] by value. The plan
    /// keeps its outputs and can be run again after either [end](PlanEnd). Fails like [`check`](Self::check), or if the
    /// plan is [`driven`](Self::driven). The subtasks that the validator requests are also checked; if the check fails,
    /// they are not added, and the log and observers report that the plan gave up.
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
        let mut chain = policy.into_chain();
        let name = chain.name.take();
        let name = name.unwrap_or_else(|| Box::from(&*self.name));
        let span = chain.context.is_spanned().then(|| name.clone());
        let run = async move {
            let (graph, scope) = (self.runnable()?, self.scope(Node::is_pending));
            let shared = chain.shared;
            let job = Job::new(chain.context, &name, &shared, Timer::now);
            let bounds = bounds(&shared.timer, &name, job.deadline(), chain.cancel).await;
            let run = PlanRun::new(self, (graph, scope), RepeatFailure::Failed, job, chain.on);
            run.run_rounds(bounds, &shared.timer, validate).await
        };
        in_span(span, run)
    }
}

impl<'a, T, E, F, Q> PlanRun<'_, 'a, T, E, F, Q>
where
    F: ?Sized,
    E: fmt::Display,
    Q: IntoChain<On: OnError<E>, Timer: Timer>,
{
    /// Runs rounds until the results are valid or the policy gives up.
    async fn run_rounds<V, W: Future<Output = Validity<'a, T, E, F>>, R>(
        mut self,
        mut bounds: Bounds<impl Future<Output = ()>, impl Future>,
        timer: &Q::Timer,
        mut validate: V,
    ) -> Result<PlanEnd, PlanError>
    where
        V: FnMut(Snapshot<T>) -> W,
        F: Fn(Vec<Arc<T>>) -> R,
        R: Future<Output = Result<T, E>>,
    {
        loop {
            self.begin_round();
            let late = self.execute_round(&mut bounds).await;
            if !late.is_empty() {
                let message = self.plan.list_late(&late);
                return Ok(self.give_up(message, None, Reason::Deadline));
            }
            let (worst, retried) = self.classify();
            let validator = validate(self.plan.snapshot());
            let Some(validity) = bounds.run_until_end(validator).await else {
                let message = String::from("the validator was under way at the deadline");
                return Ok(self.give_up(message, None, Reason::Deadline));
            };
            if let Validity::Valid = validity {
                self.finish_valid();
                return Ok(PlanEnd::Valid);
            }
            let message = validity.message();
            let len = self.plan.len();
            let verdict = match worst {
                Some(verdict) => verdict,
                None => self.add_missing(validity).inspect_err(|error| {
                    let ended = Some(AttemptEnd::Stop);
                    let _ = self.give_up(error.to_string(), ended, Reason::NotRetryable);
                })?,
            };
            if let Some(reason) = self.refusal().filter(|_| !verdict.is_retryable()) {
                self.plan.truncate(len);
                return Ok(self.give_up(message, Some(AttemptEnd::Stop), reason));
            }
            let error = self.plan.round_error(&message);
            let is_cancelled = bounds.is_cancelled();
            let mut ended = self.decide_round(verdict, &retried, &error, is_cancelled);
            if let Ok(pause) = ended {
                bounds.pause(timer.sleep(pause)).await;
                if let Some(reason) = self.job.end_reason(&mut || bounds.is_cancelled()) {
                    self.report_stop(&error, reason);
                    ended = Err(reason);
                }
            }
            if let Err(reason) = ended {
                self.plan.truncate(len);
                self.finish_failed(reason);
                return Ok(PlanEnd::GaveUp { reason, message });
            }
            let indices = 0..self.plan.len();
            self.scope = indices.map(|index| self.runs_again(index)).collect();
        }
    }

    /// Executes a round as an attempt of the plan's call.
    async fn execute_round<R>(
        &mut self,
        bounds: &mut Bounds<impl Future<Output = ()>, impl Future>,
    ) -> BTreeSet<usize>
    where
        F: Fn(Vec<Arc<T>>) -> R,
        R: Future<Output = Result<T, E>>,
    {
        let (policy, name) = (*self.job.context.policy(), self.job.context.name());
        let executed = pin!(self.execute(bounds));
        attempt_within(executed, &policy, || name.into()).await
    }

    /// Makes a non-retryable failure a dead end before its round ends, so that a saved plan includes the dead end.
    pub(crate) fn refuse_if_final(&mut self, index: usize) {
        let (policy, verdict) = (self.job.context.policy_in_force(), self.verdict(index));
        let idempotent = self.job.is_idempotent();
        if let Some(reason) = refusal(&policy, verdict, idempotent, Duration::MAX) {
            self.refuse(index, reason);
        }
    }

    /// Makes non-retryable failures dead ends. Returns the verdict for the round (`None` if nothing is retryable) and
    /// the failures to retry.
    fn classify(&mut self) -> (Option<Verdict>, Vec<(usize, Verdict)>) {
        let policy = self.job.context.policy_in_force();
        let end = self.job.deadline();
        let left = end.map_or(Duration::MAX, |end| end.since(self.job.now()));
        let left = left.min(self.round.pauses_left(&policy));
        let (mut retried, mut late) = (Vec::new(), Vec::new());
        for index in 0..self.plan.len() {
            // If a dependency has failed, too, the dependency's failure decides if another round follows.
            if !self.plan.nodes[index].is_open() || !self.plan.is_ready(index, &self.graph) {
                continue;
            }
            let verdict = self.verdict(index);
            match refusal(&policy, verdict, self.job.is_idempotent(), left) {
                None => retried.push((index, verdict)),
                Some(Reason::Deadline) => late.push((index, verdict)),
                Some(reason) => self.refuse(index, reason),
            }
        }
        let verdicts = retried.iter().map(|(_, verdict)| *verdict);
        // If none can be retried in time, the failure with the shortest hint decides.
        let worst = verdicts.min_by_key(|verdict| Reverse(severity(*verdict)));
        let worst = worst.or_else(|| {
            let verdicts = late.iter().map(|(_, verdict)| *verdict);
            verdicts.min_by_key(|verdict| verdict.hint())
        });
        for (index, verdict) in late {
            if worst.is_some_and(|worst| verdict.hint() > worst.hint()) {
                self.refuse(index, Reason::Deadline);
            } else {
                retried.push((index, verdict));
            }
        }
        (worst, retried)
    }

    /// Adds the subtasks that the validator requests, if the plan can run with them. Returns the verdict on the
    /// previous round, which is retryable if any added subtask can start.
    fn add_missing(&mut self, validity: Validity<'a, T, E, F>) -> Result<Verdict, PlanError> {
        let (len, plan) = (self.plan.len(), &mut *self.plan);
        if let Validity::Missing(mut subtasks) = validity {
            // Subtasks that the plan already has and could not complete were already tried.
            subtasks.retain(|subtask| plan.node(&subtask.name).is_none_or(Node::is_completed));
            for subtask in subtasks {
                plan.push(subtask);
            }
        }
        let checked = plan.checked();
        self.graph = checked.inspect_err(|_| plan.truncate(len))?;
        let begins = (len..plan.len()).any(|index| plan.is_ready(index, &self.graph));
        Ok(if begins {
            Verdict::TRANSIENT
        } else {
            Verdict::STOP
        })
    }

    fn finish_valid(&mut self) {
        self.make_dead_ends(|node| node.retried && node.is_open(), Reason::Exhausted);
        let call = self.round;
        self.job.with_observer(|site, observe| match observe {
            Some(observe) => call.succeeded_observed(site, observe),
            None => call.succeeded(site),
        });
        self.plan.log_summary(self.job.context.name());
    }

    /// Gives up during a round (`ended` is `None`), or after a round with this end.
    fn give_up(&mut self, message: String, ended: Option<AttemptEnd>, reason: Reason) -> PlanEnd {
        let call = self.round;
        self.job
            .with_observer(|site, observe| call.report_end(site, &message, ended, reason, observe));
        self.finish_failed(reason);
        PlanEnd::GaveUp { reason, message }
    }

    fn finish_failed(&mut self, reason: Reason) {
        self.make_dead_ends(Node::is_open, reason);
        self.plan.log_summary(self.job.context.name());
    }

    fn make_dead_ends(&mut self, are: impl Fn(&Node<'a, T, E, F>) -> bool, reason: Reason) {
        for index in 0..self.plan.len() {
            if are(&self.plan.nodes[index]) {
                self.make_dead_end(index, reason);
            }
        }
    }
}

impl<T, E: fmt::Display, F: ?Sized> Plan<'_, T, E, F> {
    /// The error of a round: the failures in it, and the validator's message.
    fn round_error(&self, message: &str) -> String {
        if self.nodes.iter().any(Node::is_open) {
            format!("{}; {message}", self.list_failed(Node::is_open))
        } else {
            message.to_owned()
        }
    }
}

/// The severity of a failure. A round counts as its most severe failure, so that the pause outlasts the longest hint.
fn severity(verdict: Verdict) -> (Option<Duration>, Option<usize>) {
    let kinds = [Kind::Timeout, Kind::Throttled];
    let kind = kinds.iter().position(|kind| verdict.kind() == Some(*kind));
    (verdict.hint(), kind)
}
