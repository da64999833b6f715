use core::borrow::Borrow;
use core::task::Waker;
use core::time::Duration;

use crate::breaker::circuit::Breaker;
use crate::breaker::circuit_breaker::{CircuitBreaker, Pass, Seen, Transition};
use crate::classify::kind::Kind;
use crate::limiter::{End, Limiter, LimiterChange, LimiterChanges, Ticket, Turn};

/// A breaker for calls that wait while it is open, made by [`Breaker::max_wait`]: a limiter, so every call can wait for
/// it as for its turn, until its deadline or until it is cancelled.
///
/// A `PatientBreaker` owns what it holds, such as the `Arc` of a [`Keyed`](crate::Keyed) breaker.
#[derive(Clone, Copy, Debug)]
pub struct PatientBreaker<B> {
    breaker: B,
    max_wait: Duration,
}

/// Bits of a ticket's number: that it holds a pass, when that was given, and the pass's stamp. More states than fit
/// there would take years.
const ADMITTED: u64 = 1 << 63;
const STAMP: u64 = (1 << 31) - 1;

impl<B: Borrow<Breaker>> PatientBreaker<B> {
    /// Calls wait for that breaker, but no longer than that.
    pub const fn new(breaker: B, max_wait: Duration) -> Self {
        Self { breaker, max_wait }
    }

    fn admit(&self, cost: u32) -> Option<Ticket> {
        let pass = self.breaker.borrow().admit()?;
        let given = u64::from(pass.given()) << 31;
        Some(Ticket::new(ADMITTED | given | pass.stamp() & STAMP, cost))
    }
}

impl<B: Borrow<Breaker>> Limiter for PatientBreaker<B> {
    fn enter(&self, cost: u32) -> Ticket {
        self.admit(cost).unwrap_or_else(|| {
            let mut ticket = Ticket::new(0, cost);
            // An operator may close it at any time.
            ticket.is_unwoken = true;
            ticket
        })
    }

    fn poll(&self, ticket: &mut Ticket, _: &Waker) -> Turn {
        if ticket.number() & ADMITTED != 0 {
            return Turn::Begin;
        }
        match self.admit(ticket.cost()) {
            Some(admitted) => {
                *ticket = admitted;
                Turn::Begin
            }
            None => Turn::Wait {
                ahead: 0,
                at_least: self.breaker.borrow().asks_again_in(),
            },
        }
    }

    fn leave(&self, ticket: Ticket, end: End) -> Option<LimiterChanges> {
        let number = ticket.number();
        if number & ADMITTED == 0 {
            return None;
        }
        let seen = match end {
            End::Success => Seen::Success,
            End::Failure {
                kind: kind @ (Kind::Transient | Kind::Timeout),
                hint,
            } => Seen::Failure { kind, hint },
            End::Failure { .. } | End::NotBegun => Seen::Ignored,
            End::Ignored => Seen::Dropped,
        };
        #[expect(
            clippy::cast_possible_truncation,
            reason = "the other bits are cut off"
        )]
        let pass = Pass::new(number & STAMP).given_at((number >> 31) as u32);
        match self.breaker.borrow().record(pass, seen)? {
            Transition::Opened { open_for, .. } => {
                Some(LimiterChange::Paused { pause: open_for }.into())
            }
            Transition::Closed => Some(LimiterChange::Resumed.into()),
            Transition::HalfOpened => None,
        }
    }

    fn longest_wait(&self) -> Option<Duration> {
        Some(self.max_wait)
    }

    fn handles_throttling(&self) -> bool {
        false
    }
}
