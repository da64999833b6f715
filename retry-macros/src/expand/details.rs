//! What a decision is told of a failure, or of a slow attempt, beyond its verdict.

use retry_vocabulary::key::Key;

use crate::expand::failure::FailureSource;
use crate::expand::printer::Printer;
use crate::tokens::{Code, ours, ours_at};

impl Printer<'_> {
    /// The details of a failure, or of an attempt that is slow, beyond its verdict, as far as keys need them.
    pub(crate) fn details(&self, now: &Code) -> Code {
        let idempotent = self.model.arguments.get(Key::Idempotent);
        ours! {
            #(self.limits(now))
            #(idempotent.map(|idempotent| ours!(.idempotent(#(self.argument(idempotent))))))
            #(self.payer_and_observer())
        }
    }

    /// The details of a rejected attempt. It took no effect and costs nothing, so idempotency and budget are left out.
    pub(crate) fn details_of_rejection(&self) -> Code {
        ours! {
            #(self.limits(&self.now_after_failure()))
            #(self.observes())
            #?(self.model.delays().is_some()) { .delays(&mut retry_delays) }
        }
    }

    /// What ends the call in any case.
    fn limits(&self, now: &Code) -> Code {
        ours! {
            #?(self.model.deadline.is_some()) { .deadline(retry_deadline, #now) }
            #(self.cancelled().map(|cancelled| ours!(.cancelled(#cancelled))))
        }
    }

    /// Who pays for a retry, and who is told of it.
    pub(crate) fn payer_and_observer(&self) -> Code {
        ours!(#?(self.model.is_paid()) { .budget(&retry_budget) } #(self.observes()))
    }

    fn observes(&self) -> Code {
        ours!(#?(self.model.is_observed()) { .observe(&mut retry_observer) })
    }

    /// The details of a failure that only the decision after it needs, beside those of [`Self::details`].
    pub(crate) fn options(&self, failed: FailureSource) -> Code {
        let model = self.model;
        let (by_body, has_error) = (failed == FailureSource::Body, failed.has_error());
        let is_corrected = failed == FailureSource::Validation && model.is_corrected();
        let repeated = self.repeated().filter(|_| has_error);
        // The last attempt took the arguments, even if the limit has grown since. A correction needs none.
        let is_last_known = model.gives_away() && !is_corrected;
        let validates = model.is_validated() && !is_corrected;
        ours! {
            #(self.details(&self.now_after_failure()))
            #?(model.is_hedged()) { .pushback(&mut retry_pushback) }
            #(repeated.map(|repeated| ours!(.repeated(#repeated))))
            #?(model.has_breaker() && by_body) { .permit(&mut retry_permit) }
            #?(model.has_limiter() && by_body) { .place(&mut retry_place) }
            #?(is_last_known) { .last(retry_last) }
            #?(model.delays().is_some()) { .delays(&mut retry_delays) }
            #?(is_corrected) { .correctable() }
            #?(validates) { .validates() }
            #?(model.falls_back() && has_error) { .falls_back() }
        }
    }

    /// Whether `retry_error` came too often in a row, where the attribute asks for that.
    pub(crate) fn repeated(&self) -> Option<Code> {
        let model = self.model;
        let repeats = self.kept(model.expr(Key::Repeats)?);
        let same = ours_at! {model.error_span=>
            (&&&__retry::Same(retry_one)).__retry_same(retry_other)
        };
        Some(ours! {
            __retry::is_repeated(&mut retry_history, &retry_error, #repeats, |retry_one, retry_other| {
                use __retry::{SameDebug as _, SameDisplay as _, SameValue as _};
                #same
            })
        })
    }

    /// Binds what pays for a retry, and adds what it paid to the decision.
    pub(crate) fn paid(&self) -> (Option<Code>, Option<Code>) {
        let Some(budget) = self.budget() else {
            return (None, None);
        };
        let followed = ours!(#(self.call())::followed(&retry_next));
        (
            Some(budget),
            Some(ours! {
                let retry_decision = __retry::Result::map(
                    retry_decision,
                    |retry_pause| (retry_pause, __retry::Paid::new(retry_budget, #followed)),
                );
            }),
        )
    }
}
