//! The loop around the attempts, as code. Nothing is decided here but where the parts go.
//!
//! Locals are at `mixed_site`, so they don't leak into the user's code, and begin with `retry_`, since a constant
//! or static of that name in scope would make a pattern of them.

use proc_macro2::{Group, Ident, Span, TokenStream, TokenTree};
use quote::{ToTokens, TokenStreamExt, quote, quote_spanned};
use syn::Expr;
use syn::spanned::Spanned;

use crate::model::{self, Ending, Model};
use crate::tokens::locate;

/// The code of one attempt, by how its outcome is had.
pub(crate) enum Attempted {
    Async(Group),
    Blocking(Group),
    /// It returns a future, of that type where it must be named.
    Future(Group, Option<TokenStream>),
}

/// Generates the loop.
pub(crate) struct RetryLoop<'a> {
    pub(crate) model: &'a Model,
    /// What `self` is called where the attempt is made, where not `self`.
    pub(crate) this: Option<Ident>,
}

impl RetryLoop<'_> {
    /// The loop around attempts of that kind.
    pub(crate) fn around(&self, attempted: Attempted) -> TokenStream {
        let awaits = !matches!(attempted, Attempted::Blocking(_));
        self.repeat(self.attempt(attempted), awaits)
    }

    /// The loop around the code that binds `outcome`.
    pub(crate) fn repeat(&self, attempt: TokenStream, awaits: bool) -> TokenStream {
        let Model {
            krate,
            deadline,
            failing,
            stream,
            ..
        } = self.model;
        let support = self.support();
        let call = self.call();
        let mixed = Span::mixed_site();
        let deadline = deadline.as_ref().map(|deadline| {
            let deadline = self.user(deadline);
            quote_spanned!(mixed=> let retry_deadline = #deadline;)
        });
        let history = self.model.keeps_history();
        let errors = history.then(|| {
            let of_stream = stream.as_ref().and_then(|stream| stream.history(&support));
            let history = of_stream.unwrap_or_else(|| {
                quote_spanned!(mixed=> #support::history::<<#failing as #support::Outcome>::Error>())
            });
            quote_spanned!(mixed=> let mut retry_history = #history;)
        });
        let begin = history.then(|| {
            let policy = self.policy();
            quote_spanned!(mixed=> #support::begin(&mut retry_history, #support::limit(#policy));)
        });
        let starting = self.observer().map(|observer| {
            let name = self.name();
            quote_spanned! {mixed=>
                {
                    #observer
                    #support::starting(#name, #support::#call::attempt(&retry_call), &mut retry_observer);
                }
            }
        });
        let owned = self.model.owned.as_deref().unwrap_or_default();
        let slots = owned.iter().map(|argument| {
            let slot = model::slot(argument);
            quote_spanned!(mixed=> let mut #slot = ::core::option::Option::Some(#argument);)
        });
        let last = (!owned.is_empty()).then(|| {
            let policy = self.policy();
            quote_spanned!(mixed=> let retry_last = #support::#call::is_last(&retry_call, #policy);)
        });
        // Read before the outcome is taken apart, which lets the outcome of a first attempt stay in registers.
        let retried = self
            .model
            .observe
            .is_none()
            .then(|| quote_spanned!(mixed=> let retry_retried = #support::#call::is_retried(&retry_call);));
        let accepted = self.accepted();
        let rejected = self.rejected(awaits);
        let sleep = if awaits {
            let timer = self.user(&self.model.timer);
            quote_spanned!(mixed=> #krate::Timer::sleep(&#timer, retry_pause).await;)
        } else {
            quote_spanned!(mixed=> #support::sleep_blocking(retry_pause);)
        };
        quote_spanned! {mixed=>
            let mut retry_call = #support::#call::new();
            #deadline
            #errors
            #(#slots)*
            loop {
                // Ends the error's life before the pause, so that it need not be `Send`.
                let retry_pause = {
                    #begin
                    #starting
                    #last
                    #attempt
                    #retried
                    match retry_outcome {
                        ::core::result::Result::Ok(retry_value) => { #accepted }
                        ::core::result::Result::Err(retry_error) => { #rejected }
                    }
                };
                #sleep
            }
        }
    }

    /// Makes an attempt: binds `outcome`, and with a timeout `dropped`.
    fn attempt(&self, attempted: Attempted) -> TokenStream {
        let support = self.support();
        let outcome = &self.model.outcome;
        let mixed = Span::mixed_site();
        // A function that returns no `Result` is complained about here, at its return type.
        let checked = quote_spanned! {mixed.located_at(outcome.span())=>
            #support::into_result::<#outcome>
        };
        let is_blocking = matches!(attempted, Attempted::Blocking(_));
        let future = self.once(attempted);
        if is_blocking {
            return quote_spanned! {mixed=>
                #[allow(clippy::redundant_closure_call)]
                let retry_outcome = #checked(#future);
            };
        }
        let Some((timeout, timeout_span)) = &self.model.timeout else {
            return quote_spanned! {mixed=>
                #[allow(clippy::redundant_closure_call)]
                let retry_outcome = #checked(#future.await);
            };
        };
        let krate = &self.model.krate;
        let timeout = self.user(timeout);
        let timer = self.user(&self.model.timer);
        let from_timed_out = self.timed_out_conversion(*timeout_span);
        quote_spanned! {mixed=>
            let retry_timeout = #support::timeout(#timeout);
            let retry_finished = {
                #[allow(clippy::redundant_closure_call)]
                let retry_attempt = ::core::pin::pin!(#future);
                let retry_sleep = ::core::pin::pin!(#support::sleep_out(#timer, retry_timeout));
                #[allow(clippy::let_and_return)]
                let retry_finished = #support::race(retry_attempt, retry_sleep).await;
                retry_finished
            };
            let retry_dropped = ::core::option::Option::is_none(&retry_finished);
            let retry_outcome = match retry_finished {
                ::core::option::Option::Some(retry_outcome) => #checked(retry_outcome),
                ::core::option::Option::None => ::core::result::Result::Err(
                    #from_timed_out(#krate::TimedOut::new(
                        ::core::option::Option::unwrap_or_default(retry_timeout),
                    )),
                ),
            };
        }
    }

    /// The body, run once: its outcome, or a future of it.
    pub(crate) fn once(&self, attempted: Attempted) -> TokenStream {
        let outcome = &self.model.outcome;
        let mixed = Span::mixed_site();
        // What the body consumes is complained about at the function's name, beside its own use.
        let name = mixed.located_at(self.model.function.signature.ident.span());
        let binding = self
            .model
            .attempt
            .as_ref()
            .map(|name| quote_spanned!(mixed=> let #name = &retry_history;));
        match attempted {
            // A decorator's call has no `return` to contain, and a closure could not hand out what borrows `&mut self`.
            Attempted::Blocking(body) if self.model.owned.is_some() => body.into_token_stream(),
            Attempted::Blocking(body) => {
                let closure = quote_spanned!(name=> ||);
                quote_spanned!(mixed=> (#closure -> #outcome { #binding #body })())
            }
            Attempted::Async(body) => {
                let edge = self.return_edge();
                let coroutine = quote_spanned!(name=> async);
                quote_spanned!(mixed=> #coroutine { #edge #binding #body })
            }
            Attempted::Future(body, returned) => {
                let arrow = returned.map(|returned| quote!(-> #returned));
                let closure = quote_spanned!(name=> ||);
                quote_spanned!(mixed=> (#closure #arrow { #binding #body })())
            }
        }
    }

    /// The conversion of a timeout into the function's error.
    pub(crate) fn timed_out_conversion(&self, timeout: Span) -> TokenStream {
        let support = self.support_at(timeout);
        quote_spanned!(Span::mixed_site().located_at(timeout)=> #support::FromTimedOut::from_timed_out)
    }

    /// Tells the compiler the type of the block's outcome before it reads the block, so that coercions
    /// work and mismatches point at the user's code.
    fn return_edge(&self) -> TokenStream {
        let outcome = &self.model.outcome;
        let span = Span::mixed_site().located_at(outcome.span());
        quote_spanned! {span=>
            #[allow(
                unknown_lints,
                unreachable_code,
                clippy::diverging_sub_expression,
                clippy::empty_loop,
                clippy::let_unit_value,
                clippy::let_with_type_underscore,
                clippy::needless_return,
                clippy::unreachable
            )]
            if false {
                let retry_outcome: #outcome = loop {};
                return retry_outcome;
            }
        }
    }

    /// After an `Ok(value)`.
    fn accepted(&self) -> TokenStream {
        let support = self.support();
        let mixed = Span::mixed_site();
        let policy = self.policy();
        let name = self.name();
        let call = self.call();
        let success = match self.observer() {
            Some(observer) => quote_spanned! {mixed=>
                {
                    #observer
                    #support::succeeded(
                        #policy,
                        #name,
                        #support::#call::attempt(&retry_call),
                        ::core::option::Option::Some(&mut retry_observer),
                    );
                }
            },
            None => quote_spanned! {mixed=>
                if retry_retried {
                    #support::succeeded(
                        #policy,
                        #name,
                        #support::#call::attempt(&retry_call),
                        ::core::option::Option::None,
                    );
                }
            },
        };
        let success = quote_spanned! {mixed=>
            #success
            break ::core::result::Result::Ok(retry_value);
        };
        let Some(until) = &self.model.until else {
            return success;
        };
        let krate = &self.model.krate;
        let until = self.user(until);
        let accepts = quote_spanned! {mixed.located_at(until.span())=>
            #support::accepts(&retry_value, #until)
        };
        let failed = self.failed(
            quote_spanned!(mixed=> #krate::Verdict::TRANSIENT),
            quote_spanned!(mixed=> &#support::REJECTED_VALUE),
            false,
        );
        let interrupted = self
            .model
            .keeps_history()
            .then(|| quote_spanned!(mixed=> #support::rejected(&mut retry_history);));
        quote_spanned! {mixed=>
            if #accepts {
                #success
            }
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

    /// After an `Err(error)`.
    fn rejected(&self, awaits: bool) -> TokenStream {
        let support = self.support();
        let mixed = Span::mixed_site();
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
        let verdict = match self.model.timeout {
            Some(_) => quote_spanned!(mixed=> #support::of_attempt(#verdict, retry_dropped)),
            None => verdict,
        };
        let shown = quote_spanned!(mixed=> &(&&&#support::Show(&retry_error)).__retry_show());
        let failed = self.failed(verdict, shown, true);
        let kept = self
            .model
            .keeps_history()
            .then(|| quote_spanned!(mixed=> #support::failed(&mut retry_history, retry_error);));
        let progress = self
            .model
            .stream
            .as_ref()
            .and_then(|stream| stream.keep_progress(&support));
        let gave_up =
            quote_spanned!(mixed=> #support::gave_up(retry_history, retry_error, retry_reason));
        let (reason, ending) = match &self.model.ending {
            Ending::Error => (
                quote!(_),
                quote_spanned!(mixed=> ::core::result::Result::Err(retry_error)),
            ),
            Ending::GiveUp(give_up) => {
                let give_up = self.user(give_up);
                let support = self.support_at(give_up.span());
                let call = quote_spanned! {mixed.located_at(give_up.span())=>
                    #support::shape(#gave_up, #give_up)
                };
                (
                    quote_spanned!(mixed=> retry_reason),
                    quote_spanned!(mixed=> ::core::result::Result::Err(#call)),
                )
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
                (
                    quote_spanned!(mixed=> retry_reason),
                    quote_spanned! {mixed.located_at(fallback.span())=>
                        #support::#function(#gave_up, #fallback)#awaited
                    },
                )
            }
        };
        quote_spanned! {mixed=>
            #failed
            match retry_decision {
                ::core::result::Result::Ok(retry_pause) => {
                    retry_call = retry_next;
                    #progress
                    #kept
                    retry_pause
                }
                ::core::result::Result::Err(#reason) => break #ending,
            }
        }
    }

    /// Binds `decision`: the pause after a failure, or why there is none. `shown` is the failure for the log.
    fn failed(&self, verdict: TokenStream, shown: TokenStream, is_error: bool) -> TokenStream {
        let Model {
            deadline,
            idempotent,
            repeats,
            ..
        } = self.model;
        let support = self.support();
        let mixed = Span::mixed_site();
        let policy = self.policy();
        let name = self.name();
        let call = self.call();
        let mut options = TokenStream::new();
        if deadline.is_some() {
            options.append_all(quote_spanned!(mixed=> .deadline(retry_deadline)));
        }
        if let Some(idempotent) = idempotent {
            let idempotent = self.user(idempotent);
            options.append_all(quote_spanned!(mixed=> .idempotent(#idempotent)));
        }
        if let Some(repeats) = repeats.as_ref().filter(|_| is_error) {
            let repeats = self.user(repeats);
            let same = quote_spanned! {mixed.located_at(self.model.error_span)=>
                (&&&#support::Same(retry_one)).__retry_same(retry_other)
            };
            // An item in between ends the row.
            let stands = self
                .model
                .stream
                .as_ref()
                .and_then(|stream| stream.made_no_progress(&support));
            options.append_all(quote_spanned! {mixed=>
                .repeated(#stands #support::is_repeated(&retry_history, &retry_error, #repeats, |retry_one, retry_other| {
                    use #support::{SameDebug as _, SameDisplay as _, SameValue as _};
                    #same
                }))
            });
        }
        let observer = self.observer();
        if observer.is_some() {
            options.append_all(quote_spanned!(mixed=> .observe(&mut retry_observer)));
        }
        let traits = is_error.then(|| {
            quote_spanned! {mixed=>
                #[allow(unused_imports)]
                use #support::{ShowDebug as _, ShowDisplay as _, ShowName as _};
            }
        });
        // On a copy in a cold closure, so that the count and what is only used here stay out of the way of a call
        // that succeeds. Bound before the closure ends, so that no edition's rules keep a borrow of the error alive.
        quote_spanned! {mixed=>
            let mut retry_next = retry_call;
            let retry_decision = #support::cold(|| {
                #traits
                #observer
                #[allow(clippy::let_and_return)]
                let retry_decision = #support::#call::failed(
                    &mut retry_next,
                    #support::Failure::new(#policy, #verdict, #name, #shown)#options,
                );
                retry_decision
            });
        }
    }

    /// Binds `observer`, where the attribute names one.
    fn observer(&self) -> Option<TokenStream> {
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

    /// The type of the local `call`. Its functions are called by path: a trait of the user's may have
    /// methods of the same names for every type.
    fn call(&self) -> Ident {
        let name = if self.model.tracked {
            "TrackedCall"
        } else {
            "Call"
        };
        Ident::new(name, Span::mixed_site())
    }

    pub(crate) fn support(&self) -> TokenStream {
        let krate = &self.model.krate;
        quote!(#krate::macro_support)
    }

    /// The same, so that an error about a bound there points at `place`.
    pub(crate) fn support_at(&self, place: Span) -> TokenStream {
        if self.model.names_crate {
            // What the user wrote stays where it is.
            self.support()
        } else {
            locate(self.support(), place)
        }
    }

    fn policy(&self) -> TokenStream {
        self.user(&self.model.policy)
    }

    fn name(&self) -> TokenStream {
        self.user(&self.model.name)
    }

    /// The user's expression, with `self` called as it is where the expression goes.
    pub(crate) fn user(&self, expr: &impl ToTokens) -> TokenStream {
        match &self.this {
            Some(this) => rename_self(expr.to_token_stream(), this),
            None => expr.to_token_stream(),
        }
    }
}

fn rename_self(tokens: TokenStream, this: &Ident) -> TokenStream {
    let mut tokens = tokens.into_iter().peekable();
    let mut renamed = TokenStream::new();
    while let Some(token) = tokens.next() {
        renamed.append(match token {
            // In a path, `self` is the module.
            TokenTree::Ident(ident) if ident == "self" => {
                let in_path =
                    matches!(tokens.peek(), Some(TokenTree::Punct(next)) if next.as_char() == ':');
                let mut this = if in_path { ident.clone() } else { this.clone() };
                this.set_span(this.span().located_at(ident.span()));
                TokenTree::Ident(this)
            }
            TokenTree::Group(group) => {
                let mut inner = Group::new(group.delimiter(), rename_self(group.stream(), this));
                inner.set_span(group.span());
                TokenTree::Group(inner)
            }
            token => token,
        });
    }
    renamed
}
