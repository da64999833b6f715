//! What looks at a value: the keys `until`, `validate` and `correct`.

use proc_macro2::{Ident, Span};
use retry_vocabulary::key::Key;
use syn::Expr;
use syn::spanned::Spanned;

use crate::expand::failure::FailureSource;
use crate::expand::printer::Printer;
use crate::target::function::Asyncness;
use crate::tokens::{Code, if_else, ours, ours_at, when};

impl Printer<'_> {
    /// Looks at `retry_outcome`: goes on to a retry, or on with the outcome to return.
    pub(crate) fn judged(&self) -> Code {
        let model = self.model;
        let keys = (
            model.expr(Key::Until),
            model.expr(Key::Validate),
            model.expr(Key::Correct),
        );
        let ok = match keys {
            // The outcome stays in its place until it is handed on: where it is moved or borrowed, the compiler copies a
            // large value once or twice more.
            (None, None, _) if model.resumes() => ours!(__retry::Ok(_) => { #(self.report()) }),
            (None, None, _) => ours!(__retry::Ok(_) => retry_call.ok(#(self.reporter())),),
            // Looked at where it is.
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
                        // The attempt is over, however long the value is looked at.
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
                __retry::Err(retry_error) => { #(self.rejected()) }
            }
        }
    }

    /// Asks `until` about the value, which it may not accept.
    pub(crate) fn wanted(&self, until: &Expr, value: Code, unwanted: Code) -> Code {
        let accepts = ours_at!(until.span()=> __retry::accepts(#value, #(self.user(until))));
        ours! {
            // Not negated, or the compiler would say of what is no `bool` that this can't be.
            if #(Self::contained(until, accepts)) {} else { #unwanted }
        }
    }

    /// What follows a value that `until` rejects.
    fn unwanted(&self) -> Code {
        let kept = self.model.history;
        let interrupted = kept.map(|_| ours!(__retry::Attempt::interrupted(&mut retry_history);));
        ours! {
            #(self.decided(FailureSource::Until, interrupted, Code::new()))
            #(self.leave())
        }
    }

    /// What follows a value that `validate` rejects, and nothing corrects.
    fn valid(&self, validate: &Expr) -> Code {
        let kept = self.kept_invalid().map(|kept| {
            ours! {
                #kept
                __retry::Attempt::failed(&mut retry_history, retry_error);
            }
        });
        let invalid = self.decided(FailureSource::Validation, kept, self.ended_invalid());
        ours! {
            #(self.check(validate))
            if let __retry::Err(retry_error) = retry_checked {
                #invalid
            }
        }
    }

    /// Binds what `validate` says of the value as `retry_checked`.
    fn check(&self, validate: &Expr) -> Code {
        let checked = self.settled(validate, "check", ours!(&retry_value), ours!(()));
        self.beside_attempt(ours!(retry_checked), &checked)
    }

    /// Binds the value of code that may use the attempt.
    fn beside_attempt(&self, name: Code, code: &Code) -> Code {
        ours! {
            let #name = {
                #(self.attempt_binding())
                #[allow(clippy::let_and_return)]
                let #name = #code;
                #name
            };
        }
    }

    /// The verdict on `retry_error`, with which `validate` rejected a value.
    pub(crate) fn complaint(&self) -> Code {
        if !self.model.asks_complaints() {
            return ours!(__retry::Verdict::INVALID);
        }
        ours!(__retry::complaint::<#(self.error())>(#(self.error_of_type())).__retry_verdict())
    }

    /// What an invalid value leaves in the history.
    fn kept_invalid(&self) -> Option<Code> {
        let kept = ours!(__retry::Attempt::keep_value(&mut retry_history, retry_value););
        self.model.history.map(|_| kept)
    }

    /// Ends the call with what `validate` said of a value.
    fn ended_invalid(&self) -> Code {
        ours! {
            #(self.kept_invalid())
            #(self.ended())
        }
    }

    /// What follows a value that `validate` is to check and `correct` to repair.
    fn corrected(&self, validate: &Expr, correct: &Expr) -> Code {
        let reason = |reason| when(self.model.tells_reason(), reason);
        let stopped = |of: &Code| {
            ours! {
                retry_call.correction_stopped(
                    #of,
                    #(self.shown()),
                    #(self.ending()),
                    #(self.reporter()),
                );
            }
        };
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
                if let __retry::Err(#(if_else(self.model.tells_reason(), ours!(retry_reason), ours!(_)))) = retry_decision {
                    #(self.ended_invalid())
                }
                while retry_call.pauses() { #(self.waiting()) }
                #(self.tick())
                if let __retry::Some(retry_reason) = retry_call.begin_correction() {
                    #(stopped(&ours!(retry_reason)))
                    #(self.ended_invalid())
                }
                #(self.beside_attempt(ours!(retry_corrected), &corrected))
                #(self.tick())
                #?(self.model.history.is_some()) {
                    __retry::Attempt::corrected(&mut retry_history, retry_error);
                }
                retry_value = match retry_corrected {
                    __retry::Ok(retry_value) => retry_value,
                    __retry::Err(retry_error) => {
                        #(stopped(&failed))
                        #(reason(ours!(let retry_reason = #failed;)))
                        #(self.ended())
                    }
                };
            }
        }
    }

    /// The outcome of the user's function, called by the runtime's `caller`. It may be async wherever there is something
    /// to await with.
    fn settled(&self, function: &Expr, caller: &str, arguments: Code, value: Code) -> Code {
        let span = function.span();
        // With a named type, so that a mismatch points at the function.
        let error = self.error();
        let is_async = match (self.asyncness, function) {
            (Asyncness::Blocking, _) => Some(false),
            (Asyncness::Async, Expr::Closure(closure)) => Some(closure.asyncness.is_some()),
            (Asyncness::Async, _) => None,
        };
        let (contained, function) = (|code| Self::contained(function, code), self.user(function));
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
