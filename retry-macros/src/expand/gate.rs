//! What each attempt has to pass: the keys `limiter` and `breaker`.
//!
//! A call checks the breaker before the queue, so that nobody waits while it is open, and takes its pass after the
//! queue, so that nobody waits while holding one. An attempt that both let begin spends what the budget paid.

use retry_vocabulary::key::Key;
use syn::spanned::Spanned;

use crate::expand::model::Count;
use crate::expand::printer::Printer;
use crate::target::function::Asyncness;
use crate::tokens::{Code, if_else, ours, ours_at, when};

impl Printer<'_> {
    /// Declares what the next attempt's gate needs.
    pub(crate) fn gate_declaration(&self) -> Code {
        ours! {
            #?(self.model.is_gated() && self.model.is_paid()) {
                let mut retry_unspent = __retry::None;
            }
            #?(self.model.retries_rejections()) {
                let mut retry_rejections = __retry::Rejections::new();
            }
        }
    }

    /// An attempt behind its gate. If the gate doesn't let it begin, the call ends.
    pub(crate) fn gated(&self, attempt: Code) -> Code {
        if !self.model.is_gated() {
            return attempt;
        }
        let gate = ours! {
            'retry_gate: {
                #(self.look())
                #(self.turn())
                #(self.pass())
                #(self.taken())
                #attempt
            }
        };
        let ended = self.rejected_at_gate();
        if self.model.retries_rejections() {
            self.again_at_gate(&gate, ended)
        } else {
            ours!(let retry_by = #gate; #ended)
        }
    }

    /// The gate in a loop, which asks again as long as rejections are retried.
    fn again_at_gate(&self, gate: &Code, ended: Option<Code>) -> Code {
        let rejected = self.rejection();
        let late = self.late().map(|late| {
            ours! {
                if let __retry::Some(retry_why) = #late {
                    break 'retry_rejected __retry::RejectedBy::because(retry_by, retry_why);
                }
            }
        });
        let timer = self.timer_assignment();
        let timer = timer.map(|assigned| ours!(let #assigned));
        ours! {
            'retry_again: loop {
                let (retry_by, retry_half_open_in) = #gate;
                #timer
                let retry_by = 'retry_rejected: {
                    #(self.cancel())
                    let mut retry_next = retry_call;
                    let retry_decision = __retry::cold(|| { #rejected });
                    retry_call = retry_next;
                    match retry_decision {
                        __retry::Ok(retry_pause) => {
                            #(self.sleep())
                            #late
                            #(self.tick())
                            continue 'retry_again;
                        }
                        __retry::Err(retry_by) => retry_by,
                    }
                };
                #ended
            }
        }
    }

    /// What follows a rejection, of type `Result<Duration, RejectedBy>`.
    fn rejection(&self) -> Code {
        let decided = self.with_policy(&mut |policy| {
            let site = self.site(&policy);
            ours! {
                #(self.deadline_of_choice(&policy))
                __retry::Rejections::retry(
                    &mut retry_rejections,
                    &mut retry_next,
                    retry_by,
                    __retry::Failure::of_rejection(
                        #site,
                        &__retry::Rejected::new(retry_by),
                        retry_half_open_in,
                    )#(self.details_of_rejection()),
                )
            }
        });
        // The function given to `policy` takes an error: here, the rejection.
        let error = self.model.chooses_policy().then(|| {
            let rejected = self.error_of_rejection();
            ours!(let retry_error: #(self.error()) = #rejected;)
        });
        ours! {
            #(self.observer())
            #(self.delays())
            #error
            #decided
        }
    }

    /// Leaves the gate with what rejects the attempt. If rejections may be retried, also with how long the breaker
    /// stays open.
    fn rejects(&self, by: Code, half_open_in: Code) -> Code {
        if self.model.retries_rejections() {
            ours!(break 'retry_gate (#by, #half_open_in))
        } else {
            ours!(break 'retry_gate #by)
        }
    }

    fn rejects_by_breaker(&self) -> Code {
        let half_open_in = ours!(__retry::Permit::half_open_in(&retry_permit));
        self.rejects(ours!(__retry::RejectedBy::Breaker), half_open_in)
    }

    /// The rejection as the function's error.
    fn error_of_rejection(&self) -> Option<Code> {
        let arguments = &self.model.arguments;
        let key = arguments.get(Key::Limiter);
        let key = key.or_else(|| arguments.get(Key::Breaker))?;
        let rejected = ours_at!(key.ident.span()=> __retry::FromRejected::from_rejected);
        Some(ours!(#rejected(__retry::Rejected::new(retry_by))))
    }

    /// Binds the breaker, and asks whether it is worthwhile to wait for a limiter.
    fn look(&self) -> Option<Code> {
        let breaker = self.model.expr(Key::Breaker)?;
        let span = breaker.span();
        let permit = ours_at!(span=> __retry::Permit::unasked(#(self.kept(breaker))));
        let is_shared = ours_at!(span=> __retry::held(&retry_permit).__retry_is_shared(););
        Some(ours! {
            let mut retry_permit = #permit;
            #is_shared
            #?(self.model.has_limiter()) {
                if __retry::Permit::is_open(&retry_permit) {
                    #(self.rejects_by_breaker());
                }
            }
        })
    }

    /// Takes a place with the limiter, and waits for the turn.
    fn turn(&self) -> Option<Code> {
        let limiter = self.model.expr(Key::Limiter)?;
        let span = limiter.span();
        let entered = ours_at!(span=> __retry::Place::queued(#(self.kept(limiter)), 1));
        let is_shared = ours_at!(span=> __retry::held(&retry_place).__retry_is_shared(););
        let (call, name) = (self.whole_call(), self.name());
        let observer = self.observer();
        let observe = self.observe();
        let waited = self.waited();
        let rejects = self.rejects(ours!(retry_by), ours!(__retry::None));
        Some(ours! {
            let mut retry_place = #entered;
            #is_shared
            if !__retry::Place::has_turn(&retry_place) {
                let retry_waits = {
                    #observer
                    __retry::Call::waits(#call, #name, &mut retry_place, #observe)
                };
                if retry_waits {
                    #(self.cancel())
                    match #waited {
                        __retry::Ok(retry_waited) => {
                            #observer
                            __retry::Call::waited(#call, #name, retry_waited, #observe);
                        }
                        __retry::Err(retry_by) => #rejects,
                    }
                }
            }
        })
    }

    /// The wait for the turn, of type `Result<Duration, RejectedBy>`.
    fn waited(&self) -> Code {
        let deadline = match self.model.deadline {
            Some(_) => ours!(retry_deadline),
            None => ours!(__retry::None),
        };
        let is_cancellable = self.model.is_cancellable();
        let timer = self.timer();
        if self.asyncness == Asyncness::Blocking {
            let uncancelled = ours!(__retry::Uncancelled);
            let cancel = if_else(is_cancellable, ours!(retry_cancel), uncancelled);
            return ours! {
                __retry::wait_blocking(&mut retry_place, &#timer, #deadline, &#cancel)
            };
        }
        let cancel = ours!(::core::pin::Pin::as_mut(&mut retry_cancel));
        let uncancelled = ours!(::core::pin::pin!(::core::future::pending::<()>()));
        let cancelled = if_else(is_cancellable, cancel, uncancelled);
        ours!(__retry::wait(&mut retry_place, #timer, #deadline, #cancelled).await)
    }

    /// Asks the breaker for a pass.
    fn pass(&self) -> Code {
        let half_opened = ours!(__retry::Permit::transition(&retry_permit));
        let passed = ours! {
            if !__retry::Permit::admit(&mut retry_permit) {
                #(self.rejects_by_breaker());
            }
            #(self.breaker_changed(&half_opened, &self.whole_call()))
        };
        when(self.model.has_breaker(), passed)
    }

    /// An attempt that begins while the breaker's pass is held. The compiler names the first use of a borrow that stands in
    /// the attempt's way: without this one at the user's expression, it would name our locals.
    pub(crate) fn beside_permit(&self, attempt: Code) -> Code {
        match self.model.expr(Key::Breaker) {
            Some(breaker) if !self.model.is_hedged() => {
                ours_at!(breaker.span()=> __retry::beside(#attempt, &retry_permit))
            }
            _ => attempt,
        }
    }

    /// Takes the turn and what was paid, as the attempt begins.
    fn taken(&self) -> Code {
        ours! {
            #?(self.model.has_limiter()) { __retry::Place::begin(&mut retry_place); }
            #?(self.model.is_paid()) {
                if let __retry::Some(retry_paid) = retry_unspent {
                    __retry::Paid::spend(retry_paid);
                }
            }
        }
    }

    /// Ends the call with what the last attempt left, or else with the rejection.
    fn rejected_at_gate(&self) -> Option<Code> {
        let rejected = self.error_of_rejection()?;
        let last = self.last_error()?;
        let is_bound = self.model.retries_rejections();
        let timer = self.timer_assignment().filter(|_| !is_bound);
        // A fallback may run for long.
        Some(ours! {
            #?(self.model.is_paid()) { __retry::drop(retry_unspent); }
            #timer
            let retry_why = __retry::Rejected::reason(__retry::Rejected::new(retry_by));
            #(self.ends_with_value(None))
            let retry_error: #(self.error()) = match #last {
                __retry::Some(retry_error) => retry_error,
                __retry::None => {
                    #(self.call_with_max())
                    #rejected
                }
            };
            #(self.ends_with_error(None, &self.shown(), &ours!(retry_why)))
        })
    }

    /// Has the call know the policy's `max`, which is otherwise known from the first failure.
    fn call_with_max(&self) -> Option<Code> {
        let is_known = self.model.shows_max() || self.model.chooses_policy();
        if is_known || self.model.count == Count::Retries {
            return None;
        }
        Some(self.with_policy(&mut |policy| {
            let max = ours!(__retry::max(#policy));
            ours!(retry_call = #(self.call())::new().with_max(#max);)
        }))
    }

    /// Tells breaker and limiter that the server answered, whatever other keys make of the value.
    pub(crate) fn answered(&self) -> Code {
        let call = self.succeeded_call();
        let breaker = self.model.has_breaker().then(|| {
            let closed = ours!(__retry::Permit::succeeded(&mut retry_permit));
            self.breaker_changed(&closed, &call)
        });
        let limiter = self.model.has_limiter().then(|| {
            ours! {
                if let __retry::Some(retry_changes) = __retry::Place::succeeded(&mut retry_place) {
                    #(self.observer())
                    __retry::Call::limiter_changed(
                        #call,
                        #(self.name()),
                        retry_changes,
                        #(self.observe()),
                    );
                }
            }
        });
        ours!(#breaker #limiter)
    }

    /// Reports the breaker's change of state, if there is one.
    fn breaker_changed(&self, transition: &Code, call: &Code) -> Code {
        let (name, observe) = (self.name(), self.observe());
        ours! {
            if let __retry::Some(retry_turned) = #transition {
                #(self.observer())
                __retry::Call::breaker_changed(#call, #name, retry_turned, __retry::None, #observe);
            }
        }
    }
}
