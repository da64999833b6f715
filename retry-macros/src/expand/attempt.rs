//! One attempt: the user's code, run once.

use proc_macro2::{Group, Ident, Span, TokenStream, TokenTree};
use quote::{ToTokens, format_ident};
use retry_vocabulary::key::Key;
use syn::spanned::Spanned;

use crate::attribute::argument::Argument;
use crate::expand::model::{Callee, Retained};
use crate::expand::printer::{Printer, rename_self};
use crate::target::outcome;
use crate::tokens::{Code, any, braces, code, if_else, ours, ours_at, when, with_content};

/// The code of one attempt, by how it delivers its outcome.
pub(crate) enum Attempted {
    Async(Group),
    Blocking(Group),
    /// Code that returns a future, with the future's type if that must be named.
    Future(Group, Option<Code>),
}

/// Whether clippy may count a type as too complex to be written a second time: it gives each name more points, the deeper
/// that stands.
fn may_be_complex(ty: TokenStream) -> bool {
    let mut names = 0;
    any(ty, &mut |_, from| {
        names += u32::from(matches!(from[0], TokenTree::Ident(_)));
        names > 5
    })
}

impl Printer<'_> {
    /// Makes an attempt, or several at once: binds `retry_outcome`, and with a timeout `retry_dropped`.
    pub(crate) fn attempt(&self, attempted: Attempted) -> Code {
        match self.model.arguments.get(Key::Hedge) {
            Some(hedge) => self.hedged(hedge, attempted),
            None => self.attempt_alone(attempted),
        }
    }

    /// Makes one attempt.
    pub(crate) fn attempt_alone(&self, attempted: Attempted) -> Code {
        let outcome = &self.model.outcome;
        let is_result = outcome::is_result(outcome);
        let typed = when(is_result, ours!(: #outcome));
        let is_complex = is_result && may_be_complex(outcome.to_token_stream());
        let complex = when(is_complex, ours!(#[allow(clippy::type_complexity)]));
        let checked = |finished: Code| {
            if is_result {
                return finished;
            }
            // If the function returns no `Result`, the error appears here, at its return type.
            let checked = ours_at!(outcome.span()=> __retry::into_result::<#outcome, _, _>);
            ours!(#checked(#finished))
        };
        let is_blocking = matches!(attempted, Attempted::Blocking(_));
        let span = self.attempt_span();
        let once = self.beside_breaker(self.once(attempted));
        let Some(timeout) = self.model.arguments.get(Key::Timeout) else {
            let run = if is_blocking {
                self.run(once)
            } else {
                self.awaited(once)
            };
            return ours! {
                #span
                #complex
                #?(is_blocking) { #[allow(clippy::redundant_closure_call)] }
                let mut retry_outcome #typed = #(checked(run));
            };
        };
        let once = if is_result && !self.is_surrounded() {
            once
        } else {
            ours!(async { #(checked(self.awaited(once))) })
        };
        ours! {
            #span
            let mut retry_dropped = false;
            #complex
            let mut retry_outcome #typed = __retry::in_time(
                #(self.attempt_limit(timeout)),
                #(self.timer()),
                ::core::pin::pin!(#once),
                &mut retry_dropped,
                // In a closure, or a missing conversion would be two errors.
                |retry_end| #(Self::timed_out_conversion(timeout))(retry_end),
            ).await;
        }
    }

    /// The body, run once: its outcome, or a future that yields it.
    pub(crate) fn once(&self, attempted: Attempted) -> Code {
        let once = self.body(attempted);
        if self.model.attempt().is_none() || !self.model.is_hedged() {
            return once;
        }
        ours! {
            async {
                let retry_body = ::core::pin::pin!(#once);
                __retry::numbered(&retry_history, retry_body).await
            }
        }
    }

    fn body(&self, attempted: Attempted) -> Code {
        let outcome = &self.model.outcome;
        // If the body consumes an argument, the compiler points at the function's name as well as at that use.
        let name = self.model.function.signature.ident.span();
        // In its own block, or the compiler would suggest it in other keys.
        let bound = |body: Group| {
            let span = users_own(&body);
            let body = match self.own_self() {
                Some(own) => with_content(&body, rename_self(body.stream(), &own)),
                None => body,
            };
            let content = match (self.attempt_binding(), self.own_clones()) {
                (None, None) => body.into_token_stream(),
                (attempt, clones) => ours!({ #attempt #clones #body }),
            };
            let content = code!(#(self.left_in_place()) #content);
            (content, span)
        };
        match (attempted, &self.model.attempts) {
            // A decorator's call has no `return` to contain, and a closure could not return anything that borrows
            // `&mut self`.
            (Attempted::Blocking(call), Callee::Client(_)) => bound(call).0,
            // A closure contains `return` and `?`.
            (Attempted::Blocking(body), Callee::Body) => {
                let closure = ours_at!(name=> ||);
                let (body, span) = bound(body);
                let body = braces(code!(#(self.return_edge_by_on()) #body), span);
                let closure = ours!(#closure -> #outcome #body);
                match self.model.stream {
                    Some(_) => ours!(__retry::once(#closure)),
                    None => ours!((#closure)()),
                }
            }
            // An `async` block does, too, but Rust has no syntax for its output type.
            (Attempted::Async(body), _) => {
                let coroutine = ours_at!(name=> async);
                let (body, span) = bound(body);
                let body = braces(code!(#(self.return_edge()) #body), span);
                ours!(#coroutine #body)
            }
            (Attempted::Future(body, returned), _) => {
                let arrow = returned.map(|returned| code!(-> #returned));
                let closure = ours_at!(name=> ||);
                let (body, span) = bound(body);
                ours!(__retry::once(#closure #arrow #(braces(body, span))))
            }
        }
    }

    /// Tells the compiler the type of the block's outcome before it reads the block, so that coercions
    /// work and mismatches point at the user's code.
    fn return_edge(&self) -> Code {
        let outcome = &self.model.outcome;
        // With this location, a mismatch points at the return type.
        self.return_edge_by_on().unwrap_or_else(|| {
            ours_at! {outcome.span()=>
                if false {
                    return __retry::never::<#outcome>();
                }
            }
        })
    }

    /// The return edge of a closure, whose type is written: that says all but an error that `on` names.
    fn return_edge_by_on(&self) -> Option<Code> {
        let never = self.never_by_on()?;
        Some(ours! {
            if false {
                return #never;
            }
        })
    }

    /// The conversion of a timeout into the function's error.
    pub(crate) fn timed_out_conversion(timeout: &Argument) -> Code {
        ours_at!(timeout.ident.span()=> __retry::FromTimedOut::from_timed_out)
    }

    /// Stores arguments so that every attempt can take a clone, and the last one the argument itself.
    pub(crate) fn owned_slots(&self) -> Code {
        let stored = self.model.cloned.iter().filter(|_| self.model.gives_away());
        let slots = stored.map(
            |argument| ours!(let mut #(slot(argument)) = __retry::Some(#(self.user(argument)));),
        );
        slots.collect()
    }

    /// Binds the clones that the attempt owns, or, if it is the last, the arguments themselves. If one is not `Clone`, the
    /// error points at its name.
    fn own_clones(&self) -> Option<Code> {
        if self.model.cloned.is_empty() {
            return None;
        }
        let clones = self.model.cloned.iter().map(|argument| {
            let span = argument.span();
            let own = match self.own_self().filter(|_| argument == "self") {
                Some(own) => own.into_token_stream(),
                None => self.user(argument),
            };
            let clone = if self.model.gives_away() {
                let mut slot = slot(argument);
                slot.set_span(slot.span().located_at(span));
                ours_at!(span=> __retry::take_argument(&mut #slot, retry_last))
            } else {
                ours_at!(span=> __retry::CloneArgument::clone_argument(&#(self.user(argument))))
            };
            // The body may change its own.
            ours!(#[allow(unused_mut)] let mut #own = #clone;)
        });
        Some(clones.collect())
    }

    /// Says at a part of an argument why no attempt may move it.
    fn left_in_place(&self) -> Option<Code> {
        let part = self.model.moved_part.as_ref()?;
        Some(ours_at! {part.span()=>
            if false {
                __retry::left_in_place(&#part);
            }
        })
    }

    /// What an attempt calls a `self` of its own, as no local can have that name.
    fn own_self(&self) -> Option<Ident> {
        let is_cloned = self.model.cloned.iter().any(|argument| argument == "self");
        let needs_own = is_cloned && self.this.is_none();
        needs_own.then(|| Ident::new("retry_self", Span::mixed_site()))
    }

    /// What is done with the values of attempts.
    pub(crate) fn values(&self) -> Code {
        let values = if_else(self.model.is_validated(), ours!(Validated), ours!(Taken));
        ours!(__retry::Values::#values)
    }

    /// Whether no retry can follow.
    pub(crate) fn is_last(&self, policy: &Code) -> Option<Code> {
        let values = self.values();
        let last = ours!(__retry::Call::is_last(&retry_call.call(), #policy, #values));
        self.model.gives_away().then_some(last)
    }
}

/// The body's span, with the hygiene of the user's first token: coverage reports count only what the braces of the
/// user's own code hold.
fn users_own(body: &Group) -> Span {
    let first = body.stream().into_iter().next();
    let own = first.map_or(body.span(), |first| first.span());
    own.located_at(body.span())
}

/// Clones what a future or a stream needs once the method returned. If that is impossible, the error points at the argument.
pub(crate) fn keep(kept: &Retained) -> Code {
    let decorator = &kept.decorator;
    let this = &kept.this;
    let arguments = kept.arguments.iter().map(|(argument, keep)| {
        let span = argument.span();
        let keep = Ident::new(keep, Span::mixed_site().located_at(span));
        let kept = ours_at!(span=> __retry::#keep(#argument));
        code!(let #argument = #kept;)
    });
    ours! {
        let #this = __retry::CloneArgument::clone_argument(#decorator);
        #(arguments.collect::<Code>())
    }
}

fn slot(argument: &Ident) -> Ident {
    format_ident!("retry_argument_{}", argument, span = Span::mixed_site())
}
