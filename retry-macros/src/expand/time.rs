//! Time: the clock that a call goes by, when it must end, and what follows a pause that took too long.

use crate::attribute::argument::{Argument, KeyValue};
use crate::expand::model::Deadline;
use crate::expand::printer::Printer;
use crate::target::function::Asyncness;
use crate::tokens::{Code, code, code_at, ours};

impl Printer<'_> {
    /// What tells the time, of type `FnOnce() -> Moment`. The user's timer is in scope as `timer`.
    fn now(&self, timer: &Code) -> Code {
        if self.model.names_clock() {
            return ours!(|| #(self.timer_trait())::now(&#timer));
        }
        match self.asyncness {
            Asyncness::Blocking => code!(__retry::now_blocking),
            Asyncness::Async => code!(__retry::now),
        }
    }

    /// What tells the time at the start of a call.
    pub(crate) fn now_at_start(&self) -> Code {
        self.now(&self.named_timer().unwrap_or_default())
    }

    /// What tells the time after a failure.
    pub(crate) fn now_after_failure(&self) -> Code {
        self.now(&ours!(retry_timer))
    }

    /// The clock of the history of earlier attempts.
    pub(crate) fn clock(&self) -> Code {
        match self.named_timer() {
            _ if !self.model.shows_time => code!(__retry::Clock::None),
            Some(timer) if self.model.names_clock() => {
                ours!(__retry::Clock::Read(#(self.timer_trait())::now(&#timer)))
            }
            _ => {
                ours!(__retry::Clock::Live(#(self.now_at_start())))
            }
        }
    }

    /// When the call ends at the latest, of type `Option<Moment>`. `numbers` is its policy.
    pub(crate) fn deadline(&self, deadline: &Deadline, numbers: &Code) -> Code {
        self.deadline_from(deadline, numbers, &self.now_at_start())
    }

    fn deadline_from(&self, deadline: &Deadline, numbers: &Code, now: &Code) -> Code {
        match deadline {
            Deadline::Given(deadline) => {
                code!(__retry::deadline(#(self.argument(deadline)), #now))
            }
            Deadline::OfPolicy => code!(__retry::policy_deadline(#numbers, #now)),
            Deadline::OfChoice => ours!(__retry::policy_deadline(#numbers, || retry_began)),
            Deadline::Decorator { this, of_trait } => {
                let of_trait = match of_trait {
                    Some(of_trait) => self.deadline_from(of_trait, numbers, now),
                    None => code!(__retry::None),
                };
                code! {
                    match &#this.policy {
                        __retry::Some(_) => __retry::policy_deadline(#numbers, #now),
                        __retry::None => #of_trait,
                    }
                }
            }
        }
    }

    /// How long an attempt may take, of type `Option<Duration>`.
    pub(crate) fn attempt_limit(&self, timeout: &Argument) -> Code {
        if let KeyValue::Alone = timeout.value {
            let limit = self.with_policy(&mut |policy| code!(__retry::policy_timeout(#policy)));
            return code!({ #limit });
        }
        code!(__retry::TimeLimit::limit(#(self.argument(timeout))))
    }

    /// Says where a policy that is known at run time has a timeout that this call does not name. `policy` is of type
    /// `&Policy`.
    pub(crate) fn ignored_timeout(&self, policy: &Code) -> Option<Code> {
        let name = self.model.ignores_timeout().then(|| self.name())?;
        Some(code! {
            if __retry::Option::is_some(&__retry::policy_timeout(#policy)) {
                __retry::ignores_timeout(#name);
            }
        })
    }

    /// In debug builds, reports at the first call, not only when it waits, that there is nothing to wait with. The
    /// panic's place is that of the function's name: any other span of ours would make it that of the attribute, which
    /// in a block is far from the method.
    pub(crate) fn expected_timer(&self) -> Option<Code> {
        let is_default = self.asyncness == Asyncness::Async && self.named_timer().is_none();
        let span = self.model.function.signature.ident.span();
        let waits = is_default && !self.model.retries_at_once();
        waits.then(|| code_at!(span=> __retry::expect_timer();))
    }

    /// Has the retries count anew after progress, and the deadline after an item of a stream that is resumed. `policy` is
    /// of type `&Policy`. A budget is bound, and told that the attempt brought something, unless it was told at the item.
    pub(crate) fn restart(&self, policy: &Code) -> Option<Code> {
        let streamed = match self.model.resumes() {
            true => ours!(__retry::stream::resume::streamed(&retry_progress)),
            false if self.model.tells_progress() => ours!(__retry::None),
            false => return None,
        };
        let is_credited = self.model.resumes();
        let credit = self.credit(&ours!(retry_next)).filter(|_| !is_credited);
        let now = self.now_after_failure();
        let deadline = self.model.deadline.as_ref();
        let deadline = deadline.filter(|_| self.model.resumes()).map(|deadline| {
            if let Deadline::OfChoice = deadline {
                return ours!(retry_began = __retry::moment(#now););
            }
            let deadline = self.deadline_from(deadline, policy, &now);
            ours!(retry_deadline = #deadline;)
        });
        Some(ours! {
            if let __retry::Some(retry_lasted) = __retry::Attempt::take_progress(&mut retry_history, #streamed, #now) {
                #credit
                retry_next = #(self.call())::restarted(retry_next, retry_lasted);
                #?(self.model.retries_rejections()) { retry_rejections = __retry::Rejections::new(); }
                #deadline
            }
        })
    }

    /// Has the call end by the deadline of the policy that a failure chose, and says where its timeout is not named.
    /// `policy` is of type `&Policy`.
    pub(crate) fn deadline_of_choice(&self, policy: &Code) -> Option<Code> {
        if !self.model.chooses_policy() {
            return None;
        }
        let deadline = self.model.deadline.as_ref()?;
        Some(ours! {
            #(self.ignored_timeout(policy))
            retry_deadline = #(self.deadline(deadline, policy));
        })
    }

    /// Declares the timer that a failure binds, so that it is evaluated once for both the time and the pause.
    pub(crate) fn timer_declaration(&self) -> Option<Code> {
        let asks = self.model.asks_timer();
        asks.then(|| ours!(let retry_timer;))
    }

    /// Evaluates the timer that a failure binds.
    pub(crate) fn timer_assignment(&self) -> Option<Code> {
        let timer = self.named_timer().filter(|_| self.model.asks_timer())?;
        Some(ours!(retry_timer = #timer;))
    }

    /// Tells the history the time on the user's timer.
    pub(crate) fn tick(&self) -> Option<Code> {
        let is_kept = self.model.names_clock() && self.model.shows_time;
        let of = self.timer_trait();
        is_kept.then(|| ours!(__retry::Attempt::tick(&mut retry_history, #of::now(&retry_timer));))
    }
}
