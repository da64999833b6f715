//! Checking values: the keys `until`, `validate` and `correct`.

use proc_macro2::{Ident, Span};
use retry_vocabulary::key::Key;
use syn::Expr;
use syn::spanned::Spanned;

use crate::expand::decision::FailureSource;
use crate::expand::printer::Printer;
use crate::tokens::{Code, if_else, ours, ours_at};

impl Printer<'_> {
    /// Checks `retry_outcome`. Continues with a retry, or falls through with the outcome to return.
    pub(crate) fn check_outcome(&self) -> Code {
        let model = self.model;
        let keys = (
            model.expr(Key::Until),
            model.expr(Key::Validate),
            model.expr(Key::Correct),
        );
        let ok = match keys {
            // The outcome is neither moved nor borrowed, so that the compiler makes no more copies of a large value.
            (None, None, _) if model.resumes() => ours!(__retry::Ok(_) => { #(self.report_ok()) }),
            (None, None, _) => ours!(__retry::Ok(_) => retry_call.ok(#(self.reporter())),),
            // Checked in place.
            (Some(until), None, _) => ours! {
                __retry::Ok(ref retry_value) => {
                    #(self.check_until(until, ours!(retry_value), self.retry_or_return()))
                    retry_call.ok(#(self.reporter()));
                }
            },
            (until, validate, correct) => {
                let again = ours!(retry_outcome = __retry::Ok(retry_value););
                let unwanted = ours!(#(again.clone()) #(self.retry_or_return()));
                let wanted = until.map(|it| self.check_until(it, ours!(&retry_value), unwanted));
                let accepted = match (validate, correct) {
                    (Some(validate), Some(correct)) => self.correct_value(validate, correct),
                    _ => ours!(#again #(self.report_ok())),
                };
                let checked = validate.filter(|_| correct.is_none());
                ours! {
                    __retry::Ok(retry_value) => {
                        #wanted
                        // The attempt has ended, no matter how long the check takes.
                        #(validate.map(|_| self.report_response()))
                        #(checked.map(|validate| self.check_validate(validate)))
                        #accepted
                    }
                }
            }
        };
        ours! {
            match retry_outcome {
                #ok
                __retry::Err(retry_error) => { #(self.after_error()) }
            }
        }
    }

    /// Runs `unwanted` if `until` doesn't accept the value.
    pub(crate) fn check_until(&self, until: &Expr, value: Code, unwanted: Code) -> Code {
        let accepts = ours_at!(until.span()=> __retry::accepts(#value, #(self.user_fn(until))));
        ours! {
            // Not negated, because for a type other than `bool` the compiler's error would be about the negation.
            if #(Self::isolate(until, accepts)) {} else { #unwanted }
        }
    }

    /// Handles a value that `until` rejected.
    fn retry_or_return(&self) -> Code {
        let kept = self.model.history;
        let interrupted = kept.map(|_| ours!(__retry::Attempt::interrupted(&mut retry_history);));
        ours! {
            #(self.decide(FailureSource::Until, interrupted, Code::new()))
            #(self.break_loop())
        }
    }

    /// Handles a value that `validate` rejects, without `correct`.
    fn check_validate(&self, validate: &Expr) -> Code {
        let kept = self.keep_invalid().map(|kept| {
            ours! {
                #kept
                __retry::Attempt::failed(&mut retry_history, retry_error);
            }
        });
        let ended = ours!(#(self.keep_invalid()) #(self.end_call()));
        ours! {
            #(self.call_validate(validate))
            if let __retry::Err(retry_error) = retry_checked {
                #(self.decide(FailureSource::Validation, kept, ended))
            }
        }
    }

    /// Binds the result of `validate` as `retry_checked`.
    fn call_validate(&self, validate: &Expr) -> Code {
        let checked = self.call_function(validate, "check", ours!(&retry_value), ours!(()));
        self.with_attempt(ours!(retry_checked), &checked)
    }

    /// Binds the value of `code`, which may use the attempt.
    fn with_attempt(&self, name: Code, code: &Code) -> Code {
        ours! {
            let #name = {
                #(self.attempt_binding())
                #[allow(clippy::let_and_return)]
                let #name = #code;
                #name
            };
        }
    }

    /// Keeps an invalid value in the history.
    fn keep_invalid(&self) -> Option<Code> {
        let kept = ours!(__retry::Attempt::keep_value(&mut retry_history, retry_value););
        self.model.history.map(|_| kept)
    }

    /// Checks a value with `validate` and repairs it with `correct`.
    fn correct_value(&self, validate: &Expr, correct: &Expr) -> Code {
        let stopped = |of: &Code| {
            let stop = ours!(__retry::Stop::of_correction(#of));
            self.report_stop(&stop, &self.error_text(), &self.ending())
        };
        let ended_invalid = ours!(#(self.keep_invalid()) #(self.end_call()));
        let reason = if_else(self.model.needs_reason(), ours!(retry_reason), ours!(_));
        let failed = ours!(__retry::Reason::CorrectionFailed);
        let arguments = ours!(retry_value, &retry_error);
        let corrected = self.call_function(correct, "correct", arguments, self.value());
        ours! {
            let mut retry_value = retry_value;
            loop {
                #(self.call_validate(validate))
                let __retry::Err(retry_error) = retry_checked else {
                    retry_outcome = __retry::Ok(retry_value);
                    #(self.report_ok())
                    break;
                };
                #(self.driven_decision(FailureSource::Validation))
                if let __retry::Err(#reason) = retry_decision { #ended_invalid }
                while retry_call.pauses() { #(self.wait()) }
                #(self.update_clock())
                if let __retry::Some(retry_reason) = retry_call.begin_correction() {
                    #(stopped(&ours!(retry_reason)))
                    #ended_invalid
                }
                #(self.with_attempt(ours!(retry_corrected), &corrected))
                #(self.update_clock())
                #?(self.model.history.is_some()) { __retry::Attempt::corrected(&mut retry_history, retry_error); }
                retry_value = match retry_corrected {
                    __retry::Ok(retry_value) => retry_value,
                    __retry::Err(retry_error) => {
                        #(stopped(&failed))
                        #?(self.model.needs_reason()) { let retry_reason = #failed; }
                        #(self.end_call())
                    }
                };
            }
        }
    }

    /// The result of the user's function, called through the runtime's function `caller`. In async code, it may be
    /// async.
    fn call_function(&self, function: &Expr, caller: &str, arguments: Code, value: Code) -> Code {
        let span = function.span();
        // With the type written out, so that a mismatch points at the function.
        let error = self.error();
        let is_async = match function {
            _ if !self.is_async => Some(false),
            Expr::Closure(closure) => Some(closure.asyncness.is_some()),
            _ => None,
        };
        let (contained, function) = (|code| Self::isolate(function, code), self.user_fn(function));
        let located = Span::mixed_site().located_at(span);
        let caller = |suffix: &str| Ident::new(&format!("{caller}{suffix}"), located);
        match is_async {
            Some(true) => {
                ours_at!(span=> __retry::#(caller("_async"))::<_, #error, _>(#arguments, #function).await)
            }
            Some(false) => contained(
                ours_at!(span=> __retry::#(caller(""))::<_, #error>(#arguments, #function)),
            ),
            None => {
                let outcome = ours_at!(span=> __retry::#(caller("_either"))(#arguments, #function));
                ours_at! {span=>
                    {
                        let retry_settled = #(contained(outcome));
                        let retry_via = __retry::kind(&retry_settled).__retry_via();
                        __retry::settle::<_, #value, #error, _>(retry_via, retry_settled).await
                    }
                }
            }
        }
    }
}
