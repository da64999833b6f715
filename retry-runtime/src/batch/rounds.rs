//! The state of every item. Decides what a call sends, what its answers mean, and when the next round begins.

use alloc::borrow::ToOwned;
use alloc::collections::BTreeSet;
use alloc::sync::Arc;
use alloc::vec;
use core::fmt;
use core::iter::Fuse;
use core::mem;
use core::time::Duration;

use super::ItemError;
use super::batches::AttemptsOf;
use super::groups::{Groups, ItemFailure};
use super::item_error::Miscount;
use super::part::{ItemEnd, Part};
use super::round::Round;
use super::tally::Tally;
use crate::admission::outcome::AttemptOutcome;
use crate::call::failure::Failure;
use crate::call::protections::Protects;
use crate::call::state::Call;
use crate::chain::context::{Context, Observes};
use crate::chain::into_chain::IntoChain;
use crate::chain::on_error::{Classifies, Described, OnError};
use crate::classify::kind::Kind;
use crate::classify::rejected::{Rejected, RejectedBy};
use crate::classify::verdict::Verdict;
use crate::in_flight::{Shared, in_order};
use crate::observe::event::AttemptEnd;
use crate::observe::ignored_timeout;
use crate::observe::progress::Progress;
use crate::observe::reason::Reason;
use crate::observe::report::reborrow;
use crate::observe::verdict_warning;
use crate::policy::Policy;
use crate::policy::schedule::limit;
use crate::time::moment::Moment;

pub(super) struct Rounds<'a, Q: IntoChain, I: Iterator, T, E> {
    pub(super) rules: Context<'a, Q::Observer>,
    shared: Shared<'a, Q::Protections, Q::Timer>,
    /// How many items go into one call at most.
    size: usize,
    on: Q::On,
    /// When the batch ends at the latest.
    pub(super) deadline: Option<Moment>,
    /// Why nothing more is sent, where that is so.
    ended: Option<Reason>,
    number: u32,
    /// Whether a call of this round was begun.
    has_begun: bool,
    /// Items that no call has sent yet: the first round's.
    fresh: Fuse<I>,
    /// Items of this round, if it is not the first, that are still to be sent.
    queue: vec::IntoIter<Entry<'a, Q, I::Item>>,
    /// Items of this round whose last call failed.
    failed: Vec<(usize, Failed<'a, Q, I::Item>)>,
    /// What every item drawn so far ends with if nothing more happens. The caller has it also where this is dropped.
    results: &'a mut Vec<Result<T, ItemError<E>>>,
    tally: Tally,
    /// What was given up last.
    given_up: Option<Part>,
    progress: Progress,
}

/// An item that may be sent, as a call of its own.
pub(super) struct Entry<'a, Q: IntoChain, I> {
    index: usize,
    item: I,
    attempts: AttemptsOf<'a, Q>,
    /// Whether another item of the last call paid for both.
    is_unpaid: bool,
}

/// The items of one call, and its slot of the limiter, which its round as a call has.
pub(super) struct Batch<'a, Q: IntoChain, I> {
    pub(super) entries: Vec<Entry<'a, Q, I>>,
    pub(super) round: AttemptsOf<'a, Q>,
}

/// A call that begins, and one that waits.
type BegunAndWaiting<B> = (Option<B>, Option<B>);

type Failed<'a, Q, I> = (Entry<'a, Q, I>, ItemFailure);

/// A call. True if it has to wait before it may begin. `None` if the call was rejected.
type Standing<'a, Q, I> = Option<(Batch<'a, Q, I>, bool)>;

impl<Q: IntoChain, I: Clone> Batch<'_, Q, I> {
    pub(super) fn items(&self) -> Vec<I> {
        let items = self.entries.iter().map(|entry| entry.item.clone());
        items.collect()
    }
}

/// The more severe of two ends: what the limiter hears of a call whose items ended so. That it throttles says more of a
/// server than for how long.
fn more_severe(one: AttemptOutcome, other: AttemptOutcome) -> AttemptOutcome {
    let severity = |end: &AttemptOutcome| match *end {
        AttemptOutcome::NotBegun => (0, None),
        AttemptOutcome::Ignored | AttemptOutcome::Dropped => (1, None),
        AttemptOutcome::Success => (2, None),
        AttemptOutcome::Failure { kind, hint } => match kind {
            Kind::Throttled => (5, hint),
            Kind::Timeout => (4, hint),
            _ => (3, hint),
        },
    };
    if severity(&other) > severity(&one) {
        other
    } else {
        one
    }
}

/// Writes the error of the item with that index.
fn shown<T, E, On: OnError<E>>(
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
    /// Results are put into `results`, whose content they replace.
    pub(super) fn new(
        rules: Context<'a, Q::Observer>,
        shared: Shared<'a, Q::Protections, Q::Timer>,
        size: usize,
        on: Q::On,
        items: I,
        results: &'a mut Vec<Result<T, ItemError<E>>>,
    ) -> Self {
        if rules.policy().attempt_limit().is_some() {
            ignored_timeout::tell(rules.name());
        }
        let limit = rules.policy().time_limit();
        let now = || shared.now();
        results.clear();
        results.reserve(items.size_hint().0);
        Self {
            deadline: limit.and_then(|limit| now().checked_add(limit)),
            ended: None,
            rules,
            shared,
            size,
            on,
            number: 1,
            has_begun: false,
            results,
            fresh: items.fuse(),
            queue: Vec::new().into_iter(),
            failed: Vec::new(),
            tally: Tally::default(),
            given_up: None,
            progress: Progress::default(),
        }
    }

    /// What the next call sends; `None` once all of this round was handed out. `ended` is asked why no call may begin.
    pub(super) fn next_batch(
        &mut self,
        ended: impl FnOnce() -> Option<Reason>,
    ) -> Option<Batch<'a, Q, I::Item>> {
        self.ended = self.ended.or_else(ended);
        if let Some(reason) = self.ended {
            self.leave(reason);
            return None;
        }
        let most = self.queue.len() + self.fresh.size_hint().0;
        let mut entries = Vec::with_capacity(most.min(self.size));
        while entries.len() < self.size {
            let Some(entry) = self.queue.next().or_else(|| self.fresh()) else {
                break;
            };
            self.tally.items += 1;
            entries.push(entry);
        }
        if entries.is_empty() {
            return None;
        }
        let mut round = self.round_of(entries.len());
        for entry in &entries {
            round.share_rejections(&entry.attempts);
        }
        Some(Batch { entries, round })
    }

    /// This round as a call with that many items.
    fn round_of(&self, items: usize) -> AttemptsOf<'a, Q> {
        let mut round = self.shared.attempts();
        round.set_call(Call::after(self.number.saturating_sub(1)));
        round.set_end(self.deadline);
        round.retry_rejections();
        round.set_items(items);
        round
    }

    /// The next item that no call has sent yet.
    fn fresh(&mut self) -> Option<Entry<'a, Q, I::Item>> {
        if self.number != 1 {
            return None;
        }
        let item = self.fresh.next()?;
        let index = self.results.len();
        self.results
            .push(Err(ItemError::not_sent(Reason::Cancelled)));
        Some(Entry {
            index,
            item,
            attempts: self.shared.attempts(),
            is_unpaid: false,
        })
    }

    /// Takes a call as far as it gets without waiting. A rejected call is tried again after a pause, or its items end.
    pub(super) fn proceed(&mut self, mut batch: Batch<'a, Q, I::Item>) -> Standing<'a, Q, I::Item> {
        while batch.round.waits(self.rules.reporter()) {
            let Some((by, half_open_in)) = batch.round.rejection() else {
                self.progressed();
                return Some((batch, true));
            };
            // Never cancelled here: a batch that is cancelled begins no further call.
            let (site, reporter) = self.rules.parts();
            let rejected = Rejected::new(by);
            let failure = Failure::of_rejection(&site, &rejected, half_open_in);
            batch.round.rejected(failure, reporter);
            for entry in &mut batch.entries {
                entry.attempts.share_rejections(&batch.round);
            }
        }
        match batch.round.stop() {
            None => Some((batch, false)),
            Some(stop) => {
                self.rejected(batch.entries, stop.rejected().by());
                None
            }
        }
    }

    /// The call does not begin, and its items end.
    pub(super) fn rejected(&mut self, entries: Vec<Entry<'a, Q, I::Item>>, by: RejectedBy) {
        for mut entry in entries {
            self.end(&mut entry, ItemEnd::Rejected(by), by.into());
        }
        self.progressed();
    }

    /// The retries that are reported as allowed.
    fn max(&self) -> Option<u32> {
        limit(self.rules.policy_in_force().retries_allowed())
    }

    /// Ends an item without a failure of its own.
    fn end(&mut self, entry: &mut Entry<'a, Q, I::Item>, end: ItemEnd, reason: Reason) {
        self.give_up(entry.index, reason);
        let max = self.max();
        self.tally.ended(end, max, entry.index, 1);
    }

    /// Begins a call that waits for nothing, with the items that the breaker lets through. Returns it, and what waits:
    /// the call, or its other items as a call of their own, if they are tried again.
    pub(super) fn begin(
        &mut self,
        (mut batch, waits): (Batch<'a, Q, I::Item>, bool),
    ) -> BegunAndWaiting<Batch<'a, Q, I::Item>> {
        if waits {
            return (None, Some(batch));
        }
        let (mut rejected, mut others) = (None, Vec::new());
        let entries = batch.entries.into_iter().filter_map(|mut entry| {
            if let Err(by) = self.admit(&mut entry) {
                rejected = Some(by);
                others.push(entry);
                return None;
            }
            Some(entry)
        });
        batch.entries = entries.collect();
        let begins = !batch.entries.is_empty();
        let others = rejected.and_then(|by| {
            let mut round = self.round_of(others.len());
            round.share_rejections(&batch.round);
            round.reject(by);
            let entries = others;
            self.proceed(Batch { entries, round })
        });
        if begins {
            batch.round.begin_batch();
            if !mem::replace(&mut self.has_begun, true) {
                batch.round.report_started(self.rules.reporter());
            }
        }
        self.progressed();
        (begins.then_some(batch), others.map(|(others, _)| others))
    }

    /// Asks the breaker if the item may be sent.
    fn admit(&mut self, entry: &mut Entry<'a, Q, I::Item>) -> Result<(), RejectedBy> {
        entry.attempts.begin_item(self.rules.reporter())?;
        if let Err(error) = &mut self.results[entry.index] {
            error.sent(entry.attempts.call().attempt());
        }
        Ok(())
    }

    /// Tells the observer how far the batch is.
    fn progressed(&mut self) {
        let all = self.results.len() + self.fresh.size_hint().0;
        let (progress, number, now) = (&mut self.progress, self.number, || self.shared.now());
        self.rules.report_once(&now, |site, observe| {
            progress.report(site.name(), number, all, observe);
        });
    }

    fn give_up(&mut self, index: usize, reason: Reason) {
        self.progress.failed(1);
        if let Err(error) = &mut self.results[index] {
            error.reason = reason;
        }
    }

    /// Sends nothing more of this round.
    fn leave(&mut self, reason: Reason) {
        for mut entry in mem::take(&mut self.queue) {
            self.tally.items += 1;
            self.end(&mut entry, ItemEnd::NotSent, reason);
        }
        if self.number == 1 {
            let sent = self.results.len();
            for _ in self.fresh.by_ref() {
                self.results.push(Err(ItemError::not_sent(reason)));
            }
            let items = self.results.len() - sent;
            self.progress.failed(items);
            self.tally.items += items;
            let max = self.max();
            self.tally.ended(ItemEnd::NotSent, max, sent, items);
        }
    }

    /// The deadline came while these calls were under way, which were dropped.
    pub(super) fn dropped(&mut self, calls: impl Iterator<Item = Batch<'a, Q, I::Item>>) {
        self.ended = Some(Reason::Deadline);
        for mut entry in calls.flat_map(|batch| batch.entries) {
            self.end(&mut entry, ItemEnd::Dropped, Reason::Deadline);
        }
        self.leave(Reason::Deadline);
    }

    /// Takes in what a call returned.
    pub(super) fn answered(
        &mut self,
        Batch { entries, mut round }: Batch<'a, Q, I::Item>,
        answers: Result<Vec<Result<T, E>>, E>,
    ) {
        let end = match answers {
            Err(error) => self.all_failed(entries, error),
            Ok(answers) if answers.len() == entries.len() => self.each(entries, answers),
            Ok(answers) => self.miscounted(entries, answers.len()),
        };
        round.leave(end, self.rules.reporter());
        self.progressed();
    }

    /// One request failed, not as many as it has items. Returns what the limiter is told.
    fn all_failed(&mut self, entries: Vec<Entry<'a, Q, I::Item>>, error: E) -> AttemptOutcome {
        let verdict = self.verdict(&error);
        let error = Arc::new(error);
        let mut leaders = BTreeSet::new();
        for mut entry in entries {
            if !leaders.is_empty() {
                entry.attempts.release();
            }
            let leads = leaders.insert(entry.attempts.call());
            self.failed(entry, Arc::clone(&error), verdict, leads);
        }
        AttemptOutcome::of_failure(verdict)
    }

    /// Each item has an answer of its own. Returns what the limiter is told.
    fn each(
        &mut self,
        entries: Vec<Entry<'a, Q, I::Item>>,
        answers: Vec<Result<T, E>>,
    ) -> AttemptOutcome {
        // One request succeeded, not as many as it has items.
        let is_whole = answers.iter().all(Result::is_ok);
        let (mut is_first, mut has_fresh) = (true, false);
        let mut end = AttemptOutcome::NotBegun;
        for (mut entry, answer) in entries.into_iter().zip(answers) {
            match answer {
                Ok(value) => {
                    end = more_severe(end, AttemptOutcome::Success);
                    if is_whole && !mem::take(&mut is_first) {
                        entry.attempts.release();
                    }
                    let is_fresh = !entry.attempts.call().is_retried();
                    let is_another = entry.is_unpaid || is_fresh && has_fresh;
                    has_fresh |= is_fresh;
                    self.succeeded(&mut entry, !(is_whole && is_another));
                    self.results[entry.index] = Ok(value);
                }
                Err(error) => {
                    let verdict = self.verdict(&error);
                    end = more_severe(end, AttemptOutcome::of_failure(verdict));
                    self.failed(entry, Arc::new(error), verdict, true);
                }
            }
        }
        end
    }

    /// Nobody can tell which answer belongs to which item. Returns what the limiter is told.
    fn miscounted(
        &mut self,
        entries: Vec<Entry<'a, Q, I::Item>>,
        answers: usize,
    ) -> AttemptOutcome {
        let items = entries.len();
        let miscount = Miscount { answers, items };
        for mut entry in entries {
            entry.attempts.release();
            self.end(
                &mut entry,
                ItemEnd::Miscounted(miscount),
                Reason::Unanswered,
            );
            let attempts = entry.attempts.call().attempt();
            self.results[entry.index] = Err(ItemError::miscounted(miscount, attempts));
        }
        AttemptOutcome::Ignored
    }

    /// Tells breaker and budget of an item that has its value; the budget unless another speaks for it.
    fn succeeded(&mut self, entry: &mut Entry<'a, Q, I::Item>, leads: bool) {
        entry.attempts.answered(self.rules.reporter());
        if entry.is_unpaid {
            // There is nothing to give back.
            entry.attempts.set_followed(None);
        }
        if leads {
            entry.attempts.credit_success();
        }
        self.progress.done(1);
    }

    fn verdict(&mut self, error: &E) -> Verdict {
        let verdict = self.on.verdict(error);
        if verdict.warns() {
            let on = &self.on;
            verdict_warning::tell(self.rules.name(), verdict, &Described { on, error });
        }
        verdict
    }

    fn failed(
        &mut self,
        mut entry: Entry<'a, Q, I::Item>,
        error: Arc<E>,
        verdict: Verdict,
        leads: bool,
    ) {
        let shown = Described {
            on: &self.on,
            error: &*error,
        };
        let (site, reporter) = self.rules.parts();
        let failure = Failure::new(&site, verdict, &shown);
        entry.attempts.record_failure(&failure, reporter);
        let call = entry.attempts.call();
        self.results[entry.index] = Err(ItemError::failed(error, call.attempt()));
        let failure = ItemFailure {
            index: entry.index,
            call,
            verdict,
            leads,
            is_unpaid: entry.is_unpaid,
        };
        self.failed.push((entry.index, (entry, failure)));
    }

    /// Ends a round: the pause before the next, or `None` where there is nothing left to send.
    pub(super) fn next_round(&mut self, is_cancelled: impl FnOnce() -> bool) -> Option<Duration> {
        let tally = mem::take(&mut self.tally);
        let name = self.rules.name().to_owned();
        let policy = self.rules.policy_in_force();
        let round = self.round((&policy, &name), tally.items, is_cancelled);
        // Calls end in any order.
        let failed = in_order(mem::take(&mut self.failed));
        let mut failures = failed.iter().map(|(_, (_, failure))| *failure);
        let budget = self.shared.protections.budget();
        let is_limited = self.shared.handles_throttling();
        let mut groups = Groups::new(&round, &mut failures, budget, is_limited);
        let queue = self.sent_again(failed.into_iter().map(|(_, failed)| failed), &mut groups);
        self.progressed();
        let shown = shown(self.results, &self.on);
        let (of_groups, of_tally) =
            self.rules
                .report_once(&|| self.shared.now(), |_, mut observe| {
                    let of_groups = groups.report(&shown, reborrow(&mut observe));
                    (of_groups, tally.report(&round, self.ended, &shown, observe))
                });
        drop(shown);
        self.given_up = of_tally.or(of_groups).or(self.given_up);
        let pause = groups.pause;
        if pause.is_some() {
            self.number = self.number.saturating_add(1);
            self.has_begun = false;
        } else {
            let ended = match of_groups {
                Some(failed) => Some(AttemptEnd::failed(failed.kind)),
                None if self.has_begun => tally.end_of_round(),
                None => None,
            };
            self.tell_of_end(&round, ended);
        }
        self.queue = queue.into_iter();
        pause
    }

    /// The round that has ended.
    fn round<'p>(
        &self,
        (policy, name): (&'p Policy, &'p str),
        items: usize,
        is_cancelled: impl FnOnce() -> bool,
    ) -> Round<'p> {
        // Without a deadline nobody asks.
        let now = self
            .deadline
            .map_or(Moment::from_origin(Duration::ZERO), |_| self.shared.now());
        Round {
            policy,
            deadline: self.deadline,
            now: match (self.ended, self.deadline) {
                // Not at it, where another round could begin.
                (Some(Reason::Deadline), Some(end)) => {
                    now.max(end.checked_add(Duration::from_nanos(1)).unwrap_or(end))
                }
                _ => now,
            },
            cancelled: self.ended == Some(Reason::Cancelled) || is_cancelled(),
            idempotent: self.rules.settings.idempotent,
            name,
            number: self.number,
            items,
        }
    }

    /// The items that the next round sends. All others are given up.
    fn sent_again(
        &mut self,
        failed: impl Iterator<Item = Failed<'a, Q, I::Item>>,
        groups: &mut Groups<'_>,
    ) -> Vec<Entry<'a, Q, I::Item>> {
        let mut again = Vec::with_capacity(failed.size_hint().0);
        for (mut entry, failure) in failed {
            match groups.decision(failure) {
                Ok(call) => {
                    entry.attempts.decided(call, failure.leads);
                    entry.is_unpaid = !failure.leads;
                    again.push(entry);
                }
                Err(reason) => self.give_up(entry.index, reason),
            }
        }
        again
    }

    /// Tells of the end of the batch after that round, which ended so.
    fn tell_of_end(&mut self, round: &Round<'_>, ended: Option<AttemptEnd>) {
        if let Some((part, reason)) = self
            .given_up
            .and_then(|part| Some((part, part.follows.err()?)))
        {
            let items = self.results.iter().filter(|result| result.is_err()).count();
            let all = Round {
                number: self.number - u32::from(!self.has_begun),
                items: self.results.len(),
                ..*round
            };
            let shown = shown(self.results, &self.on);
            let part = Part { items, ..part };
            self.rules.report_once(&|| self.shared.now(), |_, observe| {
                all.gave_up(part, reason, ended, &shown, observe);
            });
            return;
        }
        // The log hears of a success only after a failure.
        let is_reported = self.number > 1 || self.has_begun && Q::Observer::OBSERVES;
        if is_reported && self.results.iter().all(Result::is_ok) {
            let call = Call::after(self.number.saturating_sub(1));
            let max = self.rules.policy_in_force().retries_allowed();
            let mut all = self.shared.attempts();
            all.set_call(call.with_max(max));
            all.report_success(self.rules.reporter());
        }
    }
}
