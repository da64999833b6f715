//! How a call ends: what it returns, what its fallback makes of a failure, and who is told.

use retry_vocabulary::key::Key;
use syn::Expr;
use syn::spanned::Spanned;

use crate::expand::failure::FailureSource;
use crate::expand::model::Count;
use crate::expand::printer::Printer;
use crate::target::function::Asyncness;
use crate::tokens::{Code, code, if_else, ours, ours_at};

impl Printer<'_> {
    /// What [`Self::ended`] calls the reason, if it needs it.
    pub(crate) fn reason(&self) -> Option<Code> {
        let is_told = self.model.tells_reason();
        is_told.then(|| ours!(retry_reason))
    }

    /// Ends the call with `retry_error`, and with `retry_reason` if the ending uses it.
    pub(crate) fn ended(&self) -> Code {
        let tick = self.reason().and_then(|_| self.tick());
        ours! {
            #tick
            retry_outcome = #(self.outcome_of_failure());
        }
    }

    /// What a call that ends with `retry_error` returns.
    pub(crate) fn outcome_of_failure(&self) -> Code {
        let gave_up = ours!(__retry::Attempt::gave_up(
            retry_history,
            retry_error,
            retry_reason
        ));
        let endings = (self.model.expr(Key::GiveUp), self.model.expr(Key::Fallback));
        match endings {
            (None, None) => ours!(__retry::Err(retry_error)),
            (Some(give_up), _) => {
                let span = give_up.span();
                let shaped = ours_at!(span=> __retry::shape(#gave_up, #(self.user(give_up))));
                ours!(__retry::Err(#(Self::contained(give_up, shaped))))
            }
            (None, Some(fallback)) => self.fallen(fallback, &gave_up),
        }
    }

    /// What the fallback makes of the call.
    fn fallen(&self, fallback: &Expr, gave_up: &Code) -> Code {
        let span = fallback.span();
        let called = |by: Code| {
            let called = ours_at!(span=> __retry::#by(#gave_up, #(self.user(fallback))));
            Self::contained(fallback, called)
        };
        // In a block, so that an outcome of the wrong type is not explained by an assignment that nobody wrote.
        let fallen = match self.asyncness {
            Asyncness::Async => ours_at!(span=> { #(called(ours!(fall_back))).await }),
            Asyncness::Blocking => ours_at!(span=> { #(called(ours!(fall_back_blocking))) }),
        };
        #[cfg(feature = "stream")]
        let stream = self.model.stream.as_ref();
        #[cfg(feature = "stream")]
        let stream = stream.map(|stream| self.read_fallen(stream, span));
        #[cfg(not(feature = "stream"))]
        let stream: Option<Code> = None;
        let error = self.error();
        let value = if_else(stream.is_some(), ours!(_), self.value());
        let fallen = ours_at!(span=> let retry_fallen: __retry::Result<#value, #error> = #fallen;);
        let fallen_type = self.error_type_of(&ours!(retry_fallen));
        ours! {
            {
                // Not of what the fallback takes: what is borrowed stays in the future.
                let retry_attempts = __retry::Attempt::begun(&retry_history);
                #fallen
                #fallen_type
                #stream
                #(self.fallback_told())
                retry_fallen
            }
        }
    }

    /// Tells how the fallback ended.
    fn fallback_told(&self) -> Code {
        let (call, name, observe) = (self.whole_call(), self.name(), self.observe());
        ours! {
            {
                #(self.observer())
                match &retry_fallen {
                    __retry::Ok(_) => __retry::Call::fallback_ended(
                        #call,
                        #name,
                        retry_attempts,
                        __retry::Ok(()),
                        #observe,
                    ),
                    __retry::Err(retry_error) => __retry::Call::fallback_ended(
                        #call,
                        #name,
                        retry_attempts,
                        __retry::Err(__retry::show(retry_error).__retry_show()),
                        #observe,
                    ),
                }
            }
        }
    }

    /// What reports show of a failure.
    pub(crate) fn shown_after(&self, failed: FailureSource) -> Code {
        if_else(failed.has_error(), self.shown(), rejected_value())
    }

    /// The text of `retry_error`. Where another function than the body may have made it, its type is told, since how
    /// it is shown depends on that.
    pub(crate) fn shown(&self) -> Code {
        let error = self.model.is_validated().then(|| self.error());
        let of = error.map(|error| code!(::<#error>));
        ours!(#(self.show()) #of(#(self.error_of_type())).__retry_show())
    }

    /// Reports that the call ends with `retry_error` during or after a pause, and binds `retry_reason` where it is asked
    /// for. `pending` is what the pause was for, and `shown` what reports show of the error.
    pub(crate) fn reported(&self, shown: &Code, pending: &Code, reason: &Code) -> Code {
        let told = self.told(shown, self.model.falls_back(), pending, reason);
        let binding = self.reason().map(|binding| ours!(let #binding = #reason;));
        ours! {
            #told
            #(self.tick())
            #binding
        }
    }

    fn told(&self, shown: &Code, falls_back: bool, pending: &Code, reason: &Code) -> Code {
        let ending = if_else(falls_back, code!(Fallback), code!(Error));
        ours! {
            {
                #(self.observer())
                __retry::Call::ended_after_pause(
                    #(self.whole_call()),
                    #(self.name()),
                    #shown,
                    __retry::Values::#pending,
                    __retry::Ending::#ending,
                    #reason,
                    #(self.observe()),
                );
            }
        }
    }

    /// Ends the call between two attempts with `retry_error`. First, `unpaid` gives back what was paid for the next.
    pub(crate) fn ends_with_error(
        &self,
        unpaid: Option<&Code>,
        shown: &Code,
        reason: &Code,
    ) -> Code {
        ours! {
            #unpaid
            #(self.reported(shown, &ours!(Taken), reason))
            let retry_outcome = #(self.outcome_of_failure());
            #(self.leave())
        }
    }

    /// Ends the call between two attempts, for `retry_why`, with the value that `until` rejected, if that is what the last
    /// one left. First, `unpaid` gives back what was paid for the next.
    pub(crate) fn ends_with_value(&self, unpaid: Option<&Code>) -> Option<Code> {
        let told = || self.told(&rejected_value(), false, &ours!(Taken), &ours!(retry_why));
        self.model.keeps_values().then(|| {
            ours! {
                if let __retry::Some(retry_outcome) = retry_returned {
                    #unpaid
                    #(told())
                    #(self.leave())
                }
            }
        })
    }

    /// Reports a success to everyone who should know. The budget of a resumed stream knows from each attempt's first item.
    pub(crate) fn report(&self) -> Code {
        let told = self.succeeded();
        let Some(budget) = self.budget().filter(|_| !self.model.resumes()) else {
            return told;
        };
        let credit = self.credit(&ours!(retry_call));
        ours! {
            #told
            {
                #budget
                #credit
            }
        }
    }

    /// Tells the budget that is bound, where there is one, that a call counted so succeeded.
    pub(crate) fn credit(&self, counted: &Code) -> Option<Code> {
        let call = self.call();
        let is_bound = self.model.is_paid();
        is_bound.then(|| ours!(#call::credit(&#counted, &retry_budget);))
    }

    /// Reports the success to the log and the observer. The name is evaluated only if someone listens, the policy not at
    /// all.
    fn succeeded(&self) -> Code {
        let (name, call) = (self.name(), self.succeeded_call());
        match self.observer() {
            Some(observer) => ours! {
                {
                    #observer
                    __retry::Call::report_success(#call, #name, &mut retry_observer);
                }
            },
            None if self.model.count == Count::Retries => {
                ours!(retry_call.healed(#(self.constant_site()));)
            }
            None => ours! {
                if __retry::Call::is_retried(#call) {
                    __retry::Call::healed(#call, #name, __retry::None);
                }
            },
        }
    }
}

/// What is shown of a value that `until` rejected.
fn rejected_value() -> Code {
    ours!(&__retry::REJECTED_VALUE)
}
