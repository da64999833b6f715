//! What a decision is told of a failure, or of a slow attempt, beyond its verdict.

use proc_macro2::TokenStream;
use quote::TokenStreamExt;
use retry_vocabulary::key::Key;

use crate::expand::failure::FailureSource;
use crate::expand::printer::Printer;
use crate::tokens::{ours, ours_at, when};

impl Printer<'_> {
    /// The details of a failure, or of an attempt that is slow, beyond its verdict, as far as keys need them.
    pub(crate) fn details(&self, now: &TokenStream) -> TokenStream {
        self.details_if(now, true)
    }

    /// The details of an attempt that did not begin, and so took no effect and is not paid for.
    pub(crate) fn details_of_rejection(&self) -> TokenStream {
        let delays = self.model.delays().is_some();
        let delays = when(delays, ours!(.delays(&mut retry_delays)));
        ours!(#(self.details_if(&self.now_after_failure(), false)) #delays)
    }

    fn details_if(&self, now: &TokenStream, has_begun: bool) -> TokenStream {
        let model = self.model;
        let mut details = TokenStream::new();
        if model.deadline.is_some() {
            details.append_all(ours!(.deadline(retry_deadline, #now)));
        }
        let idempotent = model.arguments.get(Key::Idempotent);
        if let Some(idempotent) = idempotent.filter(|_| has_begun) {
            details.append_all(ours!(.idempotent(#(self.argument(idempotent)))));
        }
        if let Some(cancelled) = self.cancelled() {
            details.append_all(ours!(.cancelled(#cancelled)));
        }
        if model.is_paid() && has_begun {
            details.append_all(ours!(.budget(&retry_budget)));
        }
        if model.is_observed() {
            details.append_all(ours!(.observe(&mut retry_observer)));
        }
        details
    }

    /// The details of a failure that only the decision after it needs, beside those of [`Self::details`].
    pub(crate) fn options(&self, failed: FailureSource) -> TokenStream {
        let model = self.model;
        let mut options = self.details(&self.now_after_failure());
        if model.is_hedged() {
            options.append_all(ours!(.pushback(&mut retry_pushback)));
        }
        if let Some(repeated) = self.repeated().filter(|_| failed.has_error()) {
            options.append_all(ours!(.repeated(#repeated)));
        }
        if model.has_breaker() && failed == FailureSource::Body {
            options.append_all(ours!(.permit(&mut retry_permit)));
        }
        if model.has_limiter() && failed == FailureSource::Body {
            options.append_all(ours!(.place(&mut retry_place)));
        }
        let is_corrected = failed == FailureSource::Validation && model.is_corrected();
        // The last attempt took the arguments, even if the limit has grown since. A correction needs none.
        if self.model.gives_away() && !is_corrected {
            options.append_all(ours!(.last(retry_last)));
        }
        if model.delays().is_some() {
            options.append_all(ours!(.delays(&mut retry_delays)));
        }
        if is_corrected {
            options.append_all(ours!(.correctable()));
        } else if model.is_validated() {
            options.append_all(ours!(.validates()));
        }
        if model.falls_back() && failed.has_error() {
            options.append_all(ours!(.falls_back()));
        }
        options
    }

    /// Whether `retry_error` came too often in a row, where the attribute asks for that.
    pub(crate) fn repeated(&self) -> Option<TokenStream> {
        let model = self.model;
        let repeats = self.user(model.expr(Key::Repeats)?);
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
    pub(crate) fn paid(&self) -> (Option<TokenStream>, Option<TokenStream>) {
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
