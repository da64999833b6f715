use core::borrow::Borrow;
use core::task::Waker;
use core::time::Duration;

use crate::breaker::circuit::Breaker;
use crate::breaker::circuit_breaker::{CircuitBreaker, Pass, Seen, Transition};
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
        Ticket::new(self.breaker.borrow().circuit().waiters.enter(), cost)
    }

    fn poll(&self, ticket: &mut Ticket, waker: &Waker) -> Turn {
        let number = ticket.number();
        if number & ADMITTED != 0 {
            return Turn::Begin;
        }
        loop {
            // Wakers are the executor's: none is cloned or dropped under the lock.
            let waker = waker.clone();
            let mut circuit = self.breaker.borrow().circuit();
            let before = circuit.waiters.keep(number, waker);
            let wait = self.breaker.borrow().wait(&circuit, number);
            drop(circuit);
            drop(before);
            if let Some((ahead, at_least)) = wait {
                return Turn::Wait { ahead, at_least };
            }
            if let Some(admitted) = self.admit(ticket.cost()) {
                let left = self.breaker.borrow().circuit().waiters.begin(number);
                drop(left);
                *ticket = admitted;
                return Turn::Begin;
            }
        }
    }

    fn leave(&self, ticket: Ticket, end: End) -> Option<LimiterChanges> {
        let number = ticket.number();
        if number & ADMITTED == 0 {
            let left = self.breaker.borrow().circuit().waiters.leave(number);
            drop(left);
            return None;
        }
        let seen = match end {
            // A limiter isn't told whether the attempt was dropped.
            End::Ignored => Seen::Dropped,
            end => Seen::of_end(end),
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
