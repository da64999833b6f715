//! What looks at a value: the keys `until`, `validate` and `correct`.

use proc_macro2::{Ident, Span};
use retry_vocabulary::key::Key;
use syn::Expr;
use syn::spanned::Spanned;

use crate::expand::failure::{Decided, FailureSource};
use crate::expand::printer::Printer;
use crate::target::function::Asyncness;
use crate::tokens::{Code, ours, ours_at};

impl Printer<'_> {
    /// Looks at `retry_outcome`: leaves with the pause before a retry, or goes on with the outcome to return.
    pub(crate) fn judged(&self) -> Code {
        if self.model.rejects_values() {
            return self.gathered();
        }
        let keys = (
            self.model.expr(Key::Validate),
            self.model.expr(Key::Correct),
        );
        let (value, accepted) = match keys {
            (Some(validate), Some(correct)) => {
                (ours!(retry_value), self.corrected(validate, correct))
            }
            _ => (ours!(_), self.report()),
        };
        ours! {
            // The outcome stays in its place until it is handed on, by one way out alone: with two, or where it is
            // borrowed, the compiler copies a large value once or twice more.
            match retry_outcome {
                __retry::Ok(#value) => { #?(!self.model.resumes()) { #(self.answered()) } #accepted }
                __retry::Err(retry_error) => { #(self.rejected()) }
            }
        }
    }

    /// Looks at `retry_outcome` where a value may be a failure, too. Failures share what they leave to the pause, which is
    /// bound between finding one and deciding about it.
    fn gathered(&self) -> Code {
        let (until, validate) = (self.model.expr(Key::Until), self.model.expr(Key::Validate));
        let correct = self.model.expr(Key::Correct);
        let checked = validate.filter(|_| correct.is_none());
        let (by_until, by_check) = match (until, checked) {
            (Some(_), Some(_)) => (
                ours!((retry_value, __retry::None)),
                ours!((retry_value, __retry::Some(retry_error))),
            ),
            _ => (ours!(retry_value), ours!((retry_value, retry_error))),
        };
        let again = ours!(retry_outcome = __retry::Ok(retry_value););
        let wanted = until.map(|until| {
            ours! {
                // Not negated, or the compiler would say of what is no `bool` that this can't be.
                if #(self.accepts(until)) {} else {
                    break 'retry_judged __retry::Ok(#by_until);
                }
            }
        });
        let valid = checked.map(|validate| {
            ours! {
                #(self.check(validate))
                if let __retry::Err(retry_error) = retry_checked {
                    break 'retry_judged __retry::Ok(#by_check);
                }
            }
        });
        let accepted = match (validate, correct) {
            (Some(validate), Some(correct)) => self.corrected(validate, correct),
            _ => ours!(#again #(self.report())),
        };
        let unwanted = self.unwanted();
        let unwanted = until.map(|_| ours!(__retry::Ok(#by_until) => { #again #unwanted }));
        let invalid = checked.map(|_| ours!(__retry::Ok(#by_check) => { #(self.invalid()) }));
        ours! {
            let retry_failure = 'retry_judged: {
                match retry_outcome {
                    __retry::Ok(retry_value) => {
                        #(self.answered())
                        #wanted
                        #valid
                        #accepted
                    }
                    __retry::Err(retry_error) => {
                        break 'retry_judged __retry::Err(retry_error);
                    }
                }
                #(self.leave())
            };
            #(self.timer_assignment())
            #(self.cancel())
            match retry_failure {
                #unwanted
                #invalid
                __retry::Err(retry_error) => { #(self.rejected()) }
            }
        }
    }

    /// Whether `until` accepts the value.
    fn accepts(&self, until: &Expr) -> Code {
        let accepts = ours_at!(until.span()=> __retry::accepts(&retry_value, #(self.user(until))));
        Self::contained(until, accepts)
    }

    /// What follows a value that `until` rejected, and that is the outcome again.
    fn unwanted(&self) -> Code {
        let kept = self.model.history;
        let interrupted = kept.map(|_| ours!(__retry::Attempt::interrupted(&mut retry_history);));
        self.decided(FailureSource::Until, interrupted, Code::new())
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

    /// What follows a value that `validate` rejected, and nothing corrects.
    fn invalid(&self) -> Code {
        let kept = self.kept_invalid().map(|kept| {
            ours! {
                #kept
                __retry::Attempt::failed(&mut retry_history, retry_error);
            }
        });
        self.decided(FailureSource::Validation, kept, self.ended_invalid())
    }

    /// What follows a value that `validate` is to check and `correct` to repair.
    fn corrected(&self, validate: &Expr, correct: &Expr) -> Code {
        let Decided {
            before,
            decision,
            retried,
            ..
        } = self.decision(FailureSource::Validation);
        let ended = self.ended_invalid();
        let reason = self.reason().unwrap_or_else(|| ours!(_));
        ours! {
            let mut retry_value = retry_value;
            loop {
                #(self.check(validate))
                let __retry::Err(retry_error) = retry_checked else {
                    retry_outcome = __retry::Ok(retry_value);
                    #(self.report())
                    break;
                };
                #before
                let retry_pause = match #decision {
                    #retried => #(self.paused()),
                    __retry::Err(#reason) => {
                        #(self.without_cancel(ended.clone()))
                        break;
                    }
                };
                #(self.correction(correct, &ended))
            }
        }
    }

    /// Puts a repaired value in the place of the rejected one, after the pause.
    fn correction(&self, correct: &Expr, ended: &Code) -> Code {
        let spend = ours!(__retry::Paid::spend(retry_paid););
        let pause = self.pause([None, None], self.late_correction(ended), &spend);
        let arguments = ours!(retry_value, &retry_error);
        let corrected = self.settled(correct, "correct", arguments, self.value());
        let failed = ours!(__retry::Reason::CorrectionFailed);
        ours! {
            #pause
            #(self.beside_attempt(ours!(retry_corrected), &corrected))
            #?(self.model.history.is_some()) {
                __retry::Attempt::corrected(&mut retry_history, retry_error);
            }
            retry_value = match retry_corrected {
                __retry::Ok(retry_value) => retry_value,
                __retry::Err(retry_error) => {
                    #(self.reported(&self.shown(), &ours!(Corrected), &failed))
                    #(self.ended())
                    break;
                }
            };
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
