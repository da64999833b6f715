use std::fmt;
use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use crate::call::attempted;
use crate::call::decide::refusal;
use crate::call::failure::Failure;
#[cfg(feature = "nested")]
use crate::call::nested::Outer;
use crate::call::site::Site;
use crate::call::state::Call;
use crate::chain::on_error::OnError;
use crate::chain::policy_call::{Chain, PolicyCall};
use crate::classify::kind::Kind;
use crate::classify::verdict::Verdict;
use crate::observe::ignored_timeout;
use crate::observe::reason::Reason;
use crate::plan::graph::Graph;
use crate::plan::node::Node;
use crate::plan::run::Again;
use crate::plan::{Plan, PlanEnd, PlanError, RoundPolicy, Snapshot, Subtask, Validity};
use crate::policy::Policy;
use crate::time::cancel::{MayCancel, Signal};
use crate::time::moment::Moment;
use crate::time::race::race;
#[cfg(feature = "tokio")]
use crate::time::timer::TokioTimer;
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
    ///     .run_until(Policy::new().on(|error: &String| error.contains("overloaded")), async |results| {
    ///         match results.output("label") {
    ///             Some(_) => Validity::Valid,
    ///             None => Validity::Missing(vec![Subtask::new("label", ["search"], async |[page]| {
    ///                 Ok(format!("label of {page}"))
    ///             })]),
    ///         }
    ///     })
    ///     .await?;
    /// assert_eq!(end, PlanEnd::Valid);
    /// assert_eq!(plan.output("label").unwrap(), "label of page 7");
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// Pass a [`Policy`] if the error type is [`Classify`](crate::Classify), otherwise the result of [`Policy::on`].
    /// Its `max` is the number of rounds after the first, its delays are the pauses before them, and its `deadline`
    /// counts from this call: no round begins after it, and the subtasks and the validator that are running then are
    /// dropped. Those subtasks stay pending or failed, as they were, and all outputs are kept. What [`Policy::cancel`]
    /// names ends the pause and the plan; a running round may finish. A round in which several subtasks failed counts as
    /// one failure: the one with the longest hint, or else one that was throttled, or else one that timed out. Rounds
    /// that add subtasks count and pause like transient failures.
    ///
    /// If the validator asks for a subtask with the name of one that failed or is blocked, it is not added again,
    /// because it was already tried. The plan gives up if the validator asks for nothing else, or only for subtasks
    /// that depend on failed ones.
    ///
    /// A failure that is not worth a retry, or whose hint is longer than the policy's `max_hint`, is a dead end at
    /// once, and gets no further round. So is a failure whose hint reaches past the deadline, if another failure can be
    /// retried in time. When the policy gives up, all failed subtasks become dead ends.
    ///
    /// The validator is called after every round, even if nothing failed, and gets a [`Snapshot`] by value. The plan
    /// keeps its outputs and can be run again after either [end](PlanEnd). The error comes from [`check`](Self::check),
    /// which also checks the subtasks that the validator asks for; if it fails, they are not added.
    #[cfg(feature = "tokio")]
    pub async fn run_until<P, V, W>(&mut self, policy: P, validate: V) -> Result<PlanEnd, PlanError>
    where
        P: RoundPolicy<E>,
        V: FnMut(Snapshot<T>) -> W,
        W: Future<Output = Validity<'a, T, E, F>>,
    {
        self.run_until_with(TokioTimer, policy, validate).await
    }

    /// As `run_until`, with another runtime's timer.
    pub async fn run_until_with<P, V, W>(
        &mut self,
        timer: impl Timer,
        policy: P,
        mut validate: V,
    ) -> Result<PlanEnd, PlanError>
    where
        P: RoundPolicy<E>,
        V: FnMut(Snapshot<T>) -> W,
        W: Future<Output = Validity<'a, T, E, F>>,
    {
        timer.expect();
        let mut graph = self.checked()?;
        let mut scope = self.scope(Node::is_pending);
        let PolicyCall { policy, chain } = policy.into_call();
        let Chain {
            mut on,
            cancel,
            keys,
            ..
        } = chain;
        if policy.attempt_limit().is_some() {
            ignored_timeout::tell(&self.name);
        }
        let mut rounds = PlanCall::new(&policy, keys.idempotent, || timer.now());
        let mut end = pin!(sleep_until(&timer, rounds.deadline));
        let cancelled = pin!(cancel.into_cancelled());
        let mut signal = Signal::new(cancelled);
        loop {
            #[cfg(feature = "nested")]
            let outer = Outer::shared(&policy, Arc::clone(&self.name));
            let late = attempted::awaited!(
                self.execute(&graph, &scope, Again::Failed, end.as_mut()),
                outer
            );
            if !late.is_empty() {
                let message = self.under_way(&late);
                return Ok(self.cut(&rounds, message));
            }
            let worst = self.classify(&graph, &policy, &mut on, rounds.left(|| timer.now()));
            let validator = pin!(validate(self.snapshot()));
            let Some(validity) = race(validator, end.as_mut()).await else {
                let message = String::from("the validator was under way at the deadline");
                return Ok(self.cut(&rounds, message));
            };
            if let Validity::Valid = validity {
                self.accepted(&rounds);
                return Ok(PlanEnd::Valid);
            }
            let message = validity.message();
            let len = self.len();
            let verdict = match worst {
                Some(verdict) => verdict,
                None => {
                    let missing = self.untried(validity);
                    graph = self.extend(missing)?;
                    let begins = (len..self.len()).any(|place| self.is_ready(place, &graph));
                    if begins {
                        Verdict::TRANSIENT
                    } else {
                        Verdict::STOP
                    }
                }
            };
            let error = self.round_error(&message);
            let is_cancelled = signal.is_cancelled();
            let mut decision =
                rounds.failed(&self.name, verdict, &error, is_cancelled, || timer.now());
            if let Ok(pause) = decision {
                signal.pause(pin!(timer.sleep(pause))).await;
                let reason = if signal.is_cancelled() {
                    Some(Reason::Cancelled)
                } else {
                    rounds.late(|| timer.now())
                };
                if let Some(reason) = reason {
                    rounds.gave_up(&self.name, verdict, &error, reason);
                    decision = Err(reason);
                }
            }
            if let Err(reason) = decision {
                self.truncate(len);
                self.gave_up(reason);
                return Ok(PlanEnd::GaveUp { reason, message });
            }
            scope = self.scope(|node| node.is_pending() || node.is_open());
        }
    }

    /// Makes dead ends of the failures that are not worth a retry. The verdict on the worst of the others.
    fn classify(
        &mut self,
        graph: &Graph,
        policy: &Policy,
        on: &mut impl OnError<E>,
        left: Duration,
    ) -> Option<Verdict> {
        let (mut worst, mut late) = (None, Vec::new());
        for place in 0..self.len() {
            let node = &self.nodes[place];
            // What it waits for has failed, too, and decides whether there is another round.
            if !node.is_open() || !self.is_ready(place, graph) {
                continue;
            }
            // A loaded failure has no error that could be classified, and loading it asks for another try.
            // Nor is one classified where retries are off: the round's decision ends the plan.
            let verdict = node
                .error()
                .filter(|_| policy.is_enabled())
                .map(|error| on.verdict(error));
            let verdict = verdict.unwrap_or(Verdict::TRANSIENT);
            if !verdict.is_retryable() {
                self.make_dead_end(place, Reason::NotRetryable);
                continue;
            }
            match refusal(policy, verdict, left) {
                Some(Reason::HintTooLong) => self.make_dead_end(place, Reason::HintTooLong),
                Some(_) => late.push((place, verdict)),
                None => {
                    if worst.is_none_or(|worst| severity(worst) < severity(verdict)) {
                        worst = Some(verdict);
                    }
                }
            }
        }
        // Where there are no others, the shortest of these hints may still be in time.
        let verdicts = late.iter().map(|(_, verdict)| *verdict);
        let worst = worst.or_else(|| verdicts.min_by_key(|verdict| verdict.hint()))?;
        for (place, verdict) in late {
            if verdict.hint() > worst.hint() {
                self.make_dead_end(place, Reason::Deadline);
            }
        }
        Some(worst)
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

    fn accepted(&mut self, rounds: &PlanCall) {
        for place in 0..self.len() {
            let node = &self.nodes[place];
            if node.retried && node.is_open() {
                self.make_dead_end(place, Reason::Exhausted);
            }
        }
        rounds
            .call
            .succeeded(&Site::new(&rounds.policy, &self.name));
        self.log_summary();
    }

    /// Gives up in the middle of a round.
    fn cut(&mut self, rounds: &PlanCall, message: String) -> PlanEnd {
        let reason = Reason::Deadline;
        let site = Site::new(&rounds.policy, &self.name);
        rounds.call.gave_up_under_way(&site, &message, reason);
        self.gave_up(reason);
        PlanEnd::GaveUp { reason, message }
    }

    fn gave_up(&mut self, reason: Reason) {
        for place in 0..self.len() {
            if self.nodes[place].is_open() {
                self.make_dead_end(place, reason);
            }
        }
        self.log_summary();
    }
}

/// Which of two failures a round counts as.
fn severity(verdict: Verdict) -> (Option<Duration>, Option<usize>) {
    let kinds = [Kind::Timeout, Kind::Throttled];
    let kind = kinds.iter().position(|kind| verdict.kind() == Some(*kind));
    (verdict.hint(), kind)
}

/// The rounds so far: the plan as a call whose attempts they are.
struct PlanCall {
    policy: Policy,
    idempotent: bool,
    call: Call,
    deadline: Option<Moment>,
}

impl PlanCall {
    fn new(policy: &Policy, idempotent: bool, now: impl FnOnce() -> Moment) -> Self {
        let limit = policy.time_limit();
        Self {
            policy: *policy,
            idempotent,
            call: Call::new(),
            deadline: limit.and_then(|limit| now().checked_add(limit)),
        }
    }

    /// The time until the deadline.
    fn left(&self, now: impl FnOnce() -> Moment) -> Duration {
        self.deadline.map_or(Duration::MAX, |end| end.since(now()))
    }

    /// The pause before the next round, or why there is none.
    fn failed(
        &mut self,
        name: &str,
        verdict: Verdict,
        error: &str,
        is_cancelled: bool,
        now: impl FnOnce() -> Moment,
    ) -> Result<Duration, Reason> {
        let site = Site::new(&self.policy, name);
        let failure = Failure::new(&site, verdict, &error).deadline(self.deadline, now);
        let failure = failure.cancelled(is_cancelled).idempotent(self.idempotent);
        self.call.failed_with(failure)
    }

    /// Why no round may begin after the pause. One that began even a moment after the deadline would be dropped at once.
    fn late(&self, now: impl FnOnce() -> Moment) -> Option<Reason> {
        let is_late = self.deadline.is_some_and(|end| now() > end);
        is_late.then_some(Reason::Deadline)
    }

    /// The plan ends after the pause.
    fn gave_up(&self, name: &str, verdict: Verdict, error: &str, reason: Reason) {
        let site = Site::new(&self.policy, name);
        let failure = Failure::new(&site, verdict, &error);
        self.call.gave_up(failure, reason);
    }
}
