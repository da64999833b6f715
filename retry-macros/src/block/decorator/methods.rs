//! The methods of a decorator.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, TokenStreamExt};
use retry_vocabulary::key::Key;
use syn::spanned::Spanned;

use crate::attribute::argument::{Argument, Arguments};
use crate::attribute::check;
use crate::block::decorator::handed_on::{
    Given, Lent, capture, given, is_cfg, lent, stays_with_decorator, this_of, wrapped_again,
};
use crate::block::decorator::wrapped::Wrapped;
use crate::block::members::{self, Method, Own};
use crate::errors::{Errors, error};
use crate::expand;
use crate::expand::model::{Callee, Model, Retained};
use crate::target::check::Setting;
use crate::target::function::{Body, Function};
use crate::target::outcome::{self, Delivery};
use crate::tokens::{Code, braces, code_at};

/// The methods so far.
pub(super) struct Methods<'a> {
    /// The attribute of the trait.
    arguments: &'a Arguments,
    wrapped: &'a Wrapped<'a>,
    is_copy: bool,
    /// What implements the trait.
    pub(super) implemented: TokenStream,
    /// Whether any method is retried.
    pub(super) is_retried: bool,
    /// Whether a method's future or stream owns a clone of the client.
    pub(super) clones_client: bool,
}

impl<'a> Methods<'a> {
    pub(super) fn new(arguments: &'a Arguments, wrapped: &'a Wrapped<'a>, is_copy: bool) -> Self {
        Self {
            arguments,
            wrapped,
            is_copy,
            implemented: TokenStream::new(),
            is_retried: false,
            clones_client: false,
        }
    }

    /// Adds a method: retried, passed on, or left to its default body. Returns whether it is retried.
    pub(super) fn add(&mut self, method: Method, errors: &mut Errors) -> bool {
        let Method {
            mut function,
            mut own,
        } = method;
        capture(&mut function, self.wrapped.client);
        let has_body = match &mut own {
            Own::Arguments(own) => own.take(Key::Body),
            Own::Nothing | Own::Skip => None,
        };
        let is_retried = match has_body {
            Some(key) => self.own_body(function, &own, key, errors),
            None => self.handed_on(function, &own, errors),
        };
        self.is_retried |= is_retried;
        is_retried
    }

    /// A method whose body in the copy is retried.
    fn own_body(
        &mut self,
        function: Function,
        own: &Own,
        key: Argument,
        errors: &mut Errors,
    ) -> bool {
        let name = &function.signature.ident;
        let wrong = match &function.body {
            _ if !self.is_copy => Some(format!(
                "`body` goes on a method in a copy of another crate's trait (`of = …`), and this trait is declared here: put what `{name}` does into the client's `impl`"
            )),
            Body::Missing(_) => Some(format!(
                "`{name}` has no body to retry: write one, which reaches the client by `self.inner()`, or remove `body`"
            )),
            Body::Block(_) => None,
        };
        if let Some(wrong) = wrong {
            errors.at(key.ident.span(), wrong);
            return false;
        }
        let merged = members::merged(self.arguments, own, &function, Setting::Block, errors);
        if let Some(mut merged) = merged {
            merged.given.push(key);
            self.expand(function, own, merged, Callee::Body, Vec::new());
        }
        true
    }

    /// A method that calls the client's.
    fn handed_on(&mut self, mut function: Function, own: &Own, errors: &mut Errors) -> bool {
        if let Own::Arguments(own) = own {
            check::arguments(own, errors);
            check::without_body(own, errors);
        }
        let name = &function.signature.ident;
        if let Some((span, message)) = stays_with_decorator(&function) {
            // A default body is the decorator's own, and calls methods that are handed on.
            match (&function.body, own) {
                (Body::Missing(_), _) => errors.at(span, message),
                (Body::Block(_), Own::Arguments(_)) => {
                    let otherwise = if self.is_copy {
                        ", or have its body retried: `#[retry(body)]`"
                    } else {
                        ""
                    };
                    errors.push(error!(name.span() =>
                        "`{name}` keeps its default body, which is not retried, though the methods that it calls are: remove its `#[retry]`{otherwise}"));
                }
                (Body::Block(_), _) if self.is_copy => function.to_tokens(&mut self.implemented),
                (Body::Block(_), _) => {}
            }
            return false;
        }
        if let (true, Body::Block(_)) = (self.is_copy, &function.body) {
            errors.push(error!(name.span() =>
                "the body of `{name}` would never run, since the client has one of its own: end the method with `;`, or have this body retried in its place: `#[retry(body)]`"));
        }
        function.attributes.retain(is_cfg);
        let given = given(&mut function, errors);
        // From here on it has a body, and is checked as a function is. It ends where the user's does: a method that
        // the trait lacks is complained about from its first token to its last.
        let end = match &function.body {
            Body::Block(block) => block.span(),
            Body::Missing(semicolon) => semicolon.span,
        };
        let body = |content: Code| Body::Block(braces(content, end));
        function.body = body(Code::new());
        let merged = members::merged(self.arguments, own, &function, Setting::Decorator, errors);
        let Some(merged) = merged else {
            let lent = lent_client(&function, None);
            let mut arguments = given.iter().map(Given::handed_on);
            let awaits = function.is_async();
            let call = self.wrapped.call(&function, lent, &mut arguments, awaits);
            function.body = body(wrapped_again(&function, call));
            function.to_tokens(&mut self.implemented);
            return false;
        };
        let receiver = function.signature.receiver();
        if let (Some(Lent::Value), Some(receiver)) = (receiver.and_then(Lent::of), receiver) {
            let message = format!(
                "a retried method can't take `self` by value, since the first attempt would use it up: take `&self`, or mark `{}` `#[retry(skip)]`",
                function.signature.ident
            );
            errors.at(receiver.span(), message);
            return false;
        }
        let kept = kept(&merged, &function, &given, errors);
        let (mut owned, mut arguments) = (Vec::new(), Vec::new());
        for given in &given {
            let retained = given.kept().filter(|_| kept.is_some());
            if given.is_owned() && retained.is_none() {
                owned.push(given.name.clone());
            }
            arguments.push(retained.map_or_else(|| given.handed_on(), |(_, lent)| lent));
        }
        let lent = lent_client(&function, kept.as_ref().map(|kept| &kept.this));
        let awaits = function.is_future() || function.is_async();
        let mut arguments = arguments.into_iter();
        let call = self.wrapped.call(&function, lent, &mut arguments, awaits);
        self.clones_client |= kept.is_some();
        function.body = body(call);
        self.expand(function, own, merged, Callee::Client(kept), owned);
        true
    }

    /// Adds a method that is retried.
    fn expand(
        &mut self,
        function: Function,
        own: &Own,
        merged: Arguments,
        attempts: Callee,
        cloned: Vec<Ident>,
    ) {
        let nothing = Arguments::default();
        let own = match own {
            Own::Arguments(own) => own,
            Own::Nothing | Own::Skip => &nothing,
        };
        let this = match &attempts {
            Callee::Client(Some(kept)) => Some(kept.this.clone()),
            _ => function.signature.receiver().map(this_of),
        };
        let client = self.wrapped.client.clone();
        let model = Model::new(merged, function);
        let model = model.decorated(self.arguments, own, this, client, attempts, cloned);
        self.implemented.append_all(expand::expand(&model));
    }
}

/// The wrapped client in the form that a receiver needs.
fn lent_client(function: &Function, kept: Option<&Ident>) -> Option<Code> {
    lent(function, |this| {
        let span = Span::call_site().located_at(this.span());
        code_at!(span=> #(kept.unwrap_or(&this)).client)
    })
}

/// What a future or a stream must own that makes its attempts once the method returned, because its type borrows nothing.
fn kept(
    arguments: &Arguments,
    function: &Function,
    given: &[Given],
    errors: &mut Errors,
) -> Option<Retained> {
    let returned = function.return_type().filter(|_| !function.is_async())?;
    let (outcome, delivery) = outcome::of(returned);
    let (kind, span, is_static) = match (arguments.get(Key::Stream), delivery) {
        (Some(_), _) => {
            let streamed = outcome::stream(outcome)?;
            ("stream", streamed.stream.span(), streamed.is_static)
        }
        (None, Delivery::Direct) => return None,
        (None, Delivery::Future | Delivery::BoxedFuture) => {
            ("future", returned.span(), outcome::is_static(returned))
        }
    };
    let receiver = function.signature.receiver().filter(|_| is_static)?;
    let name = &function.signature.ident;
    if let Some(Lent::Mutable) = Lent::of(receiver) {
        errors.push(error!(span =>
            "this {kind} makes the attempts by a clone of the client, since it is `'static`, and a clone can't stand for `&mut self`: mark `{name}` `#[retry(skip)]`"));
        return None;
    }
    let mut arguments = Vec::new();
    for given in given {
        if given.is_tied() {
            errors.push(error!(given.name.span() =>
                "the {kind} of `{name}` makes the attempts by a clone of each argument, since it is `'static`, and this one can't be cloned into it: that takes a `&T`, an `Option<&T>` or a type that borrows nothing. Mark `{name}` `#[retry(skip)]`"));
        }
        arguments.extend(given.kept().map(|(keep, _)| (given.name.clone(), keep)));
    }
    Some(Retained {
        decorator: this_of(receiver),
        this: Ident::new("retry_this", Span::mixed_site()),
        arguments,
    })
}
