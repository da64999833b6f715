//! The key `span`: a span around the call, and one around each attempt.

use proc_macro2::TokenStream;

use crate::attribute::argument::Argument;
use crate::expand::printer::Printer;
use crate::target::function::Asyncness;
use crate::tokens::{if_else, ours, ours_at};

impl Printer<'_> {
    /// The loop, in the call's span.
    pub(crate) fn in_call_span(&self, retried: TokenStream) -> TokenStream {
        let Some(span) = self.model.span() else {
            return retried;
        };
        let bound = self.call_span(span);
        if self.asyncness == Asyncness::Blocking {
            return ours! {
                #bound
                let retry_entered = __retry::span::enter(&retry_span);
                let retry_finished = { #retried };
                __retry::drop(retry_entered);
                retry_finished
            };
        }
        ours! {
            #bound
            let retry_spanned = ::core::pin::pin!(async { #retried });
            // Bound to a name, so that it ends before what it borrows is dropped.
            #[allow(clippy::let_and_return)]
            let retry_finished = __retry::span::within(retry_spanned, &retry_span).await;
            retry_finished
        }
    }

    fn call_span(&self, key: &Argument) -> TokenStream {
        let name = self.name();
        let new =
            ours_at!(key.span=> __retry::span::of_call(__retry::Features, retry_spans, #name));
        ours! {
            let retry_spans: bool = #(self.argument(key));
            let retry_span = #new;
        }
    }

    /// Binds the span of the attempt that begins.
    pub(crate) fn attempt_span(&self) -> Option<TokenStream> {
        self.model.span()?;
        let next = ours!(__retry::span::next(&retry_begun));
        let own = ours!(__retry::Call::attempt(#(self.whole_call())));
        let number = if_else(self.model.is_hedged(), next, own);
        Some(ours!(let retry_attempt_span = __retry::span::of_attempt(retry_spans, #number);))
    }

    /// Binds what counts attempts that begin beside others, whose closure can't borrow the call.
    pub(crate) fn begun(&self) -> Option<TokenStream> {
        self.model.span()?;
        let call = self.whole_call();
        Some(ours!(let retry_begun = __retry::span::begun(__retry::Call::attempt(#call));))
    }
}
