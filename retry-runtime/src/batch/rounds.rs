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
#[cfg(feature = "nested")]
use crate::call::nested::Outer;
use crate::call::site::Site;
use crate::call::state::Call;
use crate::chain::on_error::OnError;
use crate::classify::verdict::Verdict;
use crate::observe::ignored_timeout;
use crate::observe::reason::Reason;
use crate::policy::Policy;
use crate::time::moment::Moment;

/// What a batch goes by.
pub(super) struct Rules<On> {
    pub(super) policy: Policy,
    pub(super) on: On,
    pub(super) idempotent: bool,
    pub(super) size: usize,
    pub(super) name: &'static str,
}

pub(super) struct Rounds<'a, I: Iterator, T, E, On> {
    rules: Rules<On>,
    deadline: Option<Moment>,
    /// Why nothing more is sent, where that is so.
    ended: Option<Reason>,
    number: u32,
    /// The most retries that an item of this round is allowed, if it is not the first.
    in_force: u32,
    /// Items that no call has sent yet: the first round's.
    fresh: Fuse<I>,
    /// Items of this round, if it is not the first, that are still to be sent.
    queue: vec::IntoIter<Entry<I::Item>>,
    /// Items of this round whose last call failed.
    failed: Vec<(Entry<I::Item>, Verdict)>,
    /// Of every item drawn so far, what it ends with if nothing more happens. The caller's, which has them also where
    /// this is dropped.
    results: &'a mut Vec<Result<T, ItemError<E>>>,
    tally: Tally,
}

/// What is reported about a round once it has ended.
#[derive(Default)]
struct Tally {
    items: usize,
    /// Items that ended without a failure of their own, with the retries that they were allowed.
    ended: BTreeMap<(End, Option<u32>), usize>,
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
}

impl Tally {
    fn ended(&mut self, end: End, max: Option<u32>, items: usize) {
        if items > 0 {
            *self.ended.entry((end, max)).or_default() += items;
        }
    }

    /// `ended` is why the batch ended early, if it did.
    fn report<E>(&self, round: &Round<'_>, ended: Option<Reason>) {
        for ((end, max), items) in &self.ended {
            let gave_up = |round: &Round<'_>, error: &dyn fmt::Display, reason| {
                round.gave_up(&round.part(*items, error), *max, reason);
            };
            match (end, ended) {
                (End::Miscounted(miscount), _) => gave_up(round, miscount, Reason::Unanswered),
                (End::Dropped, Some(reason)) => {
                    gave_up(round, &"dropped before an answer", reason);
                }
                (End::NotSent, Some(reason)) if round.number == 1 => {
                    gave_up(round, &"not sent", reason);
                }
                (End::NotSent, Some(reason)) => {
                    // They were sent in the round before, and failed.
                    let number = round.number - 1;
                    gave_up(&Round { number, ..*round }, &type_name::<E>(), reason);
                }
                (End::Dropped | End::NotSent, None) => {}
            }
        }
    }
}

/// An item that may be sent.
struct Entry<I> {
    index: usize,
    item: I,
    call: Call,
}

/// The items of one call.
pub(super) struct Batch<I>(Vec<Entry<I>>);

impl<I: Clone> Batch<I> {
    pub(super) fn items(&self) -> Vec<I> {
        self.0.iter().map(|entry| entry.item.clone()).collect()
    }
}

impl<'a, I, T, E, On> Rounds<'a, I, T, E, On>
where
    I: Iterator,
    On: OnError<E>,
{
    /// Results are put into `results`, whose content they replace.
    pub(super) fn new(
        rules: Rules<On>,
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
        Outer::under(&self.rules.policy, self.rules.name, false)
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
    ) -> Option<Batch<I::Item>> {
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
        let mut batch: Vec<_> = self.queue.by_ref().take(self.rules.size).collect();
        if self.number == 1 {
            batch.extend(self.fresh.by_ref().take(self.rules.size).map(|item| {
                let index = self.results.len();
                self.results.push(Err(ItemError::not_sent()));
                let call = Call::new();
                Entry { index, item, call }
            }));
        }
        self.tally.items += batch.len();
        for entry in &batch {
            if let Err(error) = &mut self.results[entry.index] {
                error.sent(entry.call.attempt());
            }
        }
        (!batch.is_empty()).then_some(Batch(batch))
    }

    /// Sends nothing more of this round.
    fn leave(&mut self, reason: Reason) {
        for entry in self.queue.by_ref() {
            self.tally.items += 1;
            self.tally.ended(
                End::NotSent,
                entry.call.retries_allowed(&self.rules.policy),
                1,
            );
            if let Err(error) = &mut self.results[entry.index] {
                error.reason = reason;
            }
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
            self.tally.ended(
                End::NotSent,
                Call::new().retries_allowed(&self.rules.policy),
                items,
            );
        }
    }

    /// The deadline came while these calls were under way, which were dropped.
    pub(super) fn dropped(&mut self, batches: impl IntoIterator<Item = Batch<I::Item>>) {
        self.ended = Some(Reason::Deadline);
        for entry in batches.into_iter().flat_map(|Batch(entries)| entries) {
            if let Err(error) = &mut self.results[entry.index] {
                error.reason = Reason::Deadline;
            }
            self.tally.ended(
                End::Dropped,
                entry.call.retries_allowed(&self.rules.policy),
                1,
            );
        }
        self.leave(Reason::Deadline);
    }

    pub(super) fn answered(
        &mut self,
        Batch(entries): Batch<I::Item>,
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
                for (entry, answer) in entries.into_iter().zip(answers) {
                    match answer {
                        Ok(value) => self.results[entry.index] = Ok(value),
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
                    self.tally.ended(End::Miscounted(miscount), max, 1);
                }
            }
        }
    }

    fn failed(&mut self, entry: Entry<I::Item>, error: Arc<E>, verdict: Verdict) {
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
        let failures = failed.iter().map(|(entry, verdict)| (entry.call, *verdict));
        let groups = Groups::new(&round, failures);
        groups.report::<E>(&round);
        tally.report::<E>(&round, self.ended);
        let mut queue = Vec::with_capacity(failed.len());
        for (mut entry, verdict) in failed {
            match groups.decision(entry.call, verdict) {
                Ok(call) => {
                    entry.call = call;
                    queue.push(entry);
                }
                Err(reason) => {
                    if let Err(error) = &mut self.results[entry.index] {
                        error.reason = reason;
                    }
                }
            }
        }
        let pause = groups.pause();
        if pause.is_some() {
            self.number = self.number.saturating_add(1);
        } else if self.number > 1 && self.results.iter().all(Result::is_ok) {
            let rounds = Call::after(self.number.saturating_sub(1)).under(self.in_force);
            rounds.succeeded(&Site::new(&self.rules.policy, self.rules.name));
        }
        let limits = queue.iter().map(|entry| entry.call.in_force());
        self.in_force = limits.max().unwrap_or_default();
        self.queue = queue.into_iter();
        pause
    }
}
