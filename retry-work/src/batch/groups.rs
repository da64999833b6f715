//! The failures of a round: items that failed in the same way share one decision and one log record.

use std::collections::BTreeMap;
use std::mem;
use std::time::Duration;

use retry_runtime::macro_support::{Basis, Job, refusal};
use retry_runtime::own_loop::{Call, Failure, Site};
use retry_runtime::{Kind, Reason, Verdict, chain::IntoChain};

use super::part::Part;
use super::round::Round;

/// The properties of a failed item. Items share a decision if all of these are equal. The basis determines how the
/// budget counts a failure that is not retried. `refusal` is a reason to give up that comes from the item's own
/// failure, so that other items are not given up with this one.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct GroupKey {
    call: Call,
    kind: Option<Kind>,
    basis: Basis,
    refusal: Option<Reason>,
}

/// The failure of an item.
#[derive(Clone, Copy)]
pub(super) struct ItemFailure {
    pub(super) index: usize,
    pub(super) call: Call,
    pub(super) verdict: Verdict,
    /// True if the budget counts the item, either alone or for all similar items of a call that failed as a whole.
    pub(super) is_leader: bool,
    /// True if another item paid for the last retry of both items.
    pub(super) is_unpaid: bool,
}

struct Group {
    /// The index of the group's first item.
    first: usize,
    items: usize,
    /// The numbers of leaders, of leaders whose last retry was paid for, and of leaders that may still be sent again.
    leaders: usize,
    paid_before: usize,
    paid: usize,
    /// The number of items that are sent again.
    retried: usize,
    /// The first item that is not paid for.
    unpaid: Option<usize>,
    /// The verdict with the longest hint.
    verdict: Verdict,
    call: Call,
    decision: Result<Duration, Reason>,
}

/// Failed items, grouped by their common properties.
pub(super) struct Groups<'a> {
    by_key: BTreeMap<GroupKey, Group>,
    round: &'a Round<'a>,
    /// The pause before the next round: the longest of any group.
    pub(super) pause: Option<Duration>,
}

impl<'a> Groups<'a> {
    /// Groups the failures, in the order of the items, and decides for each group. Each leader is paid for separately.
    pub(super) fn new(
        round: &'a Round<'a>,
        failures: &mut dyn Iterator<Item = ItemFailure>,
        job: &Job<'_, impl IntoChain>,
    ) -> Self {
        let mut all = Self {
            by_key: BTreeMap::new(),
            round,
            pause: None,
        };
        for failure in failures {
            let (call, verdict) = (failure.call, failure.verdict);
            let group = all.by_key.entry(all.group_key(call, verdict));
            let group = group.or_insert(Group {
                first: failure.index,
                items: 0,
                leaders: 0,
                paid_before: 0,
                paid: 0,
                retried: 0,
                unpaid: None,
                verdict,
                call,
                decision: Err(Reason::NotRetryable),
            });
            group.items += 1;
            group.leaders += usize::from(failure.is_leader);
            group.paid_before += usize::from(failure.is_leader && !failure.is_unpaid);
            if verdict.hint() > group.verdict.hint() {
                group.verdict = verdict;
            }
        }
        let site = Site::new(round.policy, round.name);
        for group in all.by_key.values_mut() {
            let failure = Failure::new(&site, group.verdict, &"")
                .deadline(round.deadline, || round.now)
                .cancelled(round.cancelled);
            let counts = (group.leaders, group.paid_before);
            (group.decision, group.paid) = job.decide(&mut group.call, failure, counts);
            all.pause = all.pause.max(group.decision.ok());
        }
        all
    }

    fn group_key(&self, call: Call, verdict: Verdict) -> GroupKey {
        let Round { policy, left, .. } = *self.round;
        let left = left.min(call.pauses_left(policy));
        let refusal = refusal(policy, verdict, self.round.idempotent, left);
        GroupKey {
            call,
            kind: verdict.kind(),
            basis: verdict.basis(),
            refusal,
        }
    }

    /// The item's call for its next attempt, or the reason to give the item up. Must be called once for each item, in
    /// order: an item that does not lead is sent again with its leader, or not at all.
    pub(super) fn decision(&mut self, failure: ItemFailure) -> Result<Call, Reason> {
        let key = self.group_key(failure.call, failure.verdict);
        let Some(group) = self.by_key.get_mut(&key) else {
            return Err(Reason::NotRetryable);
        };
        let delay = group.decision?;
        if failure.is_leader {
            match group.paid.checked_sub(1) {
                Some(left) => group.paid = left,
                None => group.unpaid = group.unpaid.or(Some(failure.index)),
            }
        }
        if group.unpaid.is_some() {
            return Err(Reason::Budget);
        }
        group.retried += 1;
        let mut call = group.call;
        call.spend_pause(self.pause.unwrap_or_default().saturating_sub(delay));
        Ok(call)
    }

    /// The parts to report: each group, and its items that the budget did not pay for.
    pub(super) fn parts(&self) -> impl Iterator<Item = Part> {
        let pause = self.pause.unwrap_or_default();
        let mut is_first = true;
        self.by_key.values().flat_map(move |group| {
            let decision = group.decision.map(|_| pause);
            let is_retry = decision.is_ok() && mem::take(&mut is_first);
            let all = Part {
                round: self.round.number,
                first: group.first,
                items: group.items,
                total: self.round.items,
                end: None,
                kind: group.verdict.kind(),
                hint: group.verdict.hint(),
                decision,
                retry: is_retry.then_some(group.call),
            };
            let unpaid = group.unpaid.map(|first| Part {
                first,
                items: group.items - group.retried,
                decision: Err(Reason::Budget),
                retry: None,
                ..all
            });
            let items = if decision.is_ok() {
                group.retried
            } else {
                group.items
            };
            [Part { items, ..all }].into_iter().chain(unpaid)
        })
    }
}
