//! The state of every item. Decides which items a call sends, how its answers are used, and when the next round starts.

use std::collections::BTreeSet;
use std::iter::{Fuse, from_fn};
use std::sync::Arc;
use std::time::Duration;
use std::{fmt, mem, vec};

use retry_runtime::chain::{Classifies, IntoChain, OnError};
use retry_runtime::macro_support::{Described, Job, limit, warn_about_verdict};
use retry_runtime::own_loop::{Call, Failure};
use retry_runtime::{
    AttemptEnd, EventData, Kind, Policy, Reason, RejectedBy, Verdict, seam::AttemptOutcome,
};

use super::ItemError;
use super::groups::{Groups, ItemFailure};
use super::item_error::Miscount;
use super::part::{ItemEnd, Part, ShownPart};
use super::round::Round;
use super::tally::Tally;
use crate::in_flight::{AttemptsOf, BegunAndWaiting, Unit, Work, values_by_key};
use crate::progress::Progress;

pub(super) struct Rounds<'a, Q: IntoChain, I: Iterator, T, E> {
    pub(super) job: Job<'a, Q>,
    on: Q::On,
    /// The maximum number of items per call.
    size: usize,
    /// The reason that nothing more is sent, if the batch has ended.
    ended: Option<Reason>,
    number: u32,
    /// True if a call of this round has started.
    has_begun: bool,
    /// Items that no call has sent yet, for the first round.
    fresh: Fuse<I>,
    /// Items of a later round that are still to be sent.
    queue: vec::IntoIter<Entry<'a, Q, I::Item>>,
    /// Items of this round whose last call failed, by index.
    failed: Vec<(usize, Failed<'a, Q, I::Item>)>,
    /// The result of each item so far. Owned by the caller, so that the results survive if this value is dropped.
    results: &'a mut Vec<Result<T, ItemError<E>>>,
    progress: Progress,
    tally: Tally,
    /// The last part that was given up.
    given_up: Option<Part>,
}

/// An item that may be sent, with its own call.
pub(super) struct Entry<'a, Q: IntoChain, I> {
    index: usize,
    item: I,
    attempts: AttemptsOf<'a, Q>,
    /// True if another item of the last call paid for both items.
    is_unpaid: bool,
}

/// The items of one call.
pub(super) type Entries<'a, Q, I> = Vec<Entry<'a, Q, I>>;

/// The items of one call, with the call itself, which holds the limiter's slot.
pub(super) type Batch<'a, Q, I> = Unit<'a, Q, Entries<'a, Q, I>>;

type Failed<'a, Q, I> = (Entry<'a, Q, I>, ItemFailure);

/// Clones of the items, for a call to send.
pub(super) fn clone_items<Q: IntoChain, I: Clone>(entries: &[Entry<'_, Q, I>]) -> Vec<I> {
    entries.iter().map(|entry| entry.item.clone()).collect()
}

/// The severity of an item's end. A call reports the most severe end of its items to the limiter. The kind matters more
/// than the hint.
fn severity(end: &AttemptOutcome) -> (u8, Option<Duration>) {
    match *end {
        AttemptOutcome::NotBegun => (0, None),
        AttemptOutcome::Ignored | AttemptOutcome::Dropped => (1, None),
        AttemptOutcome::Success => (2, None),
        AttemptOutcome::Failure { kind, hint } => match kind {
            Kind::Throttled => (5, hint),
            Kind::Timeout => (4, hint),
            _ => (3, hint),
        },
    }
}

/// Writes the error of the item at this index.
fn error_writer<T, E, On: OnError<E>>(
    results: &[Result<T, ItemError<E>>],
    on: &On,
) -> impl Fn(usize, &mut fmt::Formatter<'_>) -> fmt::Result {
    |index, f| match &results[index] {
        Ok(_) => Ok(()),
        Err(failed) => failed.write_cause(f, |error, f| on.describe(error, f)),
    }
}

impl<'a, Q, I, T, E> Rounds<'a, Q, I, T, E>
where
    Q: IntoChain<On: OnError<E>>,
    I: Iterator,
{
    /// The results replace the contents of `results`.
    pub(super) fn new(
        job: Job<'a, Q>,
        on: Q::On,
        size: usize,
        items: I,
        results: &'a mut Vec<Result<T, ItemError<E>>>,
    ) -> Self {
        results.clear();
        results.reserve(items.size_hint().0);
        Self {
            job,
            on,
            size,
            ended: None,
            number: 1,
            has_begun: false,
            results,
            fresh: items.fuse(),
            queue: Vec::new().into_iter(),
            failed: Vec::new(),
            progress: Progress::default(),
            tally: Tally::default(),
            given_up: None,
        }
    }

    /// The items of the next call, or `None` once all items of this round are taken. `ended` returns a reason if no
    /// call may start.
    pub(super) fn next_batch(
        &mut self,
        ended: impl FnOnce(&Job<'a, Q>) -> Option<Reason>,
    ) -> Option<Batch<'a, Q, I::Item>> {
        self.ended = self.ended.or_else(|| ended(&self.job));
        self.skip_if_ended();
        let most = self.queue.len() + self.fresh.size_hint().0;
        let size = self.size;
        let mut entries = Vec::with_capacity(most.min(size));
        entries.extend(from_fn(|| self.next_entry()).take(size));
        if entries.is_empty() {
            return None;
        }
        let mut round = self.round_call(entries.len());
        for entry in &entries {
            round.share_rejections(&entry.attempts);
        }
        Some((entries, round))
    }

    /// This round, as a call with the given number of items.
    fn round_call(&self, items: usize) -> AttemptsOf<'a, Q> {
        let mut round = self.job.new_driver();
        round.set_call(Call::after(self.number.saturating_sub(1)));
        round.set_items(items);
        round
    }

    /// Returns the next item to send.
    fn next_entry(&mut self) -> Option<Entry<'a, Q, I::Item>> {
        let entry = self.queue.next().or_else(|| {
            let item = self.fresh.next()?;
            let index = self.results.len();
            let not_sent = ItemError::new(None, 0, Reason::Cancelled);
            self.results.push(Err(not_sent));
            Some(Entry {
                index,
                item,
                attempts: self.job.new_driver(),
                is_unpaid: false,
            })
        })?;
        self.tally.items += 1;
        Some(entry)
    }

    /// Ends the items of a rejected call.
    pub(super) fn end_rejected(&mut self, entries: Entries<'a, Q, I::Item>, by: RejectedBy) {
        for entry in entries {
            self.end_item(&entry, ItemEnd::Rejected(by), by.into());
        }
        self.report_progress();
    }

    /// Ends an item that did not fail itself.
    fn end_item(&mut self, entry: &Entry<'a, Q, I::Item>, end: ItemEnd, reason: Reason) {
        self.give_up(entry.index, reason);
        self.tally.count(end, reason, entry.index);
    }

    /// Starts a call with the items that the breaker admits. The other items wait as a separate call, if they are tried
    /// again.
    fn begin(
        &mut self,
        (entries, mut round): Batch<'a, Q, I::Item>,
    ) -> BegunAndWaiting<'a, Q, Entries<'a, Q, I::Item>> {
        let (mut begun, mut others, mut rejected) = (Vec::new(), Vec::new(), None);
        for mut entry in entries {
            match entry.attempts.pass_breaker(self.job.context.reporter()) {
                Ok(()) => {
                    if let Err(error) = &mut self.results[entry.index] {
                        error.mark_sent(entry.attempts.call().attempt());
                    }
                    begun.push(entry);
                }
                Err(by) => {
                    rejected = Some(by);
                    others.push(entry);
                }
            }
        }
        let waiting = rejected.and_then(|by| {
            let mut call = self.round_call(others.len());
            call.share_rejections(&round);
            call.reject(by);
            self.proceed((others, call), &mut || false).1
        });
        let begun = (!begun.is_empty()).then(|| {
            let is_first = !mem::replace(&mut self.has_begun, true);
            round.begin(is_first, self.job.context.reporter());
            (begun, round)
        });
        self.report_progress();
        (begun, waiting)
    }

    /// Reports the batch's progress to the observer.
    fn report_progress(&mut self) {
        let all = self.results.len() + self.fresh.size_hint().0;
        self.progress.report(&mut self.job, self.number, all);
    }

    fn give_up(&mut self, index: usize, reason: Reason) {
        self.progress.add_failed(1);
        if let Err(error) = &mut self.results[index] {
            error.reason = reason;
        }
    }

    /// Stops sending items of this round if the batch has ended.
    fn skip_if_ended(&mut self) {
        let Some(reason) = self.ended else { return };
        while let Some(entry) = self.next_entry() {
            self.end_item(&entry, ItemEnd::NotSent, reason);
        }
    }

    /// Records the failure of the whole call, as one request. Returns the outcome for the limiter.
    fn fail_all(&mut self, entries: Entries<'a, Q, I::Item>, error: E) -> AttemptOutcome {
        let verdict = self.verdict(&error);
        let error = Arc::new(error);
        let mut leaders = BTreeSet::new();
        for mut entry in entries {
            if !leaders.is_empty() {
                entry.attempts.release();
            }
            let is_leader = leaders.insert(entry.attempts.call());
            self.record_failure(entry, Arc::clone(&error), verdict, is_leader);
        }
        AttemptOutcome::of_failure(verdict)
    }

    /// Records a separate answer for each item. Returns the outcome for the limiter.
    fn record_answers(
        &mut self,
        entries: Entries<'a, Q, I::Item>,
        answers: Vec<Result<T, E>>,
    ) -> AttemptOutcome {
        // If every item succeeded, the call counts as one successful request, not as one per item.
        let is_whole = answers.iter().all(Result::is_ok);
        let (mut is_first, mut has_fresh) = (true, false);
        let mut worst = AttemptOutcome::NotBegun;
        for (mut entry, answer) in entries.into_iter().zip(answers) {
            let end = match answer {
                Ok(value) => {
                    if is_whole && !mem::take(&mut is_first) {
                        entry.attempts.release();
                    }
                    let is_fresh = !entry.attempts.call().is_retried();
                    let is_another = entry.is_unpaid || is_fresh && has_fresh;
                    has_fresh |= is_fresh;
                    self.record_success(&mut entry, !(is_whole && is_another));
                    self.results[entry.index] = Ok(value);
                    AttemptOutcome::Success
                }
                Err(error) => {
                    let verdict = self.verdict(&error);
                    self.record_failure(entry, Arc::new(error), verdict, true);
                    AttemptOutcome::of_failure(verdict)
                }
            };
            if severity(&end) > severity(&worst) {
                worst = end;
            }
        }
        worst
    }

    /// Records a wrong number of answers, which can't be matched to items. Returns the outcome for the limiter.
    fn end_miscount(&mut self, entries: Entries<'a, Q, I::Item>, answers: usize) -> AttemptOutcome {
        let items = entries.len();
        let miscount = Miscount { answers, items };
        for mut entry in entries {
            entry.attempts.release();
            let reason = Reason::Unanswered;
            self.end_item(&entry, ItemEnd::Miscounted(miscount), reason);
            let attempts = entry.attempts.call().attempt();
            let error = ItemError::new(Some(Err(miscount)), attempts, reason);
            self.results[entry.index] = Err(error);
        }
        AttemptOutcome::Ignored
    }

    /// Records an item's success on the breaker, and on the budget if the item leads.
    fn record_success(&mut self, entry: &mut Entry<'a, Q, I::Item>, is_leader: bool) {
        entry.attempts.answered(self.job.context.reporter());
        if entry.is_unpaid {
            // Another item paid for its retry.
            entry.attempts.set_last_retry_kind(None);
        }
        if is_leader {
            entry.attempts.credit_success();
        }
        self.progress.add_done(1);
    }

    fn verdict(&mut self, error: &E) -> Verdict {
        let verdict = self.on.verdict(error);
        if verdict.warns() {
            let on = &self.on;
            warn_about_verdict(self.job.context.name(), verdict, &Described { on, error });
        }
        verdict
    }

    fn record_failure(
        &mut self,
        mut entry: Entry<'a, Q, I::Item>,
        error: Arc<E>,
        verdict: Verdict,
        is_leader: bool,
    ) {
        let shown = Described {
            on: &self.on,
            error: &*error,
        };
        let (site, reporter) = self.job.context.parts();
        let failure = Failure::new(&site, verdict, &shown);
        entry.attempts.record_failure(&failure, reporter);
        let call = entry.attempts.call();
        let error = ItemError::new(Some(Ok(error)), call.attempt(), Reason::Cancelled);
        self.results[entry.index] = Err(error);
        let failure = ItemFailure {
            index: entry.index,
            call,
            verdict,
            is_leader,
            is_unpaid: entry.is_unpaid,
        };
        self.failed.push((entry.index, (entry, failure)));
    }

    /// Ends a round. Returns the pause before the next round, or `None` if there is nothing left to send.
    pub(super) fn next_round(&mut self, is_cancelled: impl FnOnce() -> bool) -> Option<Duration> {
        let tally = mem::take(&mut self.tally);
        let policy = self.job.context.policy_in_force();
        let round = self.round(&policy, tally.items, is_cancelled);
        // Calls can end in any order.
        let failed = values_by_key(mem::take(&mut self.failed));
        let mut failures = failed.iter().map(|(_, failure)| *failure);
        let mut groups = Groups::new(&round, &mut failures, &self.job);
        let mut queue = Vec::with_capacity(failed.len());
        for (mut entry, failure) in failed {
            match groups.decision(failure) {
                Ok(call) => {
                    entry.attempts.set_decision(call, failure.is_leader);
                    entry.is_unpaid = !failure.is_leader;
                    queue.push(entry);
                }
                Err(reason) => self.give_up(entry.index, reason),
            }
        }
        self.queue = queue.into_iter();
        self.report_progress();
        let shown = error_writer(self.results, &self.on);
        let of_groups = round.report(groups.parts(), &shown, &mut self.job);
        let of_tally = round.report(tally.parts(self.number), &shown, &mut self.job);
        drop(shown);
        self.given_up = of_tally.or(of_groups).or(self.given_up);
        if groups.pause.is_some() {
            self.number = self.number.saturating_add(1);
            self.has_begun = false;
        } else {
            let ended = match of_groups {
                Some(failed) => Some(AttemptEnd::failed(failed.kind)),
                None if self.has_begun => tally.end_of_round(),
                None => None,
            };
            self.report_end(policy.retries_allowed(), ended);
        }
        groups.pause
    }

    /// The data of the round that has ended.
    fn round<'p>(
        &self,
        policy: &'p Policy,
        items: usize,
        is_cancelled: impl FnOnce() -> bool,
    ) -> Round<'p>
    where
        'a: 'p,
    {
        let (deadline, now) = (self.job.deadline(), self.job.now());
        // Just after the deadline: at the deadline itself, another round could still start.
        let over = deadline.filter(|_| self.ended == Some(Reason::Deadline));
        let over = over.and_then(|end| end.checked_add(Duration::from_nanos(1)));
        let now = over.map_or(now, |over| now.max(over));
        Round {
            policy,
            deadline,
            now,
            left: deadline.map_or(Duration::MAX, |end| end.since(now)),
            cancelled: self.ended == Some(Reason::Cancelled) || is_cancelled(),
            idempotent: self.job.is_idempotent(),
            name: self.job.context.name(),
            number: self.number,
            items,
        }
    }

    /// Reports the end of the batch and of its last round. Items that were given up are already in the log, from the
    /// reports of rounds. A success is logged only after a failure.
    fn report_end(&mut self, max: u32, ended: Option<AttemptEnd>) {
        let given_up = self.given_up.map(|part| (part, part.decision));
        if let Some((part, Err(reason))) = given_up {
            let number = self.number - u32::from(!self.has_begun);
            let items = self.results.iter().filter(|result| result.is_err()).count();
            let part = Part {
                items,
                total: self.results.len(),
                ..part
            };
            let shown = &error_writer(self.results, &self.on);
            let data = EventData::GaveUp {
                attempts: number,
                corrections: 0,
                max: limit(max),
                error: &ShownPart { part, shown },
                ended,
                reason,
            };
            return self.job.report_unlogged_end(number, data);
        }
        let is_reported = self.number > 1 || self.has_begun && self.job.context.is_observed();
        if is_reported && self.results.iter().all(Result::is_ok) {
            let call = Call::after(self.number.saturating_sub(1));
            let mut all = self.job.new_driver();
            all.set_call(call.with_max(max));
            all.report_success(self.job.context.reporter());
        }
    }
}

impl<'a, Q, I, T, E> Work<'a, Q, Entries<'a, Q, I::Item>, Result<Vec<Result<T, E>>, E>>
    for Rounds<'a, Q, I, T, E>
where
    Q: IntoChain<On: OnError<E>>,
    I: Iterator,
{
    fn key(entries: &Entries<'a, Q, I::Item>) -> usize {
        entries.first().map_or(0, |entry| entry.index)
    }

    fn next(&mut self, is_cancelled: &mut dyn FnMut() -> bool) -> Option<Batch<'a, Q, I::Item>> {
        self.next_batch(|job| job.end_reason(is_cancelled))
    }

    /// Starts the call, makes it wait, or ends its items if it is rejected for good.
    fn proceed(
        &mut self,
        (mut entries, mut round): Batch<'a, Q, I::Item>,
        _: &mut dyn FnMut() -> bool,
    ) -> BegunAndWaiting<'a, Q, Entries<'a, Q, I::Item>> {
        let waits = {
            let (site, reporter) = self.job.context.parts();
            // Cancellation was checked earlier: a cancelled batch starts no further call.
            round.proceed(&site, &mut || false, reporter)
        };
        for entry in &mut entries {
            entry.attempts.share_rejections(&round);
        }
        match waits {
            Ok(false) => self.begin((entries, round)),
            Ok(true) => {
                self.report_progress();
                (None, Some((entries, round)))
            }
            Err(by) => {
                self.end_rejected(entries, by);
                (None, None)
            }
        }
    }

    fn handle_outcome(
        &mut self,
        (entries, mut round): Batch<'a, Q, I::Item>,
        answers: Result<Vec<Result<T, E>>, E>,
    ) {
        let end = match answers {
            Err(error) => self.fail_all(entries, error),
            Ok(answers) if answers.len() == entries.len() => self.record_answers(entries, answers),
            Ok(answers) => self.end_miscount(entries, answers.len()),
        };
        round.leave(end, self.job.context.reporter());
        self.report_progress();
    }

    fn handle_stop(
        &mut self,
        by: RejectedBy,
        waiting: Vec<Entries<'a, Q, I::Item>>,
        begun: Vec<Batch<'a, Q, I::Item>>,
    ) {
        for entries in waiting {
            self.end_rejected(entries, by);
        }
        if by == RejectedBy::Deadline {
            self.ended = Some(Reason::Deadline);
            for entry in begun.into_iter().flat_map(|(entries, _)| entries) {
                self.end_item(&entry, ItemEnd::Dropped, Reason::Deadline);
            }
            self.skip_if_ended();
        }
    }
}
