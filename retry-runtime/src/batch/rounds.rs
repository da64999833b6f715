//! The state of every item. Decides what a call sends, what its answers mean, and when the next round begins.

use std::any::type_name;
use std::collections::BTreeMap;
use std::fmt;
use std::iter::Fuse;
use std::mem;
use std::sync::Arc;
use std::time::Duration;
use std::vec;

use super::ItemError;
use super::groups::{Groups, Round};
use super::item_error::Miscount;
use crate::call::decide;
use crate::call::failure::Failure;
#[cfg(feature = "nested")]
use crate::call::nested::Outer;
use crate::call::rejected::{Rejected, RejectedBy};
use crate::call::site::Site;
use crate::call::state::Call;
use crate::chain::breaker::{Admitted, MayAdmit};
use crate::chain::budget::MayPay;
use crate::chain::observer::MayObserve;
use crate::chain::on_error::{Described, OnError};
use crate::classify::verdict::Verdict;
use crate::observe::ignored_timeout;
use crate::observe::reason::Reason;
use crate::policy::Policy;
use crate::time::moment::Moment;

/// What a batch goes by.
pub(super) struct Rules<'k, On, B, R, O> {
    pub(super) policy: Policy,
    pub(super) on: On,
    pub(super) size: usize,
    pub(super) name: &'k str,
    pub(super) budget: &'k B,
    pub(super) breaker: &'k R,
    pub(super) observer: O,
    pub(super) idempotent: bool,
}

pub(super) struct Rounds<'a, 'k, I: Iterator, T, E, On, B: MayPay, R: MayAdmit, O> {
    rules: Rules<'k, On, B, R, O>,
    deadline: Option<Moment>,
    /// Why nothing more is sent, where that is so.
    ended: Option<Reason>,
    number: u32,
    /// The most retries that an item of this round is allowed, if it is not the first.
    in_force: u32,
    /// Items that no call has sent yet: the first round's.
    fresh: Fuse<I>,
    /// Items of this round, if it is not the first, that are still to be sent.
    queue: vec::IntoIter<Entry<I::Item, B, R>>,
    /// Items of this round whose last call failed.
    failed: Vec<Failed<I::Item, B, R>>,
    /// Of every item drawn so far, what it ends with if nothing more happens. The caller's, which has them also where
    /// this is dropped.
    results: &'a mut Vec<Result<T, ItemError<E>>>,
    tally: Tally,
}

/// What is reported about a round once it has ended.
#[derive(Default)]
struct Tally {
    items: usize,
    /// Items that ended without a failure of their own, with the retries that they were allowed: the first of them, and
    /// how many.
    ended: BTreeMap<(End, Option<u32>), (usize, usize)>,
}

/// How items ended without a failure of their own, in the order in which it is reported.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum End {
    /// Of calls with a wrong number of answers.
    Miscounted(Miscount),
    /// Of calls that were dropped at the deadline.
    Dropped,
    /// They were not sent, since the batch had ended.
    NotSent,
    /// They were not sent, since the breaker let no attempt of theirs through.
    Rejected,
}

impl Tally {
    /// The items, of which `first` is the first, end so.
    fn ended(&mut self, end: End, max: Option<u32>, first: usize, items: usize) {
        if items > 0 {
            self.ended.entry((end, max)).or_insert((first, 0)).1 += items;
        }
    }

    /// `ended` is why the batch ended early, if it did. `shown` writes the error of the item with that index.
    fn report(
        &self,
        round: &Round<'_>,
        ended: Option<Reason>,
        shown: &ShownItem<'_>,
        observer: &mut impl MayObserve,
    ) {
        for ((end, max), (first, items)) in &self.ended {
            let mut gave_up = |round: &Round<'_>, error: &dyn fmt::Display, reason| {
                round.gave_up(&round.part(*items, error), *max, reason, observer.observe());
            };
            // In the round before, they were sent, and failed.
            let before = Round {
                number: round.number - 1,
                ..*round
            };
            match (end, ended) {
                (End::Miscounted(miscount), _) => gave_up(round, miscount, Reason::Unanswered),
                (End::Rejected, _) if round.number > 1 => {
                    gave_up(&before, &Of(shown, *first), Reason::Rejected);
                }
                (End::Rejected, _) => {
                    let rejected = Rejected::new(RejectedBy::Breaker);
                    gave_up(&before, &rejected, Reason::Rejected);
                }
                (End::Dropped, Some(reason)) => {
                    gave_up(round, &"dropped before an answer", reason);
                }
                (End::NotSent, Some(reason)) if round.number == 1 => {
                    gave_up(round, &"not sent", reason);
                }
                (End::NotSent, Some(reason)) => {
                    gave_up(&before, &Of(shown, *first), reason);
                }
                (End::Dropped | End::NotSent, None) => {}
            }
        }
    }
}

/// Writes the error of the item with that index.
pub(super) type ShownItem<'a> = dyn Fn(usize, &mut fmt::Formatter<'_>) -> fmt::Result + 'a;

/// The error of that item.
pub(super) struct Of<'a>(pub(super) &'a ShownItem<'a>, pub(super) usize);

impl fmt::Display for Of<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0(self.1, f)
    }
}

/// An item that may be sent.
struct Entry<I, B: MayPay, R: MayAdmit> {
    index: usize,
    item: I,
    call: Call,
    /// What was paid for sending it again.
    paid: B::Paid,
    /// What let it be sent.
    admitted: Option<Admitted<R>>,
}

/// An item whose last call failed.
type Failed<I, B, R> = (Entry<I, B, R>, Verdict);

/// The items of one call.
pub(super) struct Batch<I, B: MayPay, R: MayAdmit>(Vec<Entry<I, B, R>>);

impl<I: Clone, B: MayPay, R: MayAdmit> Batch<I, B, R> {
    pub(super) fn items(&self) -> Vec<I> {
        self.0.iter().map(|entry| entry.item.clone()).collect()
    }
}

impl<'a, 'k, I, T, E, On, B, R, O> Rounds<'a, 'k, I, T, E, On, B, R, O>
where
    I: Iterator,
    On: OnError<E>,
    B: MayPay,
    R: MayAdmit,
    O: MayObserve,
{
    /// Results are put into `results`, whose content they replace.
    pub(super) fn new(
        rules: Rules<'k, On, B, R, O>,
        items: I,
        results: &'a mut Vec<Result<T, ItemError<E>>>,
        now: impl FnOnce() -> Moment,
    ) -> Self {
        if rules.policy.attempt_limit().is_some() {
            ignored_timeout::tell(rules.name);
        }
        let limit = rules.policy.time_limit();
        results.clear();
        results.reserve(items.size_hint().0);
        Self {
            deadline: limit.and_then(|limit| now().checked_add(limit)),
            ended: None,
            rules,
            number: 1,
            in_force: 0,
            results,
            fresh: items.fuse(),
            queue: Vec::new().into_iter(),
            failed: Vec::new(),
            tally: Tally::default(),
        }
    }

    /// The batch, to calls within its own.
    #[cfg(feature = "nested")]
    pub(super) fn outer(&self) -> Outer {
        Outer::shared(&self.rules.policy, Arc::from(self.rules.name))
    }

    /// When the batch ends at the latest.
    pub(super) fn deadline(&self) -> Option<Moment> {
        self.deadline
    }

    /// What the next call sends; `None` once all of this round was handed out.
    pub(super) fn next_batch(
        &mut self,
        now: impl FnOnce() -> Moment,
        is_cancelled: impl FnOnce() -> bool,
    ) -> Option<Batch<I::Item, B, R>> {
        if self.ended.is_none() && is_cancelled() {
            self.ended = Some(Reason::Cancelled);
        }
        if self.ended.is_none() && self.deadline.is_some_and(|end| now() > end) {
            self.ended = Some(Reason::Deadline);
        }
        if let Some(reason) = self.ended {
            self.leave(reason);
            return None;
        }
        let most = self.queue.len() + self.fresh.size_hint().0;
        let mut batch = Vec::with_capacity(most.min(self.rules.size));
        while batch.len() < self.rules.size {
            let Some(mut entry) = self.queue.next().or_else(|| self.fresh()) else {
                break;
            };
            self.tally.items += 1;
            if self.admit(&mut entry) {
                batch.push(entry);
            }
        }
        (!batch.is_empty()).then_some(Batch(batch))
    }

    /// The next item that no call has sent yet.
    fn fresh(&mut self) -> Option<Entry<I::Item, B, R>> {
        if self.number != 1 {
            return None;
        }
        let item = self.fresh.next()?;
        let index = self.results.len();
        self.results.push(Err(ItemError::not_sent()));
        Some(Entry {
            index,
            item,
            call: Call::new(),
            paid: B::Paid::default(),
            admitted: None,
        })
    }

    /// Whether the item may be sent. If not, it ends.
    fn admit(&mut self, entry: &mut Entry<I::Item, B, R>) -> bool {
        let Some(admitted) = Admitted::by(self.rules.breaker) else {
            self.give_up(entry.index, Reason::Rejected);
            let max = entry.call.retries_allowed(&self.rules.policy);
            self.tally.ended(End::Rejected, max, entry.index, 1);
            return false;
        };
        if let Some(transition) = admitted.transition() {
            let observe = self.rules.observer.observe();
            entry.call.turned(self.rules.name, transition, &"", observe);
        }
        entry.admitted = Some(admitted);
        B::spend(&mut entry.paid);
        if let Err(error) = &mut self.results[entry.index] {
            error.sent(entry.call.attempt());
        }
        true
    }

    fn give_up(&mut self, index: usize, reason: Reason) {
        if let Err(error) = &mut self.results[index] {
            error.reason = reason;
        }
    }

    /// Sends nothing more of this round.
    fn leave(&mut self, reason: Reason) {
        let policy = self.rules.policy;
        for entry in mem::take(&mut self.queue) {
            self.tally.items += 1;
            let max = entry.call.retries_allowed(&policy);
            self.tally.ended(End::NotSent, max, entry.index, 1);
            self.give_up(entry.index, reason);
        }
        if self.number == 1 {
            let sent = self.results.len();
            for _ in self.fresh.by_ref() {
                let mut error = ItemError::not_sent();
                error.reason = reason;
                self.results.push(Err(error));
            }
            let items = self.results.len() - sent;
            self.tally.items += items;
            let max = Call::new().retries_allowed(&policy);
            self.tally.ended(End::NotSent, max, sent, items);
        }
    }

    /// The deadline came while these calls were under way, which were dropped.
    pub(super) fn dropped(&mut self, batches: impl IntoIterator<Item = Batch<I::Item, B, R>>) {
        self.ended = Some(Reason::Deadline);
        for entry in batches.into_iter().flat_map(|Batch(entries)| entries) {
            self.give_up(entry.index, Reason::Deadline);
            let max = entry.call.retries_allowed(&self.rules.policy);
            self.tally.ended(End::Dropped, max, entry.index, 1);
        }
        self.leave(Reason::Deadline);
    }

    pub(super) fn answered(
        &mut self,
        Batch(entries): Batch<I::Item, B, R>,
        answers: Result<Vec<Result<T, E>>, E>,
    ) {
        match answers {
            Err(error) => {
                let verdict = decide::verdict(&self.rules.policy, || self.rules.on.verdict(&error));
                let error = Arc::new(error);
                for entry in entries {
                    self.failed(entry, Arc::clone(&error), verdict);
                }
            }
            Ok(answers) if answers.len() == entries.len() => {
                for (mut entry, answer) in entries.into_iter().zip(answers) {
                    match answer {
                        Ok(value) => {
                            self.succeeded(&mut entry);
                            self.results[entry.index] = Ok(value);
                        }
                        Err(error) => {
                            let verdict = decide::verdict(&self.rules.policy, || {
                                self.rules.on.verdict(&error)
                            });
                            self.failed(entry, Arc::new(error), verdict);
                        }
                    }
                }
            }
            Ok(answers) => {
                let miscount = Miscount {
                    answers: answers.len(),
                    items: entries.len(),
                };
                for entry in entries {
                    let error = ItemError::miscounted(miscount, entry.call.attempt());
                    self.results[entry.index] = Err(error);
                    let max = entry.call.retries_allowed(&self.rules.policy);
                    let end = End::Miscounted(miscount);
                    self.tally.ended(end, max, entry.index, 1);
                }
            }
        }
    }

    /// Tells breaker and budget of an item that has its value.
    fn succeeded(&mut self, entry: &mut Entry<I::Item, B, R>) {
        let changed = entry.admitted.as_mut().and_then(Admitted::succeeded);
        if let Some(transition) = changed {
            let observe = self.rules.observer.observe();
            entry.call.turned(self.rules.name, transition, &"", observe);
        }
        self.rules.budget.credit(&entry.call);
    }

    fn failed(&mut self, mut entry: Entry<I::Item, B, R>, error: Arc<E>, verdict: Verdict) {
        if let Some(recorder) = entry.admitted.as_mut().and_then(Admitted::recorder) {
            let site = Site::new(&self.rules.policy, self.rules.name);
            let shown = Described {
                on: &self.rules.on,
                error: &*error,
            };
            let mut failure = Failure::new(&site, verdict, &shown).recorded(recorder);
            if let Some(observe) = self.rules.observer.observe() {
                failure = failure.observe(observe);
            }
            entry.call.tell_breaker(&mut failure);
        }
        entry.admitted = None;
        let error = ItemError::failed(error, entry.call.attempt());
        self.results[entry.index] = Err(error);
        self.failed.push((entry, verdict));
    }

    /// Ends a round: the pause before the next, or `None` where there is nothing left to send.
    pub(super) fn next_round(
        &mut self,
        now: impl FnOnce() -> Moment,
        is_cancelled: impl FnOnce() -> bool,
    ) -> Option<Duration> {
        let tally = mem::take(&mut self.tally);
        let mut failed = mem::take(&mut self.failed);
        // Calls end in any order.
        failed.sort_by_key(|(entry, _)| entry.index);
        // Without a deadline nobody asks.
        let now = self
            .deadline
            .map_or(Moment::from_origin(Duration::ZERO), |_| now());
        let round = Round {
            policy: &self.rules.policy,
            deadline: self.deadline,
            now: match (self.ended, self.deadline) {
                // Not at it, where another round could begin.
                (Some(Reason::Deadline), Some(end)) => {
                    now.max(end.checked_add(Duration::from_nanos(1)).unwrap_or(end))
                }
                _ => now,
            },
            cancelled: self.ended == Some(Reason::Cancelled) || is_cancelled(),
            idempotent: self.rules.idempotent,
            name: self.rules.name,
            number: self.number,
            items: tally.items,
        };
        let failures = failed
            .iter()
            .map(|(entry, verdict)| (entry.index, entry.call, *verdict));
        let mut groups = Groups::new(&round, failures, self.rules.budget.payer());
        let mut queue = Vec::with_capacity(failed.len());
        for (mut entry, verdict) in failed {
            match groups.decision(entry.call, verdict) {
                Ok(call) => {
                    entry.call = call;
                    entry.paid = self.rules.budget.paid(verdict.kind());
                    queue.push(entry);
                }
                Err(reason) => {
                    if let Err(error) = &mut self.results[entry.index] {
                        error.reason = reason;
                    }
                }
            }
        }
        let shown = |index: usize, f: &mut fmt::Formatter<'_>| {
            let failed = self.results[index].as_ref().err();
            match failed.and_then(ItemError::error) {
                Some(error) => self.rules.on.describe(error, f),
                None => f.write_str(type_name::<E>()),
            }
        };
        groups.report(&round, &shown, &mut self.rules.observer);
        tally.report(&round, self.ended, &shown, &mut self.rules.observer);
        let pause = groups.pause();
        if pause.is_some() {
            self.number = self.number.saturating_add(1);
        } else if self.number > 1 && self.results.iter().all(Result::is_ok) {
            let rounds = Call::after(self.number.saturating_sub(1)).under(self.in_force);
            let site = Site::new(&self.rules.policy, self.rules.name);
            match self.rules.observer.observe() {
                Some(observe) => rounds.succeeded_observed(&site, observe),
                None => rounds.succeeded(&site),
            }
        }
        let limits = queue.iter().map(|entry| entry.call.in_force());
        self.in_force = limits.max().unwrap_or_default();
        self.queue = queue.into_iter();
        pause
    }
}
