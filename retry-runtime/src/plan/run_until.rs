use alloc::sync::Arc;
use core::cmp::Reverse;
use core::fmt;
use core::future::Future;
use core::pin::pin;
use core::time::Duration;

use crate::call::attempted;
use crate::call::decide::{refusal, retryable};
#[cfg(feature = "nested")]
use crate::call::nested::Outer;
use crate::chain::keys::SharedKeys;
use crate::chain::named::Chain;
use crate::chain::on_error::OnError;
use crate::chain::policy_call::PolicyCall;
use crate::chain::span::MayOpenSpans;
use crate::chain::under_way::turn;
use crate::classify::kind::Kind;
use crate::classify::verdict::Verdict;
use crate::observe::attempt_end::AttemptEnd;
use crate::observe::ignored_timeout;
use crate::observe::reason::Reason;
use crate::plan::graph::Graph;
use crate::plan::node::Node;
use crate::plan::plan_call::PlanCall;
use crate::plan::run::Again;
use crate::plan::run_keys::RunKeys;
use crate::plan::{Plan, PlanEnd, PlanError, RoundPolicy, Snapshot, Subtask, Validity};
use crate::time::cancel::{MayCancel, Signal};
use crate::time::race::race;
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
    /// before. All outputs are kept. What [`PolicyCall::cancel`] names ends the pause and the plan; a running round may
    /// finish. A round in which several subtasks failed counts as one failure: the one with the longest hint, or else
    /// one that was throttled, or else one that timed out. Rounds that add subtasks count and pause like transient
    /// failures.
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
    /// To what [`PolicyCall::budget`], [`breaker`](PolicyCall::breaker), [`limiter`](PolicyCall::limiter) and
    /// [`observe`](PolicyCall::observe) name, each subtask is a call of its own, named `plan.subtask`, and each
    /// execution is an attempt: it pays for its own retry, has its own pass, and waits for its own turn.
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
        P: RoundPolicy<E>,
        V: FnMut(Snapshot<T>) -> W,
        W: Future<Output = Validity<'a, T, E, F>>,
    {
        let PolicyCall { policy, chain } = policy.into_call();
        let Chain {
            on,
            cancel,
            timer,
            keys,
            ..
        } = chain;
        let keys = RunKeys::new(&policy, &self.name, on, keys);
        keys.spans.around(
            (self, keys),
            |(_, keys)| &keys.name,
            |(plan, keys)| plan.run_rounds(keys, cancel, timer, validate),
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
        timer.expect(|| &keys.name);
        let mut scope = self.scope(Node::is_pending);
        if On::IS_SHOWN {
            for node in &mut self.nodes {
                node.show(|error| keys.shown(error));
            }
        }
        let policy = keys.policy;
        keys.begin_with(
            self.count_of(Node::is_completed),
            self.count_of(Node::is_dead_end),
        );
        if policy.attempt_limit().is_some() {
            ignored_timeout::tell(&keys.name);
        }
        let mut rounds = PlanCall::new(&policy, || timer.now());
        let deadline = rounds.deadline;
        let mut end = pin!(sleep_until(&timer, deadline));
        let cancelled = pin!(cancel.into_cancelled());
        let mut signal = Signal::new(cancelled).await;
        loop {
            rounds.begin(&mut keys, self.len());
            #[cfg(feature = "nested")]
            let outer = Outer::shared(&policy, Arc::clone(&keys.name));
            let late = attempted::awaited!(
                self.execute(
                    &graph,
                    &scope,
                    Again::Failed,
                    &mut keys,
                    |place, line| turn(place, line, &timer, deadline),
                    || deadline.is_some_and(|end| timer.now() > end),
                    end.as_mut(),
                    &mut signal,
                ),
                outer
            );
            if let Some(late) = late {
                let message = self.under_way(&late);
                return Ok(self.cut(&rounds, &mut keys, message, None, Reason::Deadline));
            }
            let round = self.classify(&graph, &mut keys, rounds.left(|| timer.now()));
            let validator = pin!(validate(self.snapshot()));
            let Some(validity) = race(validator, end.as_mut()).await else {
                let message = String::from("the validator was under way at the deadline");
                return Ok(self.cut(&rounds, &mut keys, message, None, Reason::Deadline));
            };
            if let Validity::Valid = validity {
                self.accepted(&rounds, &mut keys);
                return Ok(PlanEnd::Valid);
            }
            let message = validity.message();
            let len = self.len();
            let verdict = match round.worst {
                Some(verdict) => verdict,
                None => self
                    .add_missing(validity, &mut graph)
                    .inspect_err(|error| self.failed(&rounds, &mut keys, error))?,
            };
            if let Some(reason) = keys.refusal().filter(|_| !verdict.is_retryable()) {
                self.truncate(len);
                let ended = Some(AttemptEnd::Stop);
                return Ok(self.cut(&rounds, &mut keys, message, ended, reason));
            }
            let error = self.round_error(&message);
            let is_cancelled = signal.is_cancelled();
            let now = || timer.now();
            let ended = match rounds.failed(
                &mut keys,
                verdict,
                &round.retried,
                &error,
                is_cancelled,
                now,
            ) {
                Err(reason) => Some(reason),
                Ok((pause, unpaid)) => {
                    for place in unpaid {
                        self.make_dead_end(place, Reason::Budget, &mut keys);
                    }
                    signal.pause(pin!(timer.sleep(pause))).await;
                    let is_cancelled = signal.is_cancelled();
                    let reason = rounds.late(is_cancelled, || timer.now());
                    reason.inspect(|reason| rounds.gave_up(&mut keys, verdict, &error, *reason))
                }
            };
            if let Some(reason) = ended {
                self.truncate(len);
                self.gave_up(reason, &mut keys);
                return Ok(PlanEnd::GaveUp { reason, message });
            }
            scope = (0..self.len())
                .map(|place| self.runs_again(place, &keys))
                .collect();
        }
    }

    fn count_of(&self, is: impl Fn(&Node<'a, T, E, F>) -> bool) -> usize {
        self.nodes.iter().filter(|node| is(node)).count()
    }

    /// Whether the next round executes that subtask, if it can begin.
    fn runs_again<On, K: SharedKeys>(&self, place: usize, keys: &RunKeys<On, K>) -> bool {
        let node = &self.nodes[place];
        node.is_open() || node.is_pending() && !keys.is_refused(place)
    }

    /// Makes dead ends of the failures that are not worth a retry. Returns the others.
    fn classify<On: OnError<E>, K: SharedKeys>(
        &mut self,
        graph: &Graph,
        keys: &mut RunKeys<On, K>,
        left: Duration,
    ) -> Round {
        let (mut retried, mut late) = (Vec::new(), Vec::new());
        for place in 0..self.len() {
            let node = &self.nodes[place];
            // What it waits for has failed, too, and decides whether there is another round.
            if !node.is_open() || !self.is_ready(place, graph) {
                continue;
            }
            let verdict = keys.verdict(place, node.error());
            let refused = match retryable(verdict, keys.idempotent) {
                Ok(_) => refusal(&keys.policy, verdict.hint(), left),
                Err(reason) => Some(reason),
            };
            match refused {
                None => retried.push((place, verdict)),
                Some(Reason::Deadline) => late.push((place, verdict)),
                Some(reason) => self.refuse(place, reason, keys),
            }
        }
        let verdicts = retried.iter().map(|(_, verdict)| *verdict);
        // Where there are no others, the shortest of these hints may still be in time.
        let worst = verdicts.min_by_key(|verdict| Reverse(severity(*verdict)));
        let worst = worst.or_else(|| {
            let verdicts = late.iter().map(|(_, verdict)| *verdict);
            verdicts.min_by_key(|verdict| verdict.hint())
        });
        for (place, verdict) in late {
            if worst.is_some_and(|worst| verdict.hint() > worst.hint()) {
                self.refuse(place, Reason::Deadline, keys);
            } else {
                retried.push((place, verdict));
            }
        }
        Round { worst, retried }
    }

    /// Its failure gets no further round. If nothing else is left to retry, the plan gives up for that reason, too.
    fn refuse<On, K: SharedKeys>(
        &mut self,
        place: usize,
        reason: Reason,
        keys: &mut RunKeys<On, K>,
    ) {
        keys.note_dead_end(place, reason);
        self.make_dead_end(place, reason, keys);
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
        let begins = (len..self.len()).any(|place| self.is_ready(place, graph));
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

    fn accepted<On, K: SharedKeys>(&mut self, rounds: &PlanCall, keys: &mut RunKeys<On, K>) {
        for place in 0..self.len() {
            let node = &self.nodes[place];
            if node.retried && node.is_open() {
                self.make_dead_end(place, Reason::Exhausted, keys);
            }
        }
        rounds.succeeded(keys);
        self.log_summary(&keys.name);
    }

    /// Tells of the end of a plan that can't run with what the validator asks for.
    fn failed<On, K: SharedKeys>(
        &mut self,
        rounds: &PlanCall,
        keys: &mut RunKeys<On, K>,
        error: &PlanError,
    ) {
        let reason = Reason::NotRetryable;
        rounds.cut(keys, &error.to_string(), Some(AttemptEnd::Stop), reason);
        self.gave_up(reason, keys);
    }

    /// Gives up in the middle of a round (`None`), or after one with that end that no other could follow.
    fn cut<On, K: SharedKeys>(
        &mut self,
        rounds: &PlanCall,
        keys: &mut RunKeys<On, K>,
        message: String,
        ended: Option<AttemptEnd>,
        reason: Reason,
    ) -> PlanEnd {
        rounds.cut(keys, &message, ended, reason);
        self.gave_up(reason, keys);
        PlanEnd::GaveUp { reason, message }
    }

    fn gave_up<On, K: SharedKeys>(&mut self, reason: Reason, keys: &mut RunKeys<On, K>) {
        for place in 0..self.len() {
            if self.nodes[place].is_open() {
                self.make_dead_end(place, reason, keys);
            }
        }
        self.log_summary(&keys.name);
    }
}

/// The failures of a round.
struct Round {
    /// What the round counts as. `None` if nothing is worth a retry.
    worst: Option<Verdict>,
    /// The places of those that are.
    retried: Vec<(usize, Verdict)>,
}

/// Which of two failures a round counts as.
fn severity(verdict: Verdict) -> (Option<Duration>, Option<usize>) {
    let kinds = [Kind::Timeout, Kind::Throttled];
    let kind = kinds.iter().position(|kind| verdict.kind() == Some(*kind));
    (verdict.hint(), kind)
}
