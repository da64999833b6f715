//! The key `breaker`: what lets attempts through.

use proc_macro2::TokenStream;
use retry_vocabulary::key::Key;
use syn::spanned::Spanned;

use crate::expand::model::Count;
use crate::expand::printer::Printer;
use crate::tokens::{ours, ours_at};

impl Printer<'_> {
    /// Asks the breaker for a pass, of type `Option<Permit<_>>`.
    fn permit(&self) -> Option<TokenStream> {
        let breaker = self.model.expr(Key::Breaker)?;
        let place = breaker.span();
        let breaker = self.user(breaker);
        Some(ours_at!(place=> __retry::permit(#breaker)))
    }

    /// The same for the first attempt.
    pub(crate) fn first_permit(&self) -> Option<TokenStream> {
        let permit = self.permit()?;
        Some(ours!(let mut retry_admitted = #permit;))
    }

    /// The same for the attempt after a pause. Says why the call ends, of type `Option<Reason>`.
    pub(crate) fn refused(&self) -> Option<TokenStream> {
        let permit = self.permit()?;
        Some(ours! {
            {
                retry_admitted = #permit;
                __retry::refused(&retry_admitted)
            }
        })
    }

    /// Binds the permit of the attempt that begins, which drops it where the attempt is dropped. Only the first can have
    /// none: after a pause, the call has ended without.
    pub(crate) fn admitted(&self) -> Option<TokenStream> {
        let breaker = self.model.arguments.get(Key::Breaker)?;
        let timer = self.timer_assignment();
        let error = self.error();
        let place = breaker.ident.span();
        let rejected = ours_at!(place=> __retry::FromRejected::from_rejected);
        let call = self.call_with_max();
        let reported = self.reported(&ours!(Taken), &ours!(__retry::Reason::Rejected));
        let outcome = self.outcome_of_failure();
        let leave = self.leave();
        let half_opened = self.turned(&ours!(half_opened), &ours!(&retry_permit));
        Some(ours! {
            let __retry::Some(mut retry_permit) = __retry::Option::take(&mut retry_admitted) else {
                #timer
                let retry_error: #error = #rejected(__retry::Rejected::new());
                #call
                #reported
                let retry_outcome = #outcome;
                #leave
            };
            #half_opened
        })
    }

    /// Has the call know the policy's `max`, which is otherwise known from the first failure.
    fn call_with_max(&self) -> Option<TokenStream> {
        let call = self.call();
        let under = match self.model.count {
            _ if self.model.shows_max() => return None,
            Count::Retries => return None,
            Count::LimitedRetries => ours!(#call::under),
            Count::Everything => ours!(__retry::call_under),
        };
        Some(self.with_policy(|policy| ours!(retry_call = #under(__retry::max(#policy));)))
    }

    /// Tells the breaker that the server answered, whatever other keys make of the value.
    pub(crate) fn answered(&self) -> Option<TokenStream> {
        self.model.arguments.get(Key::Breaker)?;
        Some(self.turned(&ours!(answered), &ours!(&mut retry_permit)))
    }

    /// Tells of the change of state that this function of the runtime's says the permit caused.
    fn turned(&self, changed: &TokenStream, permit: &TokenStream) -> TokenStream {
        let (call, name) = (self.whole_call(), self.name());
        let observer = self.observer();
        let observe = self.observe();
        ours! {
            if let __retry::Some(retry_turned) = __retry::#changed(#permit) {
                #observer
                __retry::turned(#call, #name, retry_turned, #observe);
            }
        }
    }
}
