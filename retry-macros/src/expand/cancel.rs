//! The key `cancel`: what ends the pause and the call.

use proc_macro2::TokenStream;
use retry_vocabulary::key::Key;
use syn::spanned::Spanned;

use crate::expand::printer::Printer;
use crate::target::function::Asyncness;
use crate::tokens::{if_else, ours, ours_at, when};

impl Printer<'_> {
    /// Binds what an async call asks with whether it is cancelled.
    pub(crate) fn waker(&self) -> Option<TokenStream> {
        let asks = self.asyncness == Asyncness::Async && self.model.is_cancellable();
        asks.then(|| ours!(let retry_waker = __retry::OwnWaker.await;))
    }

    /// Whether what [`Self::cancel`] bound has cancelled the call.
    pub(crate) fn cancelled(&self) -> Option<TokenStream> {
        let is_cancellable = self.model.is_cancellable();
        is_cancellable.then(|| match self.asyncness {
            // Asked while attempts run, and again after the failure of the last: a future must not be polled after its end.
            Asyncness::Async if self.model.is_hedged() => {
                ours!(__retry::has_come(
                    &mut retry_came,
                    &mut retry_cancel,
                    &retry_waker
                ))
            }
            Asyncness::Async => ours!(__retry::is_cancelled(&mut retry_cancel, &retry_waker)),
            Asyncness::Blocking => ours!(__retry::Cancel::is_cancelled(&retry_cancel)),
        })
    }

    /// Binds what cancels the call. Outside of the decision, which it outlives.
    pub(crate) fn cancel(&self) -> Option<TokenStream> {
        let cancel = self.model.expr(Key::Cancel)?;
        let span = cancel.span();
        let cancel = self.kept(cancel);
        Some(match self.asyncness {
            Asyncness::Async => {
                let cancelled = ours_at!(span=> __retry::cancelled(#cancel));
                ours!(let mut retry_cancel = #cancelled;)
            }
            Asyncness::Blocking => {
                let cancel = ours_at!(span=> __retry::IntoCancel::into_cancel(#cancel));
                ours!(let retry_cancel = #cancel;)
            }
        })
    }

    /// What a decision leaves to the pause.
    pub(crate) fn paused(&self) -> TokenStream {
        let both = ours!((retry_pause, retry_cancel));
        if_else(self.model.is_cancellable(), both, ours!(retry_pause))
    }

    /// What ends the call, once nothing is borrowed any more by what could have cancelled it.
    pub(crate) fn without_cancel(&self, ended: TokenStream) -> TokenStream {
        let dropped = ours!(__retry::drop(retry_cancel););
        ours!(#(when(self.model.is_cancellable(), dropped)) #ended)
    }

    pub(crate) fn cut(&self) -> Option<TokenStream> {
        let reason = ours!(::core::primitive::bool::then_some(
            retry_cancelled,
            __retry::Reason::Cancelled
        ));
        self.model.is_cancellable().then_some(reason)
    }
}
