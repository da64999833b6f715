//! What follows an `Ok`.

use proc_macro2::{Span, TokenStream};
use quote::quote_spanned;
use syn::spanned::Spanned;

use super::RetryLoop;
use super::failure::Failed;

impl RetryLoop<'_> {
    /// The arm for an `Ok`. A value that nobody looks at stays where it is.
    pub(super) fn accepted(&self, awaits: bool) -> TokenStream {
        let mixed = Span::mixed_site();
        let (value, accepted, ended) = match &self.model.validate {
            Some(validate) => (
                quote_spanned!(mixed=> &retry_value),
                self.validated(validate, awaits),
                quote_spanned!(mixed=> retry_outcome = ::core::result::Result::Ok(retry_value);),
            ),
            None => (
                quote_spanned!(mixed=> retry_value),
                self.report(),
                TokenStream::new(),
            ),
        };
        let binding = match (&self.model.validate, &self.model.until) {
            (Some(_), _) => quote_spanned!(mixed=> retry_value),
            (None, Some(_)) => quote_spanned!(mixed=> ref retry_value),
            (None, None) => quote_spanned!(mixed=> _),
        };
        let Some(until) = &self.model.until else {
            return quote_spanned!(mixed=> ::core::result::Result::Ok(#binding) => { #accepted });
        };
        let support = self.support();
        let until = self.user(until);
        let accepts = quote_spanned! {mixed.located_at(until.span())=>
            #support::accepts(#value, #until)
        };
        let interrupted = self
            .model
            .keeps_history()
            .then(|| quote_spanned!(mixed=> #support::rejected(&mut retry_history);));
        let rejected = self.decided(
            Failed::Until,
            &quote_spanned! {mixed=>
                #interrupted
                break 'retry_pause retry_pause;
            },
            &ended,
        );
        quote_spanned! {mixed=>
            ::core::result::Result::Ok(#binding) => {
                if #accepts {
                    #accepted
                } else {
                    #rejected
                }
            }
        }
    }

    /// Tells whoever is to know of a success.
    pub(super) fn report(&self) -> TokenStream {
        let support = self.support();
        let mixed = Span::mixed_site();
        let (max, name) = (self.max(), self.name());
        let call = self.call();
        match self.observer() {
            Some(observer) => quote_spanned! {mixed=>
                {
                    #observer
                    #support::#call::succeeded(
                        retry_call,
                        #max,
                        #name,
                        &mut retry_observer,
                    );
                }
            },
            None => {
                let healed =
                    quote_spanned!(mixed=> #support::#call::healed(retry_call, #max, #name););
                if self.model.is_constant() {
                    return healed;
                }
                // Expressions are evaluated after failures only.
                quote_spanned! {mixed=>
                    if #support::#call::is_retried(&retry_call) {
                        #healed
                    }
                }
            }
        }
    }
}
