//! The end of a call: its result, `give_up` and `fallback`, and the reports.

use retry_vocabulary::key::Key;
use syn::Expr;
use syn::spanned::Spanned;

use crate::expand::decision::FailureSource;
use crate::expand::printer::Printer;
use crate::target::outcome;
use crate::tokens::{Code, code, if_else, ours, ours_at};

impl Printer<'_> {
    /// Ends the call with `retry_error`, because of `retry_reason`.
    pub(crate) fn end_call(&self) -> Code {
        self.end_with_error(&ours!(retry_reason))
    }

    /// Ends the call with the result of `give_up` or `fallback` for `retry_error`. If both are given, `fallback` is called
    /// first.
    pub(crate) fn end_of_failure(&self) -> Code {
        let gave_up = ours! {
            let retry_taken = __retry::Taken::new(__retry::Attempt::begun(&retry_history));
            let retry_gave_up = __retry::Attempt::gave_up(
                &mut retry_history, retry_error, retry_reason, &retry_taken,
            );
        };
        // With the type written out, so that a mismatch points at the function.
        let of = ours!(::<_, _, #(self.error())>);
        let of = if_else(self.model.converts_error(), Code::new(), of);
        let shaped = self.model.expr(Key::GiveUp).map(|give_up| {
            let shaped =
                ours_at!(give_up.span()=> __retry::end #of(retry_gave_up, #(self.user_expr(give_up))));
            let shaped = Self::isolate(give_up, shaped);
            ours!(#gave_up #(self.break_with(ours!(__retry::Err(#shaped)))))
        });
        let Some(fallback) = self.model.expr(Key::Fallback) else {
            return ours!(#shaped);
        };
        ours! {
            #gave_up
            #(self.call_fallback(fallback))
            #?(shaped.is_some()) { if let __retry::Err(retry_error) = retry_outcome { #shaped } }
            #(self.break_loop())
        }
    }

    /// Calls the fallback. Binds its outcome as the call's outcome.
    fn call_fallback(&self, fallback: &Expr) -> Code {
        let span = fallback.span();
        let called = |by: Code| {
            let called = ours_at!(span=> __retry::#by(retry_gave_up, #(self.user_expr(fallback))));
            Self::isolate(fallback, called)
        };
        // In a block, so that errors about a wrong type don't mention an assignment that the user didn't write.
        let replaced = if_else(
            self.is_async,
            ours_at!(span=> { #(called(ours!(end))).await }),
            ours_at!(span=> { #(called(ours!(fall_back_blocking))) }),
        );
        #[cfg(feature = "stream")]
        let stream = self.model.stream.as_ref();
        #[cfg(feature = "stream")]
        let stream = stream.map(|stream| self.read_fallback(stream, span));
        #[cfg(not(feature = "stream"))]
        let stream: Option<Code> = None;
        let outcome = &self.model.outcome;
        let typed = match stream {
            Some(_) => ours!(__retry::Result<_, #(self.error())>),
            None if outcome::is_result(outcome) => ours!(#outcome),
            None => ours!(__retry::Result<#(self.value()), #(self.error())>),
        };
        ours! {
            #(ours_at!(span=> let retry_outcome: #typed = #replaced;))
            #(self.error_type_of(&ours!(retry_outcome)))
            #stream
            // The formatted error borrows a temporary, so it is passed to a closure instead of returned.
            #?(self.model.has(&[Key::GiveUp])) { let retry_reason = }
            retry_call.fell_back(
                &retry_taken, &retry_outcome,
                |retry_error, retry_with| retry_with(#(self.text_of(&ours!(retry_error)))), #(self.reporter()),
            );
        }
    }

    /// The text of a failure for reports, or of a value that `until` rejected.
    pub(crate) fn failure_text(&self, failed: FailureSource) -> Code {
        let rejected = ours!(&__retry::REJECTED_VALUE);
        if_else(failed.has_error(), self.error_text(), rejected)
    }

    /// The text of `retry_error`.
    pub(crate) fn error_text(&self) -> Code {
        self.text_of(&self.error_of_type())
    }

    /// The text of this error. If `validate` may have created the error, its type is written out, because the way it
    /// is shown depends on the type.
    fn text_of(&self, error: &Code) -> Code {
        if let Some(show) = self.model.expr(Key::Show) {
            let show_by = ours_at!(show.span()=> __retry::show_by(#error, #(self.user_fn(show))));
            return ours!(&#(Self::isolate(show, show_by)));
        }
        let ty = self.model.has(&[Key::Validate]).then(|| self.error());
        let of = ty.map(|ty| code!(::<#ty>));
        ours!(#(self.show()) #of(#error).__retry_show())
    }

    /// Reports that a value was accepted.
    pub(crate) fn report_ok(&self) -> Code {
        if self.model.resumes() {
            // The budget is credited at each attempt's first item.
            return ours!(retry_call.report_success(#(self.reporter())););
        }
        ours!(retry_call.succeeded(#(self.reporter()));)
    }

    /// Reports that the server responded.
    pub(crate) fn report_response(&self) -> Code {
        ours!(retry_call.answered(#(self.reporter()));)
    }

    /// Races the loop against `abort`. Dropping the loop drops everything it holds: the attempt, its slot in the
    /// limiter and its payment.
    pub(crate) fn race_abort(&self, looped: Code) -> Code {
        let key = self.model.arguments.get(Key::Abort);
        let Some((key, abort)) = key.zip(self.model.expr(Key::Abort)) else {
            return looped;
        };
        let (key, span) = (key.ident.span(), abort.span());
        let aborted = ours_at!(span=> __retry::cancelled(#(self.isolated(abort))));
        let conversion = ours_at!(key=> __retry::FromCancelled::from_cancelled);
        ours! {
            let retry_finished = {
                let retry_aborted = #aborted;
                let retry_loop = ::core::pin::pin!(async { #looped });
                // Bound to a name, so that the race is dropped before the values that it borrows.
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
