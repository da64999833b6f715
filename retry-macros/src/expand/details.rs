//! What a decision is told of a failure, or of a slow attempt, beyond its verdict.

use retry_vocabulary::key::Key;

use crate::expand::failure::FailureSource;
use crate::expand::printer::Printer;
use crate::tokens::{Code, ours, ours_at, when};

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
        let delays = self.model.delays().is_some();
        let delays = when(delays, ours!(.delays(&mut retry_delays)));
        ours!(#(self.limits(&self.now_after_failure())) #(self.observes()) #delays)
    }

    /// What ends the call in any case.
    fn limits(&self, now: &Code) -> Code {
        let deadline = ours!(.deadline(retry_deadline, #now));
        ours! {
            #(when(self.model.deadline.is_some(), deadline))
            #(self.cancelled().map(|cancelled| ours!(.cancelled(#cancelled))))
        }
    }

    /// Who pays for a retry, and who is told of it.
    pub(crate) fn payer_and_observer(&self) -> Code {
        let payer = when(self.model.is_paid(), ours!(.budget(&retry_budget)));
        ours!(#payer #(self.observes()))
    }

    fn observes(&self) -> Code {
        when(
            self.model.is_observed(),
            ours!(.observe(&mut retry_observer)),
        )
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
            #(when(model.is_hedged(), ours!(.pushback(&mut retry_pushback))))
            #(repeated.map(|repeated| ours!(.repeated(#repeated))))
            #(when(model.has_breaker() && by_body, ours!(.permit(&mut retry_permit))))
            #(when(model.has_limiter() && by_body, ours!(.place(&mut retry_place))))
            #(when(is_last_known, ours!(.last(retry_last))))
            #(when(model.delays().is_some(), ours!(.delays(&mut retry_delays))))
            #(when(is_corrected, ours!(.correctable())))
            #(when(validates, ours!(.validates())))
            #(when(model.falls_back() && has_error, ours!(.falls_back())))
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
