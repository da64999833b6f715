//! How a call ends: what it returns, what its fallback makes of a failure, and who is told.

use retry_vocabulary::key::Key;
use syn::Expr;
use syn::spanned::Spanned;

use crate::expand::failure::FailureSource;
use crate::expand::printer::Printer;
use crate::target::function::Asyncness;
use crate::tokens::{Code, code, if_else, ours, ours_at};

impl Printer<'_> {
    /// Ends the call with `retry_error`, for `retry_reason`.
    pub(crate) fn ended(&self) -> Code {
        if self.model.is_driven() {
            return self.ends_with(&ours!(retry_reason));
        }
        ours!(retry_outcome = __retry::Err(retry_error);)
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
        let error = self.error();
        let value = if_else(stream.is_some(), ours!(_), self.value());
        ours! {
            #(ours_at!(span=> let retry_outcome: __retry::Result<#value, #error> = #fallen;))
            #(self.error_type_of(&ours!(retry_outcome)))
            #stream
            #(self.fallback_told())
        }
    }

    /// Reports how the fallback ended. What shows the error borrows a temporary, so it is handed on instead of returned.
    fn fallback_told(&self) -> Code {
        ours! {
            retry_call.fell_back(
                retry_attempts,
                &retry_outcome,
                |retry_error, retry_with| retry_with(__retry::show(retry_error).__retry_show()),
                #(self.reporter()),
            );
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

    /// Reports that a value is taken.
    pub(crate) fn report(&self) -> Code {
        if !self.model.is_driven() {
            return ours!(retry_call.healed(#(self.constant_site())););
        }
        if self.model.resumes() {
            // The budget is credited at each attempt's first item.
            return ours!(retry_call.report_success(#(self.reporter())););
        }
        ours!(retry_call.succeeded(#(self.reporter()));)
    }

    /// Reports that the server answered.
    pub(crate) fn answered(&self) -> Option<Code> {
        let is_driven = self.model.is_driven();
        is_driven.then(|| ours!(retry_call.answered(#(self.reporter()));))
    }
}

/// What is shown of a value that `until` rejected.
fn rejected_value() -> Code {
    ours!(&__retry::REJECTED_VALUE)
}
