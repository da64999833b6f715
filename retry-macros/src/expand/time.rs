//! Clocks, timers and time limits.

use retry_vocabulary::key::Key;

use crate::attribute::argument::{Argument, KeyValue};
use crate::expand::printer::Printer;
use crate::tokens::{Code, code, code_at, if_else, ours};

impl Printer<'_> {
    /// The clock, of type `FnOnce() -> Moment`.
    pub(crate) fn now(&self) -> Code {
        if self.model.names_clock() {
            return ours!(|| #(self.timer_trait())::now(&retry_timer));
        }
        let blocking = code!(__retry::now_blocking);
        if_else(self.is_async, code!(__retry::now), blocking)
    }

    /// The clock for the history of attempts.
    pub(crate) fn clock(&self) -> Code {
        if !self.model.shows_time() {
            code!(__retry::Clock::None)
        } else if self.model.names_clock() {
            ours!(__retry::Clock::Read(#(self.timer_trait())::now(&retry_timer)))
        } else {
            ours!(__retry::Clock::Live(#(self.now())))
        }
    }

    /// The time limit of an attempt that starts now, of type `Option<Duration>`. `timeout` is the limit from that key.
    pub(crate) fn attempt_limit(&self, timeout: Option<Code>) -> Code {
        let limit = timeout.unwrap_or(ours!(__retry::None));
        let left = ours!(__retry::time_left(#(limit.clone()), retry_end, #(self.now())));
        if_else(self.model.total.is_some(), left, limit)
    }

    /// The time limit that a key sets, of type `Option<Duration>`.
    pub(crate) fn limit_of(&self, limit: &Argument) -> Code {
        if let KeyValue::NoValue = limit.value {
            return code!(__retry::Policy::attempt_limit(#(self.policy())));
        }
        let value = self.argument(limit);
        if limit.value.is_literal() {
            ours!(__retry::Some(#value))
        } else {
            ours!(__retry::TimeLimit::limit(#value))
        }
    }

    /// Warns if a run-time policy has a timeout that this call won't enforce. `policy` is of type `&Policy`.
    pub(crate) fn ignored_timeout(&self, policy: &Code) -> Code {
        code! {
            #?(self.model.ignores_timeout()) {
                if __retry::drops_attempts(#policy) {
                    __retry::ignores_timeout(#(self.name()));
                }
            }
        }
    }

    /// In debug builds, panics at the first call, instead of at the first pause, if there is no timer. The panic
    /// points at the function's name: with any other span, it would point at the attribute, which in a block is far
    /// from the method.
    pub(crate) fn expected_timer(&self) -> Option<Code> {
        let span = self.model.function.signature.ident.span();
        self.expects_timer()
            .then(|| code_at!(span=> __retry::expect_timer();))
    }

    /// The driver's timer, checked like [`Self::expected_timer`].
    pub(crate) fn driver_timer(&self) -> Code {
        let span = self.model.function.signature.ident.span();
        let expected = code_at!(span=> __retry::expected_timer::<__retry::Features>());
        match self.is_async {
            true => if_else(self.expects_timer(), expected, self.timer()),
            false if self.names_timer() => self.timer(),
            false => ours!(__retry::blocking_timer(__retry::DefaultTimer)),
        }
    }

    fn expects_timer(&self) -> bool {
        let is_default = self.is_async && !self.names_timer();
        is_default && !self.model.retries_at_once()
    }

    /// Resets the retry count after progress, and the deadline after a resumed stream yields an item. Credits the
    /// budget, unless the item has already credited it. `policy` is of type `&Policy`.
    pub(crate) fn reset_count(&self, policy: &Code) -> Option<Code> {
        if !self.model.restarts() {
            return None;
        }
        let (now, resumes) = (self.now(), self.model.resumes());
        let streamed =
            ours!(retry_call.count_break(__retry::stream::resume::streamed(&retry_progress)));
        let streamed = if_else(resumes, streamed, ours!(__retry::None));
        let deadline = self.model.deadline.as_ref().filter(|_| resumes);
        Some(ours! {
            if let __retry::Some(retry_lasted) = __retry::Attempt::take_progress(&mut retry_history, #streamed, #now) {
                #?(!resumes && self.model.has(&[Key::Budget])) { retry_call.credit(); }
                retry_call.restart(retry_lasted);
                #(deadline.map(|deadline| self.set_deadline(deadline, policy)))
            }
        })
    }

    /// Updates the history's clock from the user's timer.
    pub(crate) fn update_clock(&self) -> Option<Code> {
        let is_kept = self.model.names_clock() && self.model.shows_time();
        let now = ours!(#(self.timer_trait())::now(&retry_timer));
        let now = if_else(self.model.is_driven, ours!(retry_call.now()), now);
        is_kept.then(|| ours!(__retry::Attempt::tick(&mut retry_history, #now);))
    }
}
