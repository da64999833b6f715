//! The state of every item. Decides what a call sends, what its answers mean, and when the next round begins.

use std::any::type_name;
use std::iter::Fuse;
use std::mem;
use std::sync::Arc;
use std::time::Duration;
use std::vec;

use super::groups::{Groups, Round};
use super::item_error::Miscount;
use super::{ItemError, OnError};
use crate::call::by_policy::PolicyCall;
use crate::call::decide;
use crate::call::site::Site;
use crate::call::state::Call;
use crate::classify::verdict::Verdict;
use crate::observe::reason::Reason;
use crate::policy::Policy;
use crate::policy::schedule::limit;
use crate::time::moment::Moment;

pub(super) struct Rounds<I: Iterator, T, E, On> {
    policy: Policy,
    on: On,
    size: usize,
    name: &'static str,
    deadline: Option<Moment>,
    number: u32,
    /// Items that no call has sent yet: the first round's.
    fresh: Fuse<I>,
    /// Items of this round, if it is not the first, that are still to be sent.
    queue: vec::IntoIter<Entry<I::Item>>,
    /// Items of this round whose last call failed.
    failed: Vec<(Entry<I::Item>, Verdict)>,
    /// For every item taken so far, what it ends with if nothing more happens.
    results: Vec<Result<T, ItemError<E>>>,
    tally: Tally,
}

/// What is reported about a round once it has ended.
#[derive(Default)]
struct Tally {
    items: usize,
    /// The numbers of answers and items, for calls where they differ.
    miscounts: Vec<Miscount>,
    /// Items that were not sent since the deadline had passed.
    late: usize,
}

impl Tally {
    fn report<E>(&self, round: &Round<'_>) {
        let max = limit(round.policy.max_retries());
        for miscount in &self.miscounts {
            let error = round.part(miscount.items, miscount);
            round.gave_up(&error, max, Reason::Unanswered);
        }
        if self.late > 0 && round.number == 1 {
            let error = round.part(self.late, "not sent");
            round.gave_up(&error, max, Reason::Deadline);
        } else if self.late > 0 {
            // They were sent in the round before, and failed.
            let error = round.part(self.late, type_name::<E>());
            let before = Round {
                number: round.number - 1,
                ..*round
            };
            before.gave_up(&error, max, Reason::Deadline);
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

impl<I, T, E, On> Rounds<I, T, E, On>
where
    I: Iterator,
    On: OnError<E>,
{
    pub(super) fn new(
        call: PolicyCall<On>,
        size: usize,
        items: I,
        name: &'static str,
        now: impl FnOnce() -> Moment,
    ) -> Self {
        let limit = call.policy.time_limit();
        Self {
            deadline: limit.and_then(|limit| now().checked_add(limit)),
            policy: call.policy,
            on: call.on,
            size,
            name,
            number: 1,
            results: Vec::with_capacity(items.size_hint().0),
            fresh: items.fuse(),
            queue: Vec::new().into_iter(),
            failed: Vec::new(),
            tally: Tally::default(),
        }
    }

    /// What the next call sends; `None` once all of this round was handed out.
    pub(super) fn next_batch(&mut self, now: impl FnOnce() -> Moment) -> Option<Batch<I::Item>> {
        let late = self.deadline.is_some_and(|end| now() > end);
        let size = if late { usize::MAX } else { self.size };
        let mut batch: Vec<_> = self.queue.by_ref().take(size).collect();
        if self.number == 1 {
            batch.extend(self.fresh.by_ref().take(size).map(|item| {
                let index = self.results.len();
                self.results.push(Err(ItemError::not_sent()));
                let call = Call::new();
                Entry { index, item, call }
            }));
        }
        self.tally.items += batch.len();
        if late {
            self.tally.late += batch.len();
            return None;
        }
        (!batch.is_empty()).then_some(Batch(batch))
    }

    pub(super) fn answered(
        &mut self,
        Batch(entries): Batch<I::Item>,
        answers: Result<Vec<Result<T, E>>, E>,
    ) {
        match answers {
            Err(error) => {
                let verdict = decide::verdict(&self.policy, || self.on.verdict(&error));
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
                            let verdict = decide::verdict(&self.policy, || self.on.verdict(&error));
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
                }
                self.tally.miscounts.push(miscount);
            }
        }
    }

    fn failed(&mut self, entry: Entry<I::Item>, error: Arc<E>, verdict: Verdict) {
        let error = ItemError::failed(error, entry.call.attempt());
        self.results[entry.index] = Err(error);
        self.failed.push((entry, verdict));
    }

    /// Ends a round: the pause before the next, or `None` where there is nothing left to send.
    pub(super) fn next_round(&mut self, now: impl FnOnce() -> Moment) -> Option<Duration> {
        let tally = mem::take(&mut self.tally);
        let mut failed = mem::take(&mut self.failed);
        // Calls end in any order.
        failed.sort_by_key(|(entry, _)| entry.index);
        let round = Round {
            policy: &self.policy,
            deadline: self.deadline,
            // Without a deadline nobody asks.
            now: self
                .deadline
                .map_or(Moment::from_origin(Duration::ZERO), |_| now()),
            name: self.name,
            number: self.number,
            items: tally.items,
        };
        let failures = failed.iter().map(|(entry, verdict)| (entry.call, *verdict));
        let groups = Groups::new(&round, failures);
        groups.report::<E>(&round);
        tally.report::<E>(&round);
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
            let rounds = Call::after(self.number.saturating_sub(1));
            rounds.succeeded(&Site::new(&self.policy, self.name));
        }
        self.queue = queue.into_iter();
        pause
    }

    pub(super) fn into_results(self) -> Vec<Result<T, ItemError<E>>> {
        self.results
    }
}
