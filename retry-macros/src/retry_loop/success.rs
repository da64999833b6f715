//! What follows an `Ok`.

use proc_macro2::{Span, TokenStream};
use quote::quote_spanned;
use syn::spanned::Spanned;

use super::RetryLoop;
use super::failure::Failed;

impl RetryLoop<'_> {
    /// After an `Ok(value)`.
    pub(super) fn accepted(&self, awaits: bool) -> TokenStream {
        let support = self.support();
        let mixed = Span::mixed_site();
        let accepted = match &self.model.validate {
            Some(validate) => self.validated(validate, awaits),
            None => self.success(),
        };
        let Some(until) = &self.model.until else {
            return accepted;
        };
        let until = self.user(until);
        let accepts = quote_spanned! {mixed.located_at(until.span())=>
            #support::accepts(&retry_value, #until)
        };
        let failed = self.failed(Failed::Until);
        let interrupted = self
            .model
            .keeps_history()
            .then(|| quote_spanned!(mixed=> #support::rejected(&mut retry_history);));
        quote_spanned! {mixed=>
            if #accepts {
                #accepted
            } else {
                #failed
                match retry_decision {
                    ::core::result::Result::Ok(retry_pause) => {
                        retry_call = retry_next;
                        #interrupted
                        retry_pause
                    }
                    ::core::result::Result::Err(_) => break ::core::result::Result::Ok(retry_value),
                }
            }
        }
    }

    /// Ends the call with the value.
    pub(super) fn success(&self) -> TokenStream {
        let support = self.support();
        let mixed = Span::mixed_site();
        let policy = self.policy();
        let name = self.name();
        let call = self.call();
        let report = match self.observer() {
            Some(observer) => quote_spanned! {mixed=>
                {
                    #observer
                    #support::#call::succeeded(
                        retry_call,
                        #policy,
                        #name,
                        ::core::option::Option::Some(&mut retry_observer),
                    );
                }
            },
            None => {
                let retried = if self.reads_retried_early() {
                    quote_spanned!(mixed=> retry_retried)
                } else {
                    self.is_retried()
                };
                quote_spanned! {mixed=>
                    if #retried {
                        #support::#call::succeeded(
                            retry_call,
                            #policy,
                            #name,
                            ::core::option::Option::None,
                        );
                    }
                }
            }
        };
        let label = self.label();
        quote_spanned! {mixed=>
            #report
            break #label ::core::result::Result::Ok(retry_value);
        }
    }

    /// Whether the call was retried is read before the outcome is taken apart, where nothing changes it after.
    pub(super) fn reads_retried_early(&self) -> bool {
        self.model.observe.is_none() && self.model.correct.is_none()
    }
}
