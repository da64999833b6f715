//! The keys `validate` and `correct`.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, quote_spanned};
use syn::Expr;
use syn::spanned::Spanned;

use super::RetryLoop;
use super::failure::Failed;

impl RetryLoop<'_> {
    /// After a value that `validate` is to check.
    pub(super) fn validated(&self, validate: &Expr, awaits: bool) -> TokenStream {
        let mixed = Span::mixed_site();
        let support = self.support();
        let checked = Settled {
            function: validate,
            name: "check",
            arguments: quote_spanned!(mixed=> &retry_value),
            value: quote_spanned!(mixed=> ()),
        };
        let checked = self.settled(checked, awaits);
        let binding = self.attempt_binding();
        let check = quote_spanned! {mixed=>
            let retry_checked = {
                #binding
                #[allow(clippy::let_and_return)]
                let retry_checked = #checked;
                retry_checked
            };
        };
        let report = self.report();
        let success = quote_spanned! {mixed=>
            retry_outcome = ::core::result::Result::Ok(retry_value);
            #report
        };
        let kept = self
            .model
            .keeps_history()
            .then(|| quote_spanned!(mixed=> #support::invalid(&mut retry_history, retry_value);));
        let ended = self.ended(awaits);
        let ended = quote_spanned! {mixed=>
            #kept
            #ended
        };
        if let Some(correct) = &self.model.correct {
            let corrections = self.corrections(correct, awaits);
            let decided = self.decided(
                Failed::Validation,
                &quote_spanned!(mixed=> retry_pause),
                &quote_spanned! {mixed=>
                    #ended
                    break;
                },
            );
            return quote_spanned! {mixed=>
                let mut retry_value = retry_value;
                loop {
                    #check
                    let ::core::result::Result::Err(retry_error) = retry_checked else {
                        #success
                        break;
                    };
                    let retry_pause = #decided;
                    #corrections
                }
            };
        }
        let remembered = self
            .model
            .keeps_history()
            .then(|| quote_spanned!(mixed=> #support::failed(&mut retry_history, retry_error);));
        let decided = self.decided(
            Failed::Validation,
            &quote_spanned! {mixed=>
                #remembered
                #kept
                break 'retry_pause retry_pause;
            },
            &ended,
        );
        quote_spanned! {mixed=>
            #check
            match retry_checked {
                ::core::result::Result::Ok(()) => { #success }
                ::core::result::Result::Err(retry_error) => { #decided }
            }
        }
    }

    /// Puts a repaired value in the place of the rejected one, after the pause.
    fn corrections(&self, correct: &Expr, awaits: bool) -> TokenStream {
        let mixed = Span::mixed_site();
        let krate = &self.model.krate;
        let support = self.support();
        let pause = self.pause(awaits);
        let corrected = Settled {
            function: correct,
            name: "correct",
            arguments: quote_spanned!(mixed=> retry_value, &retry_error),
            value: self.value(),
        };
        let corrected = self.settled(corrected, awaits);
        let binding = self.attempt_binding();
        let remembered = self
            .model
            .keeps_history()
            .then(|| quote_spanned!(mixed=> #support::corrected(&mut retry_history, retry_error);));
        let (site, call) = (self.site(), self.call());
        let observer = self.observer();
        let observe = match observer {
            Some(_) => quote_spanned!(mixed=> ::core::option::Option::Some(&mut retry_observer)),
            None => quote_spanned!(mixed=> ::core::option::Option::None),
        };
        let ended = self.ended(awaits);
        let reason = self.reason();
        quote_spanned! {mixed=>
            #pause
            let retry_corrected = {
                #binding
                #[allow(clippy::let_and_return)]
                let retry_corrected = #corrected;
                retry_corrected
            };
            #remembered
            retry_value = match retry_corrected {
                ::core::result::Result::Ok(retry_value) => retry_value,
                ::core::result::Result::Err(retry_error) => {
                    {
                        #observer
                        #support::correction_failed(
                            #site,
                            #support::#call::attempt(&retry_call),
                            #support::show(&retry_error).__retry_show(),
                            #observe,
                        );
                    }
                    let #reason = #krate::Reason::CorrectionFailed;
                    #ended
                    break;
                }
            };
        }
    }

    /// The outcome of the user's function, which may be async wherever there is something to await with.
    fn settled(&self, called: Settled, awaits: bool) -> TokenStream {
        let Settled {
            function,
            name,
            arguments,
            value,
        } = called;
        let place = function.span();
        let span = Span::mixed_site().located_at(place);
        let support = self.support_at(place);
        // Named, so that what does not fit is complained about at the function.
        let error = self.error();
        let is_async = match function {
            Expr::Closure(closure) => Some(closure.asyncness.is_some()),
            _ => None,
        };
        let function = self.user(&function.to_token_stream());
        let named = |name: &str| Ident::new(name, span);
        match is_async.filter(|_| awaits) {
            Some(true) => {
                let name = named(&format!("{name}_async"));
                quote_spanned!(span=> #support::#name::<_, #error, _>(#arguments, #function).await)
            }
            None if awaits => {
                let name = named(&format!("{name}_either"));
                let outcome = quote_spanned!(span=> #support::#name(#arguments, #function));
                quote_spanned!(span=> #support::settle::<#value, #error, _, _>(#outcome).await)
            }
            _ => {
                let name = named(name);
                quote_spanned!(span=> #support::#name::<_, #error>(#arguments, #function))
            }
        }
    }
}

/// A call of a function that the user names.
struct Settled<'a> {
    function: &'a Expr,
    /// That of the runtime which calls it.
    name: &'static str,
    arguments: TokenStream,
    /// The type of the value that it returns.
    value: TokenStream,
}
