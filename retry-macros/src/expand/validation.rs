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
    pub(crate) fn judged(&self) -> Code {
        let model = self.model;
        let keys = (
            model.expr(Key::Until),
            model.expr(Key::Validate),
            model.expr(Key::Correct),
        );
        let ok = match keys {
            // The outcome is neither moved nor borrowed, so that the compiler makes no more copies of a large value.
            (None, None, _) if model.resumes() => ours!(__retry::Ok(_) => { #(self.report()) }),
            (None, None, _) => ours!(__retry::Ok(_) => retry_call.ok(#(self.reporter())),),
            // Checked in place.
            (Some(until), None, _) => ours! {
                __retry::Ok(ref retry_value) => {
                    #(self.wanted(until, ours!(retry_value), self.unwanted()))
                    retry_call.ok(#(self.reporter()));
                }
            },
            (until, validate, correct) => {
                let again = ours!(retry_outcome = __retry::Ok(retry_value););
                let unwanted = ours!(#(again.clone()) #(self.unwanted()));
                let wanted = until.map(|until| self.wanted(until, ours!(&retry_value), unwanted));
                let accepted = match (validate, correct) {
                    (Some(validate), Some(correct)) => self.corrected(validate, correct),
                    _ => ours!(#again #(self.report())),
                };
                let checked = validate.filter(|_| correct.is_none());
                ours! {
                    __retry::Ok(retry_value) => {
                        #wanted
                        // The attempt has ended, no matter how long the check takes.
                        #(validate.map(|_| self.answered()))
                        #(checked.map(|validate| self.valid(validate)))
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
    pub(crate) fn wanted(&self, until: &Expr, value: Code, unwanted: Code) -> Code {
        let accepts = ours_at!(until.span()=> __retry::accepts(#value, #(self.function(until))));
        ours! {
            // Not negated, because for a type other than `bool` the compiler's error would be about the negation.
            if #(Self::contained(until, accepts)) {} else { #unwanted }
        }
    }

    /// Handles a value that `until` rejected.
    fn unwanted(&self) -> Code {
        let kept = self.model.history;
        let interrupted = kept.map(|_| ours!(__retry::Attempt::interrupted(&mut retry_history);));
        ours! {
            #(self.decided(FailureSource::Until, interrupted, Code::new()))
            #(self.leave())
        }
    }

    /// Handles a value that `validate` rejects, without `correct`.
    fn valid(&self, validate: &Expr) -> Code {
        let kept = self.kept_invalid().map(|kept| {
            ours! {
                #kept
                __retry::Attempt::failed(&mut retry_history, retry_error);
            }
        });
        let ended = ours!(#(self.kept_invalid()) #(self.ended()));
        ours! {
            #(self.check(validate))
            if let __retry::Err(retry_error) = retry_checked {
                #(self.decided(FailureSource::Validation, kept, ended))
            }
        }
    }

    /// Binds the result of `validate` as `retry_checked`.
    fn check(&self, validate: &Expr) -> Code {
        let checked = self.settled(validate, "check", ours!(&retry_value), ours!(()));
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
    fn kept_invalid(&self) -> Option<Code> {
        let kept = ours!(__retry::Attempt::keep_value(&mut retry_history, retry_value););
        self.model.history.map(|_| kept)
    }

    /// Checks a value with `validate` and repairs it with `correct`.
    fn corrected(&self, validate: &Expr, correct: &Expr) -> Code {
        let stopped = |of: &Code| {
            let stop = ours!(__retry::Stop::of_correction(#of));
            self.report_stop(&stop, &self.shown(), &self.ending())
        };
        let ended_invalid = ours!(#(self.kept_invalid()) #(self.ended()));
        let reason = if_else(self.model.needs_reason(), ours!(retry_reason), ours!(_));
        let failed = ours!(__retry::Reason::CorrectionFailed);
        let arguments = ours!(retry_value, &retry_error);
        let corrected = self.settled(correct, "correct", arguments, self.value());
        ours! {
            let mut retry_value = retry_value;
            loop {
                #(self.check(validate))
                let __retry::Err(retry_error) = retry_checked else {
                    retry_outcome = __retry::Ok(retry_value);
                    #(self.report())
                    break;
                };
                #(self.driven_decision(FailureSource::Validation))
                if let __retry::Err(#reason) = retry_decision { #ended_invalid }
                while retry_call.pauses() { #(self.waiting()) }
                #(self.tick())
                if let __retry::Some(retry_reason) = retry_call.begin_correction() {
                    #(stopped(&ours!(retry_reason)))
                    #ended_invalid
                }
                #(self.with_attempt(ours!(retry_corrected), &corrected))
                #(self.tick())
                #?(self.model.history.is_some()) { __retry::Attempt::corrected(&mut retry_history, retry_error); }
                retry_value = match retry_corrected {
                    __retry::Ok(retry_value) => retry_value,
                    __retry::Err(retry_error) => {
                        #(stopped(&failed))
                        #?(self.model.needs_reason()) { let retry_reason = #failed; }
                        #(self.ended())
                    }
                };
            }
        }
    }

    /// The result of the user's function, called through the runtime's function `caller`. In async code, it may be
    /// async.
    fn settled(&self, function: &Expr, caller: &str, arguments: Code, value: Code) -> Code {
        let span = function.span();
        // With the type written out, so that a mismatch points at the function.
        let error = self.error();
        let is_async = match function {
            _ if !self.is_async => Some(false),
            Expr::Closure(closure) => Some(closure.asyncness.is_some()),
            _ => None,
        };
        let (contained, function) = (
            |code| Self::contained(function, code),
            self.function(function),
        );
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
