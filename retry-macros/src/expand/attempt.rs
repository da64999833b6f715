//! A single attempt: runs the user's code once.

use proc_macro2::{Group, Ident, Span, TokenStream, TokenTree};
use quote::{ToTokens, format_ident};
use retry_vocabulary::key::Key;
use syn::spanned::Spanned;

use crate::attribute::argument::Argument;
use crate::expand::model::{Callee, Retained};
use crate::expand::printer::{Printer, rename_self};
use crate::target::outcome;
use crate::tokens::{Code, any, braces, code, if_else, ours, ours_at, with_content};

/// The code of one attempt, by the way it returns its outcome.
pub(crate) enum AttemptBody {
    Async(Group),
    Blocking(Group),
    /// Code that returns a future, with the future's type if it must be written.
    Future(Group, Option<Code>),
}

/// True if clippy might report this type as too complex. Its score grows with the number of names and their nesting.
fn may_be_complex(ty: TokenStream) -> bool {
    let mut names = 0;
    any(ty, &mut |_, from| {
        names += u32::from(matches!(from[0], TokenTree::Ident(_)));
        names > 5
    })
}

impl Printer<'_> {
    /// Makes one attempt, or several at once. Binds `retry_outcome` and, with a timeout, `retry_dropped`.
    pub(crate) fn attempt(&self, attempted: AttemptBody) -> Code {
        match self.model.arguments.get(Key::Hedge) {
            Some(hedge) => self.hedged_attempts(hedge, attempted),
            None => self.single_attempt(attempted),
        }
    }

    /// Makes one attempt.
    pub(crate) fn single_attempt(&self, attempted: AttemptBody) -> Code {
        let outcome = &self.model.outcome;
        let is_result = outcome::is_result(outcome);
        let typed = is_result.then(|| ours!(: #outcome));
        let is_complex = is_result && may_be_complex(outcome.to_token_stream());
        let complex = is_complex.then(|| ours!(#[allow(clippy::type_complexity)]));
        let checked = |finished: Code| {
            if is_result {
                return finished;
            }
            // If the function returns no `Result`, the error appears here, at its return type.
            let checked = ours_at!(outcome.span()=> __retry::into_result::<#outcome, _, _>);
            ours!(#checked(#finished))
        };
        let is_blocking = matches!(attempted, AttemptBody::Blocking(_));
        let once = self.hold_breaker(self.run_once(attempted));
        let timeout = self.model.attempt_timeout();
        let run = match timeout {
            None if is_blocking => checked(self.run_blocking(once)),
            None => checked(self.await_future(once)),
            Some(timeout) => {
                let is_alone = is_result && !self.has_context();
                let limit = self.model.arguments.get(Key::Timeout);
                let limit = limit.map(|timeout| self.limit_of(timeout));
                let checked = |once| ours!(async { #(checked(self.await_future(once))) });
                ours! {
                    __retry::in_time(
                        #(self.attempt_limit(limit)), #(self.timer()),
                        ::core::pin::pin!(#(if is_alone { once } else { checked(once) })), &mut retry_dropped,
                        // In a closure, because otherwise a missing conversion would cause two errors.
                        |retry_end| #(Self::timed_out_conversion(timeout))(retry_end),
                    ).await
                }
            }
        };
        ours! {
            #(self.attempt_span())
            #?(timeout.is_some()) { let mut retry_dropped = false; }
            #complex
            #?(is_blocking) { #[allow(clippy::redundant_closure_call)] }
            let mut retry_outcome #typed = #run;
        }
    }

    /// Code that runs the body once and evaluates to its outcome, or to a future of the outcome.
    pub(crate) fn run_once(&self, attempted: AttemptBody) -> Code {
        let once = self.body(attempted);
        if self.model.attempt().is_none() || !self.model.has(&[Key::Hedge]) {
            return once;
        }
        ours! {
            async { let retry_body = ::core::pin::pin!(#once); __retry::numbered(&retry_history, retry_body).await }
        }
    }

    fn body(&self, attempted: AttemptBody) -> Code {
        let outcome = &self.model.outcome;
        // If the body consumes an argument, the compiler points at that use and at the function's name.
        let name = self.model.function.signature.ident.span();
        // In a separate block, because otherwise the compiler would suggest the attempt's name in other keys.
        let bound = |body: Group| {
            let span = user_span(&body);
            let body = match self.self_clone() {
                Some(own) => with_content(&body, rename_self(body.stream(), &own)),
                None => body,
            };
            let content = match (self.attempt_binding(), self.clone_arguments()) {
                (None, None) => body.into_token_stream(),
                (attempt, clones) => ours!({ #attempt #clones #body }),
            };
            let content = code!(#(self.forbid_move()) #content);
            (content, span)
        };
        match (attempted, &self.model.callee) {
            // A decorator's call contains no `return`, and a closure couldn't return a value that borrows `&mut self`.
            (AttemptBody::Blocking(call), Callee::Client(_)) => bound(call).0,
            // The closure keeps `return` and `?` inside the attempt.
            (AttemptBody::Blocking(body), Callee::Body) => {
                let closure = ours_at!(name=> ||);
                let (body, span) = bound(body);
                let body = braces(code!(#(self.fix_type_by_on()) #body), span);
                let closure = ours!(#closure -> #outcome #body);
                match self.model.stream {
                    Some(_) => ours!(__retry::once(#closure)),
                    None => ours!((#closure)()),
                }
            }
            // An `async` block also keeps `return` and `?` inside, but Rust has no syntax for its output type.
            (AttemptBody::Async(body), _) => {
                let coroutine = ours_at!(name=> async);
                let (body, span) = bound(body);
                let body = braces(code!(#(self.fix_type()) #body), span);
                ours!(#coroutine #body)
            }
            (AttemptBody::Future(body, returned), _) => {
                let arrow = returned.map(|returned| code!(-> #returned));
                let closure = ours_at!(name=> ||);
                let (body, span) = bound(body);
                ours!(__retry::once(#closure #arrow #(braces(body, span))))
            }
        }
    }

    /// Fixes the type of the block's outcome before the block itself, so that coercions work and mismatches point at
    /// the user's code.
    fn fix_type(&self) -> Code {
        let outcome = &self.model.outcome;
        // With this location, a mismatch points at the return type.
        self.fix_type_by_on().unwrap_or_else(|| {
            ours_at! {outcome.span()=>
                if false { return __retry::never::<#outcome>(); }
            }
        })
    }

    /// Like [`Self::fix_type`] for a closure. Its return type is written out, so only an error type that `on`
    /// determines is missing.
    fn fix_type_by_on(&self) -> Option<Code> {
        let on = self.naming_on()?;
        let never = ours_at!(on.span()=> __retry::never_by(&#on));
        Some(ours! {
            if false { return #never; }
        })
    }

    /// The conversion of a timeout into the function's error.
    pub(crate) fn timed_out_conversion(timeout: &Argument) -> Code {
        ours_at!(timeout.ident.span()=> __retry::FromTimedOut::from_timed_out)
    }

    /// Stores the arguments, so that each attempt can take a clone and the last one the argument itself.
    pub(crate) fn owned_slots(&self) -> Code {
        let model = self.model;
        let stored = model.cloned.iter().filter(|_| model.moves_arguments());
        let slots = stored.map(
            |argument| ours!(let mut #(slot(argument)) = __retry::Some(#(self.user_expr(argument)));),
        );
        slots.collect()
    }

    /// Binds the clones that the attempt owns or, in the last attempt, the arguments themselves. If an argument is not
    /// `Clone`, the error points at its name.
    fn clone_arguments(&self) -> Option<Code> {
        if self.model.cloned.is_empty() {
            return None;
        }
        let clones = self.model.cloned.iter().map(|argument| {
            let span = argument.span();
            let own = self.self_clone().filter(|_| argument == "self");
            let own = own.map_or_else(|| self.user_expr(argument), ToTokens::into_token_stream);
            let clone = if self.model.moves_arguments() {
                let mut slot = slot(argument);
                slot.set_span(slot.span().located_at(span));
                ours_at!(span=> __retry::take_argument(&mut #slot, retry_last))
            } else {
                ours_at!(span=> __retry::CloneArgument::clone_argument(&#(self.user_expr(argument))))
            };
            // The body may modify its clone.
            ours!(#[allow(unused_mut)] let mut #own = #clone;)
        });
        Some(clones.collect())
    }

    /// Makes the compiler report a part of an argument that an attempt moves out.
    fn forbid_move(&self) -> Option<Code> {
        let part = self.model.moved_part.as_ref()?;
        Some(ours_at! {part.span()=>
            if false { __retry::left_in_place(&#part); }
        })
    }

    /// The name of the attempt's own clone of `self`, because no local variable can be called `self`.
    fn self_clone(&self) -> Option<Ident> {
        let is_cloned = self.model.cloned.iter().any(|argument| argument == "self");
        let needs_own = is_cloned && self.this.is_none();
        needs_own.then(|| Ident::new("retry_self", Span::mixed_site()))
    }

    /// The runtime's mode for values: validated, or taken as they are.
    pub(crate) fn value_mode(&self) -> Code {
        let is_validated = self.model.has(&[Key::Validate]);
        let values = if_else(is_validated, ours!(Validated), ours!(Taken));
        ours!(__retry::Values::#values)
    }

    /// Code that is true if no retry can follow.
    pub(crate) fn is_last(&self, policy: &Code) -> Option<Code> {
        let values = self.value_mode();
        let last = ours!(__retry::Call::is_last(&retry_call.call(), #policy, #values));
        self.model.moves_arguments().then_some(last)
    }
}

/// The body's span, with the hygiene of the user's first token. Coverage reports only count code in braces with the
/// user's hygiene.
fn user_span(body: &Group) -> Span {
    let first = body.stream().into_iter().next();
    let own = first.map_or(body.span(), |first| first.span());
    own.located_at(body.span())
}

/// Clones the values that a future or a stream still needs after the method has returned. If one can't be cloned, the
/// error points at the argument.
pub(crate) fn clone_retained(kept: &Retained) -> Code {
    ours! {
        let #(&kept.this) = __retry::CloneArgument::clone_argument(#(&kept.decorator));
        #(&kept.arguments)
    }
}

fn slot(argument: &Ident) -> Ident {
    format_ident!("retry_argument_{}", argument, span = Span::mixed_site())
}
