//! The state of every item. Decides what a call sends, what its answers mean, and when the next round begins.

use alloc::collections::BTreeSet;
use alloc::sync::Arc;
use alloc::vec;
use core::fmt;
use core::iter::Fuse;
use core::mem;
use core::time::Duration;

use super::ItemError;
use super::given_up::{GivenUp, ItemEnd};
use super::groups::Groups;
use super::item_error::Miscount;
use super::round::Round;
use super::tally::Tally;
use crate::call::decide;
use crate::call::failure::{Failure, is_paid};
#[cfg(feature = "nested")]
use crate::call::nested::Outer;
use crate::call::site::Site;
use crate::call::state::Call;
use crate::chain::breaker::{Admitted, MayAdmit};
use crate::chain::budget::MayPay;
use crate::chain::limiter::{InLine, MayWait};
use crate::chain::observer::MayObserve;
use crate::chain::on_error::{Described, OnError};
use crate::classify::kind::Kind;
use crate::classify::rejected::RejectedBy;
use crate::classify::verdict::Verdict;
use crate::limiter;
use crate::limiter::place::Leave;
use crate::observe::attempt_end::AttemptEnd;
use crate::observe::ignored_timeout;
use crate::observe::progress::Counts;
use crate::observe::reason::Reason;
use crate::policy::Policy;
use crate::time::moment::Moment;

/// What a batch goes by.
pub(super) struct Rules<'k, On, B, R, M, O> {
    pub(super) policy: Policy,
    pub(super) on: On,
    pub(super) size: usize,
    pub(super) name: &'k str,
    pub(super) budget: &'k B,
    pub(super) breaker: &'k R,
    pub(super) limiter: &'k M,
    pub(super) observer: O,
    pub(super) idempotent: bool,
}

pub(super) struct Rounds<'a, 'k, I: Iterator, T, E, On, B: MayPay, R: MayAdmit, M, O: MayObserve> {
    rules: Rules<'k, On, B, R, M, O>,
    deadline: Option<Moment>,
    /// Why nothing more is sent, where that is so.
    ended: Option<Reason>,
    number: u32,
    /// Whether a call of this round was begun.
    has_begun: bool,
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
    /// What was given up last.
    given_up: Option<GivenUp>,
    progress: O::Progress,
}

/// An item that may be sent.
struct Entry<I, B: MayPay, R: MayAdmit> {
    index: usize,
    item: I,
    call: Call,
    /// What was paid for sending it again.
    paid: B::Paid,
    /// Whether another item of its last call paid for both.
    is_unpaid: bool,
    /// What let it be sent.
    admitted: Option<Admitted<R>>,
}

/// An item whose last call failed.
struct Failed<I, B: MayPay, R: MayAdmit> {
    entry: Entry<I, B, R>,
    verdict: Verdict,
    /// Whether the budget hears of it: by itself, or for those too that its call failed with as a whole, and that are
    /// like it.
    leads: bool,
}

/// The items of one call, which has not begun.
pub(super) struct Batch<I, B: MayPay, R: MayAdmit>(Vec<Entry<I, B, R>>);

/// The items of one call, its round, and its place with the limiter.
pub(super) struct Sent<I, B: MayPay, R: MayAdmit, M: MayWait> {
    pub(super) round: u32,
    entries: Vec<Entry<I, B, R>>,
    place: InLine<M>,
}

impl<I: Clone, B: MayPay, R: MayAdmit, M: MayWait> Sent<I, B, R, M> {
    pub(super) fn items(&self) -> Vec<I> {
        let items = self.entries.iter().map(|entry| entry.item.clone());
        items.collect()
    }
}

/// How a call ended for its limiter some of whose items ended so, and others so.
fn worse(one: limiter::End, other: limiter::End) -> limiter::End {
    let severity = |end: &limiter::End| match *end {
        limiter::End::Failure { kind, hint } => {
            let kinds = [Kind::Transient, Kind::Timeout, Kind::Throttled];
            (kinds.iter().position(|other| *other == kind), hint)
        }
        _ => (None, None),
    };
    if severity(&other) > severity(&one) {
        other
    } else {
        one
    }
}

/// Apart from what is sorted by them: a sort is much code, and would be compiled for each type of item.
fn sorted(mut indices: Vec<(usize, usize)>) -> Vec<(usize, usize)> {
    indices.sort_unstable();
    indices
}

impl<'a, 'k, I, T, E, On, B, R, M, O> Rounds<'a, 'k, I, T, E, On, B, R, M, O>
where
    I: Iterator,
    On: OnError<E>,
    B: MayPay,
    R: MayAdmit,
    M: MayWait,
    O: MayObserve,
{
    /// Results are put into `results`, whose content they replace.
    pub(super) fn new(
        rules: Rules<'k, On, B, R, M, O>,
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
            has_begun: false,
            in_force: 0,
            results,
            fresh: items.fuse(),
            queue: Vec::new().into_iter(),
            failed: Vec::new(),
            tally: Tally::default(),
            given_up: None,
            progress: O::Progress::default(),
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
            let Some(entry) = self.queue.next().or_else(|| self.fresh()) else {
                break;
            };
            self.tally.items += 1;
            batch.push(entry);
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
            is_unpaid: false,
            admitted: None,
        })
    }

    /// Takes a call's place with the limiter, where it counts as many attempts as it has items. The breaker is asked
    /// before the queue, and passed after it.
    pub(super) fn enter(
        &mut self,
        Batch(entries): &Batch<I::Item, B, R>,
    ) -> Result<InLine<M>, RejectedBy> {
        if M::IS_NAMED && self.rules.breaker.is_open() {
            return Err(RejectedBy::Breaker);
        }
        let items = u32::try_from(entries.len()).unwrap_or(u32::MAX);
        let mut place = InLine::of(self.rules.limiter, items);
        if !place.has_turn() {
            let call = self.round();
            call.waits_in(self.rules.name, &mut place, self.rules.observer.observe());
            self.progressed();
        }
        Ok(place)
    }

    /// The turn of a call has come after that time.
    pub(super) fn waited(&mut self, waited: Duration) {
        let call = self.round();
        call.waited(self.rules.name, waited, self.rules.observer.observe());
    }

    /// The call does not begin, and its items end.
    pub(super) fn rejected(&mut self, Batch(entries): Batch<I::Item, B, R>, by: RejectedBy) {
        for entry in entries {
            self.reject(&entry, by);
        }
        self.progressed();
    }

    fn reject(&mut self, entry: &Entry<I::Item, B, R>, by: RejectedBy) {
        self.give_up(entry.index, by.reason());
        let max = entry.call.retries_allowed(&self.rules.policy);
        self.tally.ended(ItemEnd::Rejected(by), max, entry.index, 1);
    }

    /// Begins a call that has its turn, with the items that the breaker lets through.
    pub(super) fn begin(
        &mut self,
        Batch(mut entries): Batch<I::Item, B, R>,
        mut place: InLine<M>,
    ) -> Option<Sent<I::Item, B, R, M>> {
        entries.retain_mut(|entry| self.admit(entry));
        if entries.is_empty() {
            place.give_back();
            self.progressed();
            return None;
        }
        if !mem::replace(&mut self.has_begun, true) {
            let call = self.round();
            if let Some(observe) = self.rules.observer.observe() {
                call.started(self.rules.name, observe);
            }
        }
        self.progressed();
        Some(Sent {
            round: self.number,
            entries,
            place,
        })
    }

    /// Whether anybody is told where all items have succeeded: the log only after a failure.
    fn is_told_of_success(&mut self) -> bool {
        self.number > 1 || self.has_begun && self.rules.observer.observe().is_some()
    }

    /// The round as an attempt of a call.
    fn round(&self) -> Call {
        Call::after(self.number.saturating_sub(1))
    }

    /// Whether the item may be sent. If not, it ends.
    fn admit(&mut self, entry: &mut Entry<I::Item, B, R>) -> bool {
        let Some(admitted) = Admitted::by(self.rules.breaker) else {
            self.reject(entry, RejectedBy::Breaker);
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

    /// Tells the observer how far the batch is.
    fn progressed(&mut self) {
        let all = self.results.len() + self.fresh.size_hint().0;
        let observe = self.rules.observer.observe();
        self.progress
            .tell(self.rules.name, self.number, all, observe);
    }

    fn give_up(&mut self, index: usize, reason: Reason) {
        self.progress.failed(1);
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
            self.tally.ended(ItemEnd::NotSent, max, entry.index, 1);
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
            self.progress.failed(items);
            self.tally.items += items;
            let max = Call::new().retries_allowed(&policy);
            self.tally.ended(ItemEnd::NotSent, max, sent, items);
        }
    }

    /// The deadline came while these calls were under way, which were dropped.
    pub(super) fn dropped(&mut self, calls: impl Iterator<Item = Sent<I::Item, B, R, M>>) {
        self.ended = Some(Reason::Deadline);
        for entry in calls.flat_map(|sent| sent.entries) {
            self.give_up(entry.index, Reason::Deadline);
            let max = entry.call.retries_allowed(&self.rules.policy);
            self.tally.ended(ItemEnd::Dropped, max, entry.index, 1);
        }
        self.leave(Reason::Deadline);
    }

    pub(super) fn answered(
        &mut self,
        Sent {
            entries, mut place, ..
        }: Sent<I::Item, B, R, M>,
        answers: Result<Vec<Result<T, E>>, E>,
    ) {
        let mut end = limiter::End::Success;
        match answers {
            Err(error) => {
                let verdict = self.verdict(&error);
                end = self.end(verdict);
                let error = Arc::new(error);
                let mut leaders = BTreeSet::new();
                for mut entry in entries {
                    // One request failed, not as many as it has items.
                    if !leaders.is_empty() {
                        entry.admitted = None;
                    }
                    let leads = leaders.insert(entry.call);
                    self.failed(entry, Arc::clone(&error), verdict, leads);
                }
            }
            Ok(answers) if answers.len() == entries.len() => {
                // One request succeeded, not as many as it has items.
                let is_whole = answers.iter().all(Result::is_ok);
                let (mut is_first, mut has_fresh) = (true, false);
                for (mut entry, answer) in entries.into_iter().zip(answers) {
                    match answer {
                        Ok(value) => {
                            if is_whole && !mem::take(&mut is_first) {
                                entry.admitted = None;
                            }
                            let is_fresh = !entry.call.is_retried();
                            let is_another = entry.is_unpaid || is_fresh && has_fresh;
                            has_fresh |= is_fresh;
                            self.succeeded(&mut entry, !(is_whole && is_another));
                            self.results[entry.index] = Ok(value);
                        }
                        Err(error) => {
                            let verdict = self.verdict(&error);
                            end = worse(end, self.end(verdict));
                            self.failed(entry, Arc::new(error), verdict, true);
                        }
                    }
                }
            }
            Ok(answers) => {
                end = limiter::End::Ignored;
                let miscount = Miscount {
                    answers: answers.len(),
                    items: entries.len(),
                };
                for entry in entries {
                    let error = ItemError::miscounted(miscount, entry.call.attempt());
                    self.results[entry.index] = Err(error);
                    self.progress.failed(1);
                    let max = entry.call.retries_allowed(&self.rules.policy);
                    let end = ItemEnd::Miscounted(miscount);
                    self.tally.ended(end, max, entry.index, 1);
                }
            }
        }
        if let Some(change) = place.leave(end) {
            let call = self.round();
            call.limiter_changed(self.rules.name, change, self.rules.observer.observe());
        }
        self.progressed();
    }

    fn verdict(&mut self, error: &E) -> Verdict {
        decide::verdict(&self.rules.policy, || self.rules.on.verdict(error))
    }

    /// What a limiter is told of such a failure.
    fn end(&self, verdict: Verdict) -> limiter::End {
        if self.rules.policy.is_enabled() {
            limiter::End::of_failure(verdict)
        } else {
            limiter::End::Ignored
        }
    }

    /// Tells breaker and budget of an item that has its value; the budget unless another speaks for it.
    fn succeeded(&mut self, entry: &mut Entry<I::Item, B, R>, leads: bool) {
        let changed = entry.admitted.as_mut().and_then(Admitted::succeeded);
        if let Some(transition) = changed {
            let observe = self.rules.observer.observe();
            entry.call.turned(self.rules.name, transition, &"", observe);
        }
        let mut call = entry.call;
        if entry.is_unpaid {
            // There is nothing to give back.
            call.followed = None;
        }
        if leads {
            self.rules.budget.credit(&call);
        }
        self.progress.done(1);
    }

    fn failed(
        &mut self,
        mut entry: Entry<I::Item, B, R>,
        error: Arc<E>,
        verdict: Verdict,
        leads: bool,
    ) {
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
        self.failed.push(Failed {
            entry,
            verdict,
            leads,
        });
    }

    /// Those that failed, in the order of the items: calls end in any order.
    fn take_failed(&mut self) -> Vec<Failed<I::Item, B, R>> {
        let indices = self.failed.iter().map(|failed| failed.entry.index);
        let places = sorted(indices.zip(0..).collect());
        let mut failed: Vec<_> = self.failed.drain(..).map(Some).collect();
        let in_order = places.iter().filter_map(|(_, place)| failed[*place].take());
        in_order.collect()
    }

    /// Ends a round: the pause before the next, or `None` where there is nothing left to send.
    pub(super) fn next_round(
        &mut self,
        now: impl FnOnce() -> Moment,
        is_cancelled: impl FnOnce() -> bool,
    ) -> Option<Duration> {
        let tally = mem::take(&mut self.tally);
        let failed = self.take_failed();
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
        let mut failures = failed.iter().map(|failed| {
            let Failed {
                entry,
                verdict,
                leads,
            } = failed;
            (entry.index, entry.call, *verdict, *leads)
        });
        let budget = self.rules.budget.payer();
        let mut groups = Groups::new(&round, &mut failures, budget, M::IS_NAMED);
        let mut queue = Vec::with_capacity(failed.len());
        for failed in failed {
            let Failed {
                mut entry,
                verdict,
                leads,
            } = failed;
            match groups.decision(entry.index, entry.call, verdict, leads) {
                Ok(call) => {
                    entry.call = call;
                    entry.is_unpaid = !leads;
                    let paid = verdict
                        .kind()
                        .filter(|kind| leads && is_paid(*kind, M::IS_NAMED));
                    entry.paid = self.rules.budget.paid(paid);
                    queue.push(entry);
                }
                Err(reason) => {
                    self.progress.failed(1);
                    if let Err(error) = &mut self.results[entry.index] {
                        error.reason = reason;
                    }
                }
            }
        }
        let shown = |index: usize, f: &mut fmt::Formatter<'_>| {
            let describe = |error: &E, f: &mut fmt::Formatter<'_>| self.rules.on.describe(error, f);
            match &self.results[index] {
                Ok(_) => Ok(()),
                Err(failed) => failed.write_cause(f, describe),
            }
        };
        // All have been drawn by the end of the first round.
        let (all, observe) = (self.results.len(), self.rules.observer.observe());
        self.progress.tell(round.name, round.number, all, observe);
        let observer = &mut self.rules.observer;
        let of_groups = groups.report(&round, &shown, observer);
        let of_tally = tally.report(&round, self.ended, &shown, observer);
        self.given_up = of_tally.or(of_groups).or(self.given_up);
        let pause = groups.pause();
        if pause.is_some() {
            self.number = self.number.saturating_add(1);
            self.has_begun = false;
        } else if let Some(given_up) = self.given_up {
            let failed = self.results.iter().filter(|result| result.is_err());
            let all = Round {
                number: self.number - u32::from(!self.has_begun),
                items: self.results.len(),
                ..round
            };
            let ended = match of_groups {
                Some(failed) => Some(AttemptEnd::failed(failed.kind)),
                None if self.has_begun => tally.end_of_round(),
                None => None,
            };
            let observe = self.rules.observer.observe();
            all.gave_up_batch(failed.count(), given_up, ended, &shown, observe);
        } else if self.is_told_of_success() && self.results.iter().all(Result::is_ok) {
            let rounds = Call::after(self.number.saturating_sub(1)).with_max(self.in_force);
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
