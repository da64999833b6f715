//! What looks at a value: the keys `until`, `validate` and `correct`.

use proc_macro2::{Ident, Span, TokenStream};
use retry_vocabulary::key::Key;
use syn::Expr;
use syn::spanned::Spanned;

use crate::expand::failure::{Decided, Failed};
use crate::expand::printer::Printer;
use crate::target::function::Asyncness;
use crate::tokens::{ours, ours_at};

impl Printer<'_> {
    /// The arm for an `Ok`. A value that no key looks at stays where it is.
    pub(crate) fn accepted(&self) -> TokenStream {
        let (validate, until) = (self.model.expr(Key::Validate), self.model.expr(Key::Until));
        let (binding, value, accepted, ended) = match (validate, until) {
            (Some(validate), _) => (
                ours!(retry_value),
                ours!(&retry_value),
                self.validated(validate),
                ours!(retry_outcome = __retry::Ok(retry_value);),
            ),
            (None, Some(_)) => (
                ours!(ref retry_value),
                ours!(retry_value),
                self.report(),
                TokenStream::new(),
            ),
            (None, None) => (
                ours!(_),
                TokenStream::new(),
                self.report(),
                TokenStream::new(),
            ),
        };
        let Some(until) = until else {
            return ours!(__retry::Ok(#binding) => { #accepted });
        };
        let place = until.span();
        let until = self.user(until);
        let accepts = ours_at!(place=> __retry::accepts(#value, #until));
        let interrupted = self
            .model
            .history
            .map(|_| ours!(__retry::rejected(&mut retry_history);));
        let rejected = self.decided(Failed::Until, interrupted, ended);
        ours! {
            __retry::Ok(#binding) => {
                if #accepts {
                    #accepted
                } else {
                    #rejected
                }
            }
        }
    }

    /// After a value that `validate` is to check.
    fn validated(&self, validate: &Expr) -> TokenStream {
        let checked = self.settled(validate, "check", ours!(&retry_value), ours!(()));
        let binding = self.attempt_binding();
        let check = ours! {
            let retry_checked = {
                #binding
                #[allow(clippy::let_and_return)]
                let retry_checked = #checked;
                retry_checked
            };
        };
        let report = self.report();
        let success = ours! {
            retry_outcome = __retry::Ok(retry_value);
            #report
        };
        let kept = self
            .model
            .history
            .map(|_| ours!(__retry::invalid(&mut retry_history, retry_value);));
        let ended = self.ended();
        let ended = ours! {
            #kept
            #ended
        };
        let Some(correct) = self.model.expr(Key::Correct) else {
            let kept = self.model.history.map(|_| {
                ours! {
                    __retry::failed(&mut retry_history, retry_error);
                    #kept
                }
            });
            let decided = self.decided(Failed::Validation, kept, ended);
            return ours! {
                #check
                match retry_checked {
                    __retry::Ok(()) => { #success }
                    __retry::Err(retry_error) => { #decided }
                }
            };
        };
        let Decided {
            before,
            decision,
            retried,
            ..
        } = self.decision(Failed::Validation);
        let paused = self.paused();
        let reason = self.reason().unwrap_or_else(|| ours!(_));
        let given_up = self.without_cancel(ended.clone());
        let correction = self.correction(correct, &ended);
        ours! {
            let mut retry_value = retry_value;
            loop {
                #check
                let __retry::Err(retry_error) = retry_checked else {
                    #success
                    break;
                };
                #before
                let retry_pause = match #decision {
                    #retried => #paused,
                    __retry::Err(#reason) => {
                        #given_up
                        break;
                    }
                };
                #correction
            }
        }
    }

    /// Puts a repaired value in the place of the rejected one, after the pause.
    fn correction(&self, correct: &Expr, ended: &TokenStream) -> TokenStream {
        let pause = self.pause(self.late_correction(ended));
        let arguments = ours!(retry_value, &retry_error);
        let corrected = self.settled(correct, "correct", arguments, self.value());
        let binding = self.attempt_binding();
        let kept = self
            .model
            .history
            .map(|_| ours!(__retry::corrected(&mut retry_history, retry_error);));
        let failed = ours!(__retry::Reason::CorrectionFailed);
        let reported = self.reported(&ours!(Corrected), &failed);
        let ended = self.ended();
        ours! {
            #pause
            let retry_corrected = {
                #binding
                #[allow(clippy::let_and_return)]
                let retry_corrected = #corrected;
                retry_corrected
            };
            #kept
            retry_value = match retry_corrected {
                __retry::Ok(retry_value) => retry_value,
                __retry::Err(retry_error) => {
                    #reported
                    #ended
                    break;
                }
            };
        }
    }

    /// The outcome of the user's function, called by the runtime's `caller`. It may be async wherever there is something
    /// to await with.
    fn settled(
        &self,
        function: &Expr,
        caller: &str,
        arguments: TokenStream,
        value: TokenStream,
    ) -> TokenStream {
        let place = function.span();
        // With a named type, so that a mismatch points at the function.
        let error = self.error();
        let is_async = match function {
            Expr::Closure(closure) => Some(closure.asyncness.is_some()),
            _ => None,
        };
        let function = self.user(function);
        let named = |name: &str| Ident::new(name, Span::mixed_site().located_at(place));
        match (self.asyncness, is_async) {
            (Asyncness::Async, Some(true)) => {
                let caller = named(&format!("{caller}_async"));
                ours_at!(place=> __retry::#caller::<_, #error, _>(#arguments, #function).await)
            }
            (Asyncness::Async, None) => {
                let caller = named(&format!("{caller}_either"));
                let outcome = ours_at!(place=> __retry::#caller(#arguments, #function));
                ours_at! {place=>
                    {
                        let retry_settled = #outcome;
                        let retry_via = __retry::kind(&retry_settled).__retry_via();
                        __retry::settle::<_, #value, #error, _>(retry_via, retry_settled).await
                    }
                }
            }
            (Asyncness::Async, Some(false)) | (Asyncness::Blocking, _) => {
                let caller = named(caller);
                ours_at!(place=> __retry::#caller::<_, #error>(#arguments, #function))
            }
        }
    }
}
