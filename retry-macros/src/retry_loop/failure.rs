//! What follows a failure.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{TokenStreamExt, quote, quote_spanned};
use syn::Expr;
use syn::spanned::Spanned;

use super::RetryLoop;
use crate::model::{Ending, Model};

/// What failed.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Failed {
    /// The body returned an error.
    Body,
    /// `until` rejected the value, which makes no error.
    Until,
    /// `validate` rejected the value with an error.
    Validation,
}

impl RetryLoop<'_> {
    /// After an `Err(error)`.
    pub(super) fn rejected(&self, awaits: bool) -> TokenStream {
        let support = self.support();
        let mixed = Span::mixed_site();
        let kept = self
            .model
            .keeps_history()
            .then(|| quote_spanned!(mixed=> #support::failed(&mut retry_history, retry_error);));
        let progress = self
            .model
            .stream
            .as_ref()
            .and_then(|stream| stream.keep_progress(support));
        self.decided(
            Failed::Body,
            &quote_spanned! {mixed=>
                #progress
                #kept
                break 'retry_pause retry_pause;
            },
            &self.ended(awaits),
        )
    }

    /// What follows the decision: `retried` before a pause, `ended` where there is none.
    pub(super) fn decided(
        &self,
        failed: Failed,
        retried: &TokenStream,
        ended: &TokenStream,
    ) -> TokenStream {
        let mixed = Span::mixed_site();
        let support = self.support();
        let decision = self.decision(failed);
        if self.is_plain(failed) {
            return quote_spanned! {mixed=>
                match #decision {
                    ::core::option::Option::Some(retry_pause) => {
                        retry_call = #support::Call::next(retry_call);
                        #retried
                    }
                    ::core::option::Option::None => {
                        #ended
                    }
                }
            };
        }
        let reason = match failed {
            Failed::Until => quote!(_),
            Failed::Body | Failed::Validation => self.reason(),
        };
        quote_spanned! {mixed=>
            match #decision {
                ::core::result::Result::Ok(retry_pause) => {
                    #retried
                }
                ::core::result::Result::Err(#reason) => {
                    #ended
                }
            }
        }
    }

    /// Whether there is no more to say of the failure, and nobody asks why the call ends.
    fn is_plain(&self, failed: Failed) -> bool {
        let is_simple = !self.model.tracked && self.options(failed).is_empty();
        is_simple && matches!(self.model.ending, Ending::Error)
    }

    /// What [`Self::ended`] calls the reason, where it needs it.
    pub(super) fn reason(&self) -> TokenStream {
        match self.model.ending {
            Ending::Error => quote!(_),
            Ending::GiveUp(_) | Ending::Fallback(_) => {
                quote_spanned!(Span::mixed_site()=> retry_reason)
            }
        }
    }

    /// Ends the call with `retry_error`, for `retry_reason` where the ending asks for it.
    pub(super) fn ended(&self, awaits: bool) -> TokenStream {
        let support = self.support();
        let mixed = Span::mixed_site();
        let gave_up =
            quote_spanned!(mixed=> #support::gave_up(retry_history, retry_error, retry_reason));
        let ending = match &self.model.ending {
            Ending::Error => quote_spanned!(mixed=> ::core::result::Result::Err(retry_error)),
            Ending::GiveUp(give_up) => {
                let give_up = self.user(give_up);
                let support = self.support_at(give_up.span());
                let call = quote_spanned! {mixed.located_at(give_up.span())=>
                    #support::shape(#gave_up, #give_up)
                };
                quote_spanned!(mixed=> ::core::result::Result::Err(#call))
            }
            Ending::Fallback(fallback) => {
                let fallback = self.user(fallback);
                let function = if awaits {
                    "fall_back"
                } else {
                    "fall_back_blocking"
                };
                let span = mixed.located_at(fallback.span());
                let support = self.support_at(span);
                let function = Ident::new(function, span);
                let awaited = awaits.then(|| quote_spanned!(span=> .await));
                // In a block, so that an outcome of the wrong type is not explained by an assignment that nobody wrote.
                quote_spanned! {mixed.located_at(fallback.span())=>
                    { #support::#function(#gave_up, #fallback)#awaited }
                }
            }
        };
        quote_spanned!(mixed=> retry_outcome = #ending;)
    }

    /// The pause after a failure, or why there is none: an `Option` of the former where the failure is plain.
    ///
    /// Found in a cold closure, so that what is only used here stays out of the way of a call that succeeds.
    fn decision(&self, failed: Failed) -> TokenStream {
        let support = self.support();
        let mixed = Span::mixed_site();
        let site = self.site();
        let call = self.call();
        let verdict = self.verdict(failed);
        let shown = if failed == Failed::Until {
            quote_spanned!(mixed=> &#support::REJECTED_VALUE)
        } else {
            quote_spanned!(mixed=> #support::show(&retry_error).__retry_show())
        };
        if self.is_plain(failed) {
            return quote_spanned! {mixed=>
                #support::cold(|| #support::Call::failed_plainly(retry_call, #site, #verdict, #shown))
            };
        }
        let options = self.options(failed);
        let observer = self.observer();
        let budget = self.model.budget.as_ref().map(|budget| {
            let span = mixed.located_at(budget.span());
            let support = self.support_at(span);
            let budget = self.user(budget);
            let paid = quote_spanned!(span=> #support::budget(#budget));
            quote_spanned!(mixed=> let mut retry_paid = #paid;)
        });
        let paid = budget.as_ref().map(|_| {
            quote_spanned! {mixed=>
                let retry_decision =
                    ::core::result::Result::map(retry_decision, |retry_pause| (retry_pause, retry_paid));
            }
        });
        // On a copy, so that the count stays out of the way, too. Bound before the closure ends, so that no edition's
        // rules keep a borrow of the error alive.
        quote_spanned! {mixed=>
            {
                let mut retry_next = retry_call;
                let retry_decision = #support::cold(|| {
                    #observer
                    #budget
                    #[allow(clippy::let_and_return)]
                    let retry_decision = #support::#call::failed(
                        &mut retry_next,
                        #support::Failure::new(#site, #verdict, #shown)#options,
                    );
                    #paid
                    retry_decision
                });
                retry_call = retry_next;
                retry_decision
            }
        }
    }

    fn verdict(&self, failed: Failed) -> TokenStream {
        let support = self.support();
        let mixed = Span::mixed_site();
        let krate = &self.model.krate;
        match failed {
            Failed::Until => return quote_spanned!(mixed=> #krate::Verdict::TRANSIENT),
            Failed::Validation => return quote_spanned!(mixed=> #krate::Verdict::INVALID),
            Failed::Body => {}
        }
        let verdict = match &self.model.on {
            Some(on) => {
                let on = self.user(on);
                let support = self.support_at(on.span());
                quote_spanned!(mixed.located_at(on.span())=> #support::verdict(&retry_error, #on))
            }
            None => {
                quote_spanned!(mixed.located_at(self.model.error_span)=> #support::classify(&retry_error))
            }
        };
        match self.model.timeout {
            Some(_) => quote_spanned!(mixed=> #support::of_attempt(#verdict, retry_dropped)),
            None => verdict,
        }
    }

    /// What the failure is told beyond its verdict, as far as keys ask for it.
    fn options(&self, failed: Failed) -> TokenStream {
        let Model {
            deadline,
            idempotent,
            repeats,
            budget,
            validate,
            correct,
            observe,
            owned,
            ..
        } = self.model;
        let support = self.support();
        let mixed = Span::mixed_site();
        let mut options = TokenStream::new();
        if deadline.is_some() {
            options.append_all(quote_spanned!(mixed=> .deadline(retry_deadline)));
        }
        if let Some(idempotent) = idempotent {
            let idempotent = self.user(idempotent);
            options.append_all(quote_spanned!(mixed=> .idempotent(#idempotent)));
        }
        if let Some(repeats) = repeats.as_ref().filter(|_| failed != Failed::Until) {
            let repeats = self.user(repeats);
            let same = quote_spanned! {mixed.located_at(self.model.error_span)=>
                (&&&#support::Same(retry_one)).__retry_same(retry_other)
            };
            // An item in between ends the row.
            let stands = self
                .model
                .stream
                .as_ref()
                .and_then(|stream| stream.made_no_progress(support));
            options.append_all(quote_spanned! {mixed=>
                .repeated(#stands #support::is_repeated(&retry_history, &retry_error, #repeats, |retry_one, retry_other| {
                    use #support::{SameDebug as _, SameDisplay as _, SameValue as _};
                    #same
                }))
            });
        }
        let is_corrected = failed == Failed::Validation && correct.is_some();
        // It took the arguments, also where the limit has grown since. A correction needs none.
        if owned.as_ref().is_some_and(|owned| !owned.is_empty()) && !is_corrected {
            options.append_all(quote_spanned!(mixed=> .last(retry_last)));
        }
        if budget.is_some() {
            options.append_all(quote_spanned! {mixed=>
                .budget(&mut |retry_kind| #support::Paid::withdraw(&mut retry_paid, retry_kind))
            });
        }
        if is_corrected {
            options.append_all(quote_spanned!(mixed=> .correctable()));
        } else if validate.is_some() {
            options.append_all(quote_spanned!(mixed=> .validates()));
        }
        if observe.is_some() {
            options.append_all(quote_spanned!(mixed=> .observe(&mut retry_observer)));
        }
        options
    }

    /// Binds `observer`, where the attribute names one.
    pub(super) fn observer(&self) -> Option<TokenStream> {
        let expr = self.model.observe.as_ref()?;
        let mixed = Span::mixed_site();
        let span = mixed.located_at(expr.span());
        let support = self.support_at(span);
        let is_closure = matches!(expr, Expr::Closure(_));
        let expr = self.user(expr);
        if is_closure {
            let observer = quote_spanned!(span=> #support::observe_fn(#expr));
            return Some(quote_spanned!(mixed=> let mut retry_observer = #observer;));
        }
        let krate = &self.model.krate;
        let observe = quote_spanned!(span=> #support::observe(&retry_observed, retry_event));
        Some(quote_spanned! {mixed=>
            let retry_observed = #expr;
            let mut retry_observer = |retry_event: &#krate::Event<'_>| #observe;
        })
    }
}
