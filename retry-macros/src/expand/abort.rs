//! The key `abort`, which ends the call wherever it is.

use retry_vocabulary::key::Key;
use syn::spanned::Spanned;

use crate::expand::printer::Printer;
use crate::tokens::{Code, ours, ours_at};

impl Printer<'_> {
    /// Races the loop against what aborts the call. What the loop holds is dropped with it: the attempt, its place with the
    /// limiter, what was paid.
    pub(crate) fn abortable(&self, looped: Code) -> Code {
        let key = self.model.arguments.get(Key::Abort);
        let Some((key, abort)) = key.zip(self.model.expr(Key::Abort)) else {
            return looped;
        };
        let (key, span) = (key.ident.span(), abort.span());
        let aborted = ours_at!(span=> __retry::cancelled(#(self.kept(abort))));
        let conversion = ours_at!(key=> __retry::FromCancelled::from_cancelled);
        ours! {
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
                    retry_call.aborted(#(self.reporter()));
                    __retry::Err(#conversion(__retry::Cancelled::new()))
                }
            }
        }
    }
}
