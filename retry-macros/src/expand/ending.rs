//! How a call ends: what it returns, what its fallback makes of a failure, and who is told.

use retry_vocabulary::key::Key;
use syn::Expr;
use syn::spanned::Spanned;

use crate::expand::failure::FailureSource;
use crate::expand::printer::Printer;
use crate::target::function::Asyncness;
use crate::target::outcome;
use crate::tokens::{Code, code, if_else, ours, ours_at};

impl Printer<'_> {
    /// Ends the call with `retry_error`, for `retry_reason`.
    pub(crate) fn ended(&self) -> Code {
        self.ends_with(&ours!(retry_reason))
    }

    /// Ends the call with what `give_up` or `fallback` make of `retry_error`.
    pub(crate) fn end_of_failure(&self) -> Code {
        let gave_up = ours! {
            let retry_gave_up =
                __retry::Attempt::gave_up(retry_history, retry_error, retry_reason);
        };
        match (self.model.expr(Key::GiveUp), self.model.expr(Key::Fallback)) {
            (Some(give_up), _) => {
                let span = give_up.span();
                let shape = self.user(give_up);
                let shaped = ours_at!(span=> __retry::shape(retry_gave_up, #shape));
                let shaped = Self::contained(give_up, shaped);
                ours!(#gave_up #(self.leave_with(ours!(__retry::Err(#shaped)))))
            }
            (None, None) => Code::new(),
            (None, Some(fallback)) => ours! {
                // Not of what the fallback takes: what is borrowed stays in the future.
                let retry_attempts = __retry::Attempt::begun(&retry_history);
                #gave_up
                #(self.fallen(fallback))
                #(self.leave())
            },
        }
    }

    /// Binds the outcome of the fallback as that of the call.
    fn fallen(&self, fallback: &Expr) -> Code {
        let span = fallback.span();
        let called = |by: Code| {
            let called = ours_at!(span=> __retry::#by(retry_gave_up, #(self.user(fallback))));
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
        let outcome = &self.model.outcome;
        let typed = match stream {
            Some(_) => ours!(__retry::Result<_, #(self.error())>),
            None if outcome::is_result(outcome) => ours!(#outcome),
            None => ours!(__retry::Result<#(self.value()), #(self.error())>),
        };
        ours! {
            #(ours_at!(span=> let retry_outcome: #typed = #fallen;))
            #(self.error_type_of(&ours!(retry_outcome)))
            #stream
            // What shows the error borrows a temporary, so it is handed on instead of returned.
            retry_call.fell_back(
                retry_attempts,
                &retry_outcome,
                |retry_error, retry_with| retry_with(__retry::show(retry_error).__retry_show()),
                #(self.reporter()),
            );
        }
    }

    /// What reports show of a failure, or of a value that `until` rejected.
    pub(crate) fn shown_after(&self, failed: FailureSource) -> Code {
        let rejected = ours!(&__retry::REJECTED_VALUE);
        if_else(failed.has_error(), self.shown(), rejected)
    }

    /// The text of `retry_error`. Where another function than the body may have made it, its type is told, since how
    /// it is shown depends on that.
    pub(crate) fn shown(&self) -> Code {
        let error = self.model.is_validated().then(|| self.error());
        let of = error.map(|error| code!(::<#error>));
        ours!(#(self.show()) #of(#(self.error_of_type())).__retry_show())
    }

    /// Reports that a value is taken.
    pub(crate) fn report(&self) -> Code {
        if self.model.resumes() {
            // The budget is credited at each attempt's first item.
            return ours!(retry_call.report_success(#(self.reporter())););
        }
        ours!(retry_call.succeeded(#(self.reporter()));)
    }

    /// Reports that the server answered.
    pub(crate) fn answered(&self) -> Code {
        ours!(retry_call.answered(#(self.reporter()));)
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
