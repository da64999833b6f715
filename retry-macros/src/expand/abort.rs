//! The key `abort`: what ends the call wherever it is.

use proc_macro2::TokenStream;
use retry_vocabulary::key::Key;
use syn::spanned::Spanned;

use crate::expand::printer::Printer;
use crate::tokens::{ours, ours_at, when};

impl Printer<'_> {
    /// Races the loop against what aborts the call. What the loop holds is dropped with it: the attempt, its place with the
    /// limiter, what was paid.
    pub(crate) fn abortable(&self, looped: TokenStream) -> TokenStream {
        let key = self.model.arguments.get(Key::Abort);
        let Some((key, abort)) = key.zip(self.model.expr(Key::Abort)) else {
            return looped;
        };
        let (key, span) = (key.ident.span(), abort.span());
        let aborted = ours_at!(span=> __retry::cancelled(#(self.user(abort))));
        let conversion = ours_at!(key=> __retry::FromCancelled::from_cancelled);
        let (call, name) = (self.whole_call(), self.name());
        let observe = self.observe();
        ours! {
            let mut retry_under_way = false;
            let retry_finished = {
                let retry_aborted = #aborted;
                let retry_loop = ::core::pin::pin!(async { #looped });
                // Bound to a name, so that the race ends before the values it borrows are dropped.
                #[allow(clippy::let_and_return)]
                let retry_finished = __retry::abortable(retry_loop, retry_aborted).await;
                retry_finished
            };
            match retry_finished {
                __retry::Some(retry_outcome) => retry_outcome,
                __retry::None => {
                    #(self.observer())
                    __retry::Call::aborted(#call, #name, retry_under_way, #observe);
                    __retry::Err(#conversion(__retry::Cancelled::new()))
                }
            }
        }
    }

    /// Keeps whether an attempt runs, for the report of a call that is aborted.
    pub(crate) fn under_way(&self, is_under_way: bool) -> TokenStream {
        when(
            self.model.is_abortable(),
            ours!(retry_under_way = #is_under_way;),
        )
    }
}
