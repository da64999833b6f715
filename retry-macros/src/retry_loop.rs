//! The loop around the attempts, as code. Nothing is decided here but where the parts go.
//!
//! Locals are at `mixed_site`, so they don't leak into the user's code, and begin with `retry_`, since a constant
//! or static of that name in scope would make a pattern of them.

mod failure;
mod success;
mod validation;

use proc_macro2::{Group, Ident, Span, TokenStream, TokenTree};
use quote::{ToTokens, TokenStreamExt, quote, quote_spanned};
use syn::spanned::Spanned;

use crate::model::{self, Model};
use crate::tokens::Path;

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
            deadline, stream, ..
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
            let of_stream = stream.as_ref().and_then(|stream| stream.history(support));
            let history = of_stream.unwrap_or_else(|| {
                let error = self.error();
                if self.model.validate.is_some() {
                    let value = self.value();
                    quote_spanned!(mixed=> #support::history_of::<#error, #value>())
                } else {
                    quote_spanned!(mixed=> #support::history::<#error>())
                }
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
            let validates = self.model.validate.is_some();
            quote_spanned!(mixed=> let retry_last = #support::#call::is_last(&retry_call, #policy, #validates);)
        });
        let accepted = self.accepted(awaits);
        let rejected = self.rejected(awaits);
        let pause = self.pause(awaits);
        quote_spanned! {mixed=>
            let mut retry_call = #support::#call::new();
            #deadline
            #errors
            #(#slots)*
            'retry_call: loop {
                // Ends the error's life before the pause, so that it need not be `Send`.
                let retry_pause = 'retry_pause: {
                    #begin
                    #starting
                    #last
                    #attempt
                    // Whatever ends the call leaves here, and a value by one way alone, so that a large one is copied once.
                    match retry_outcome {
                        #accepted
                        ::core::result::Result::Err(retry_error) => { #rejected }
                    }
                    break 'retry_call retry_outcome;
                };
                #pause
            }
        }
    }

    /// Waits before the next attempt or correction.
    fn pause(&self, awaits: bool) -> TokenStream {
        let support = self.support();
        let mixed = Span::mixed_site();
        let krate = &self.model.krate;
        let sleep = match self.named_timer() {
            _ if !awaits => quote_spanned!(mixed=> #support::sleep_blocking(retry_pause);),
            Some(timer) => {
                quote_spanned!(mixed=> #krate::Timer::sleep(&#timer, retry_pause).await;)
            }
            None => quote_spanned!(mixed=> #support::sleep(retry_pause, #support::Features).await;),
        };
        if self.model.budget.is_none() {
            return sleep;
        }
        // Dropped with the call during the pause, what was paid goes back.
        quote_spanned! {mixed=>
            let (retry_pause, retry_paid) = retry_pause;
            #sleep
            #support::Paid::spend(retry_paid);
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
                let mut retry_outcome = #checked(#future);
            };
        }
        let Some((timeout, timeout_span)) = &self.model.timeout else {
            return quote_spanned!(mixed=> let mut retry_outcome = #checked(#future.await););
        };
        let krate = &self.model.krate;
        let timeout = self.user(timeout);
        let timer = self.timer();
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
            let mut retry_outcome = match retry_finished {
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
        let binding = self.attempt_binding();
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
        // Located, so that a mismatch points at the return type.
        let support = self.support_at(outcome.span());
        quote_spanned! {span=>
            if false {
                return #support::never::<#outcome>();
            }
        }
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

    /// What the user calls the attempt.
    fn attempt_binding(&self) -> Option<TokenStream> {
        let name = self.model.attempt.as_ref()?;
        let mixed = Span::mixed_site();
        // The body, the validator and the corrector all may use it, but none must.
        let shared = self.model.validate.is_some();
        let allow = shared.then(|| quote_spanned!(mixed=> #[allow(unused_variables)]));
        Some(quote_spanned!(mixed=> #allow let #name = &retry_history;))
    }

    /// The function's error type.
    fn error(&self) -> TokenStream {
        let support = self.support();
        let failing = &self.model.failing;
        quote_spanned!(Span::mixed_site()=> <#failing as #support::Outcome>::Error)
    }

    /// The type of the function's value.
    fn value(&self) -> TokenStream {
        let support = self.support();
        let outcome = &self.model.outcome;
        quote_spanned!(Span::mixed_site()=> <#outcome as #support::Outcome>::Value)
    }

    pub(crate) fn support(&self) -> &Path {
        &self.model.support
    }

    /// The same, so that an error about a bound there points at `place`.
    pub(crate) fn support_at(&self, place: Span) -> Path {
        if self.model.names_crate {
            // What the user wrote stays where it is.
            self.model.support.clone()
        } else {
            self.model.support.located_at(place)
        }
    }

    fn named_timer(&self) -> Option<TokenStream> {
        let timer = self.model.timer.as_ref();
        timer.map(|timer| self.user(timer))
    }

    /// The timer that the user named, or that of the runtime's features.
    pub(crate) fn timer(&self) -> TokenStream {
        let support = self.support();
        self.named_timer()
            .unwrap_or_else(|| quote!(#support::default_timer::<#support::Features>()))
    }

    /// What the runtime is told of the function, of type `&Site`.
    fn site(&self) -> TokenStream {
        let support = self.support();
        let (policy, name) = (self.policy(), self.name());
        let site = quote_spanned!(Span::mixed_site()=> &#support::Site::new(#policy, #name));
        if self.model.is_constant() {
            quote!(const { #site })
        } else {
            site
        }
    }

    /// The policy, of type `&Policy`.
    fn policy(&self) -> TokenStream {
        let policy = self.user(&self.model.policy);
        if self.model.is_constant() {
            quote!(const { &#policy })
        } else {
            quote!(&#policy)
        }
    }

    /// The policy's `max`, of type `u32`.
    fn max(&self) -> TokenStream {
        if let Some(max) = &self.model.known_max {
            return max.clone();
        }
        let support = self.support();
        let policy = self.policy();
        quote_spanned!(Span::mixed_site()=> #support::max(#policy))
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
