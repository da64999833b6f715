//! Time: the clock that a call goes by, when it must end, and what follows a pause that took too long.

use crate::attribute::argument::{Argument, KeyValue};
use crate::expand::printer::Printer;
use crate::target::function::Asyncness;
use crate::tokens::{Code, code, code_at, if_else, ours, when};

impl Printer<'_> {
    /// What tells the time, of type `FnOnce() -> Moment`.
    pub(crate) fn now(&self) -> Code {
        if self.model.names_clock() {
            return ours!(|| #(self.timer_trait())::now(&retry_timer));
        }
        match self.asyncness {
            Asyncness::Blocking => code!(__retry::now_blocking),
            Asyncness::Async => code!(__retry::now),
        }
    }

    /// The clock of the history of earlier attempts.
    pub(crate) fn clock(&self) -> Code {
        if !self.model.shows_time() {
            code!(__retry::Clock::None)
        } else if self.model.names_clock() {
            ours!(__retry::Clock::Read(#(self.timer_trait())::now(&retry_timer)))
        } else {
            ours!(__retry::Clock::Live(#(self.now())))
        }
    }

    /// How long an attempt may take, of type `Option<Duration>`.
    pub(crate) fn attempt_limit(&self, timeout: &Argument) -> Code {
        if let KeyValue::Alone = timeout.value {
            return code!(__retry::policy_timeout(#(self.policy())));
        }
        self.given_limit(timeout)
    }

    /// The limit that a key names, of type `Option<Duration>`.
    pub(crate) fn given_limit(&self, limit: &Argument) -> Code {
        let value = self.argument(limit);
        if limit.value.is_literal() {
            ours!(__retry::Some(#value))
        } else {
            ours!(__retry::TimeLimit::limit(#value))
        }
    }

    /// Says where a policy that is known at run time has a timeout that this call does not name. `policy` is of type
    /// `&Policy`.
    pub(crate) fn ignored_timeout(&self, policy: &Code) -> Code {
        code! {
            #?(self.model.ignores_timeout()) {
                if __retry::Option::is_some(&__retry::policy_timeout(#policy)) {
                    __retry::ignores_timeout(#(self.name()));
                }
            }
        }
    }

    /// In debug builds, reports at the first call, not only when it waits, that there is nothing to wait with. The
    /// panic's place is that of the function's name: any other span of ours would make it that of the attribute, which
    /// in a block is far from the method.
    pub(crate) fn expected_timer(&self) -> Option<Code> {
        let span = self.model.function.signature.ident.span();
        self.expects_timer()
            .then(|| code_at!(span=> __retry::expect_timer();))
    }

    /// The timer of the driver, which is expected as above.
    pub(crate) fn timer_of_call(&self) -> Code {
        let span = self.model.function.signature.ident.span();
        let expected = code_at!(span=> __retry::expected_timer::<__retry::Features>());
        match self.asyncness {
            Asyncness::Async => if_else(self.expects_timer(), expected, self.timer()),
            Asyncness::Blocking if self.names_timer() => self.timer(),
            Asyncness::Blocking => ours!(__retry::blocking_timer(__retry::DefaultTimer)),
        }
    }

    fn expects_timer(&self) -> bool {
        let is_default = self.asyncness == Asyncness::Async && !self.names_timer();
        is_default && !self.model.retries_at_once()
    }

    /// Has the retries count anew after progress, and the deadline after an item of a stream that is resumed. `policy` is
    /// of type `&Policy`. A budget is bound, and told that the attempt brought something, unless it was told at the item.
    pub(crate) fn restart(&self, policy: &Code) -> Option<Code> {
        let streamed = match self.model.resumes() {
            true => ours!(__retry::stream::resume::streamed(&retry_progress)),
            false if self.model.tells_progress() => ours!(__retry::None),
            false => return None,
        };
        let is_credited = !self.model.is_paid() || self.model.resumes();
        let credit = when(!is_credited, ours!(retry_call.credit();));
        let now = self.now();
        let deadline = self.model.deadline.as_ref();
        let deadline = deadline.filter(|_| self.model.resumes());
        let deadline = deadline.map(|deadline| self.set_deadline(deadline, policy));
        Some(ours! {
            if let __retry::Some(retry_lasted) = __retry::Attempt::take_progress(&mut retry_history, #streamed, #now) {
                #credit
                retry_call.restart(retry_lasted);
                #deadline
            }
        })
    }

    /// Tells the history the time on the user's timer.
    pub(crate) fn tick(&self) -> Option<Code> {
        let is_kept = self.model.names_clock() && self.model.shows_time();
        let tick = match self.asyncness {
            Asyncness::Async => ours!(tick),
            Asyncness::Blocking => ours!(tick_blocking),
        };
        is_kept.then(|| ours!(__retry::#tick(&mut retry_history, &retry_timer);))
    }
}
