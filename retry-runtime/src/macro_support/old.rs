#![allow(missing_docs, missing_debug_implementations)]
use std::cell::RefCell;
use std::fmt::Display;
use std::time::Duration;

use crate::call::budget::RetryBudget;
use crate::call::failure::Failure as Core;
use crate::call::site::Site;
use crate::call::state::Call as State;
use crate::classify::kind::Kind;
use crate::classify::verdict::Verdict;
use crate::observe::reason::Reason;
use crate::observe::report::Observe;
use crate::policy::Policy;
use crate::time::clock;
use crate::time::moment::Moment;

#[derive(Clone, Copy)]
pub struct Call(u32);

type Withdraw<'a> = &'a mut dyn FnMut(Kind) -> bool;

struct ByClosure<'a>(RefCell<Withdraw<'a>>);

impl RetryBudget for ByClosure<'_> {
    fn withdraw(&self, kind: Kind) -> bool {
        (self.0.borrow_mut())(kind)
    }
    fn refund(&self, _: Kind) {}
}

pub struct Failure<'a>(Core<'a>, Option<Withdraw<'a>>);

impl<'a> Failure<'a> {
    pub fn new(site: &'a Site<'a>, verdict: Verdict, error: &'a dyn Display) -> Self {
        Self(Core::new(site, verdict, error), None)
    }
    pub fn deadline(self, deadline: Option<Moment>) -> Self {
        Self(self.0.deadline(deadline, clock::now), self.1)
    }
    pub fn idempotent(self, idempotent: bool) -> Self {
        Self(self.0.idempotent(idempotent), self.1)
    }
    pub fn repeated(self, repeated: bool) -> Self {
        Self(self.0.repeated(repeated), self.1)
    }
    pub fn last(self, last: bool) -> Self {
        Self(self.0.last(last), self.1)
    }
    pub fn budget(self, budget: Withdraw<'a>) -> Self {
        Self(self.0, Some(budget))
    }
    pub fn validates(self) -> Self {
        Self(self.0.validates(), self.1)
    }
    pub fn correctable(self) -> Self {
        Self(self.0.correctable(), self.1)
    }
    pub fn observe(self, observe: Observe<'a>) -> Self {
        Self(self.0.observe(observe), self.1)
    }
    fn with<T>(self, tell: impl FnOnce(Core<'_>) -> T) -> T {
        match self.1 {
            Some(withdraw) => {
                let budget = Box::leak(Box::new(ByClosure(RefCell::new(withdraw))));
                tell(self.0.budget(budget))
            }
            None => tell(self.0),
        }
    }
}

impl Call {
    #[inline]
    pub const fn new() -> Self {
        Self(0)
    }
    #[inline]
    pub const fn next(self) -> Self {
        Self(self.0.saturating_add(1))
    }
    #[cold]
    #[inline(never)]
    pub fn failed(&mut self, failure: Failure<'_>) -> Result<Duration, Reason> {
        let mut call = State::after(self.0);
        let pause = failure.with(|failure| call.failed_with(failure))?;
        *self = self.next();
        Ok(pause)
    }
    #[cold]
    #[inline(never)]
    pub fn failed_plainly(
        self,
        site: &Site<'_>,
        verdict: Verdict,
        error: &dyn Display,
    ) -> Option<Duration> {
        State::after(self.0).failed(site, verdict, error).ok()
    }
    #[inline]
    pub const fn is_retried(&self) -> bool {
        self.0 != 0
    }
    #[inline]
    pub fn healed(self, max: u32, name: &str) {
        if self.is_retried() {
            State::after(self.0).under(max).healed(name, None);
        }
    }
    pub fn succeeded(self, max: u32, name: &str, observe: Observe<'_>) {
        State::after(self.0).under(max).told(name, observe);
    }
    pub const fn attempt(&self) -> u32 {
        self.0.saturating_add(1)
    }
}

#[derive(Clone, Copy)]
pub struct TrackedCall(State);

impl TrackedCall {
    #[inline]
    pub const fn new() -> Self {
        Self(State::new())
    }
    #[cold]
    #[inline(never)]
    pub fn failed(&mut self, failure: Failure<'_>) -> Result<Duration, Reason> {
        failure.with(|failure| self.0.failed_with(failure))
    }
    #[inline]
    pub const fn is_retried(&self) -> bool {
        self.0.is_retried()
    }
    #[inline]
    pub fn healed(self, max: u32, name: &str) {
        if self.is_retried() {
            self.0.under(max).healed(name, None);
        }
    }
    pub fn succeeded(self, max: u32, name: &str, observe: Observe<'_>) {
        self.0.under(max).told(name, observe);
    }
    pub fn is_last(&self, policy: &Policy, validates: bool) -> bool {
        self.0.is_last(policy, validates)
    }
    pub const fn attempt(&self) -> u32 {
        self.0.attempt()
    }
}

pub struct Paid<B: RetryBudget>(B, Option<Kind>);

impl<B: RetryBudget> Paid<B> {
    pub fn withdraw(&mut self, kind: Kind) -> bool {
        let paid = self.0.withdraw(kind);
        self.1 = paid.then_some(kind);
        paid
    }
    pub fn spend(mut self) {
        self.1 = None;
    }
}
impl<B: RetryBudget> Drop for Paid<B> {
    fn drop(&mut self) {
        if let Some(kind) = self.1 {
            self.0.refund(kind);
        }
    }
}
pub fn budget<B: RetryBudget>(budget: B) -> Paid<B> {
    Paid(budget, None)
}
