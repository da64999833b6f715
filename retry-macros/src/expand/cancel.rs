//! The keys `cancel`, which ends the pause and the call, and `abort`, which ends the call wherever it is.

use retry_vocabulary::key::Key;
use syn::spanned::Spanned;

use crate::expand::printer::Printer;
use crate::target::function::Asyncness;
use crate::tokens::{Code, if_else, ours, ours_at};

impl Printer<'_> {
    /// Binds what an async call asks with whether it is cancelled.
    pub(crate) fn waker(&self) -> Option<Code> {
        let asks = self.asyncness == Asyncness::Async && self.model.is_cancellable();
        asks.then(|| ours!(let retry_waker = __retry::OwnWaker.await;))
    }

    /// Whether what [`Self::cancel`] bound has cancelled the call.
    pub(crate) fn cancelled(&self) -> Option<Code> {
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
    pub(crate) fn cancel(&self) -> Option<Code> {
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
    pub(crate) fn paused(&self) -> Code {
        let both = ours!((retry_pause, retry_cancel));
        if_else(self.model.is_cancellable(), both, ours!(retry_pause))
    }

    /// What ends the call, once nothing is borrowed any more by what could have cancelled it.
    pub(crate) fn without_cancel(&self, ended: Code) -> Code {
        ours!(#?(self.model.is_cancellable()) { __retry::drop(retry_cancel); } #ended)
    }

    pub(crate) fn cut(&self) -> Option<Code> {
        let reason = ours!(::core::primitive::bool::then_some(
            retry_cancelled,
            __retry::Reason::Cancelled
        ));
        self.model.is_cancellable().then_some(reason)
    }

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
    pub(crate) fn under_way(&self, is_under_way: bool) -> Code {
        ours!(#?(self.model.is_abortable()) { retry_under_way = #is_under_way; })
    }
}
