//! The members of the trait's impls, for the decorator and, with the key `forward`, for pointers such as `Box`.

use proc_macro2::{Group, Ident, Span, TokenStream};
use quote::{ToTokens, TokenStreamExt};
use retry_vocabulary::key::Key;
use syn::spanned::Spanned;
use syn::{Path, WherePredicate};

use crate::as_variant::as_variant;
use crate::attribute::argument::{Argument, Arguments, KeyValue};
use crate::attribute::check;
use crate::block::decorator::Decorator;
use crate::block::decorator::delegation::{
    Param, SelfKind, as_receiver, delegation_error, is_cfg, is_lone_self, parameters,
    replace_captured_self, returns_self, rewrap_client, self_ident,
};
use crate::block::members::{self, Method, Own};
use crate::errors::{Errors, error};
use crate::expand;
use crate::expand::model::{Callee, Model, Retained};
use crate::target::check::Placement;
use crate::target::function::{Body, Function};
use crate::target::outcome::{self, Delivery};
use crate::tokens::{Code, braces, code_at, ends_with, mentions, shown};

/// The members so far.
pub(super) struct Methods<'a> {
    pub(super) decorator: &'a Decorator<'a>,
    /// The members of the impl for the decorator.
    pub(super) members: TokenStream,
    /// The members of the impl for each pointer in the key `forward`.
    pub(super) pointers: Vec<(&'a Path, TokenStream)>,
    /// The bounds that a copy states for the original's types.
    pub(super) bounds: Vec<WherePredicate>,
    /// True if any method is retried.
    pub(super) is_retried: bool,
    /// True if a method's future or stream owns a clone of the client.
    pub(super) clones_client: bool,
    pub(super) errors: Errors,
}

impl<'a> Methods<'a> {
    pub(super) fn new(decorator: &'a Decorator<'a>) -> Self {
        let pointers = decorator.arguments.value(Key::Forward);
        let pointers = as_variant!(pointers, Some(KeyValue::Paths(paths)) => paths.as_slice());
        let pointers = pointers.unwrap_or_default().iter();
        Self {
            decorator,
            members: TokenStream::new(),
            pointers: pointers.map(|path| (path, TokenStream::new())).collect(),
            bounds: Vec::new(),
            is_retried: false,
            clones_client: false,
            errors: Errors::default(),
        }
    }

    /// Adds an associated type or const.
    pub(super) fn add_other(&mut self, tokens: TokenStream) {
        let item = match syn::parse2(tokens) {
            Ok(item) => item,
            Err(error) => return self.errors.push(error),
        };
        self.bounds.extend(self.decorator.copied_bounds(&item));
        let other = self.decorator.associated_item(&item, &mut self.errors);
        for (_, implemented) in &mut self.pointers {
            implemented.append_all(other.clone());
        }
        self.members.append_all(other);
    }

    /// Adds a method: retried, passed on, or with its default body. Returns true if it is retried.
    pub(super) fn add(&mut self, method: Method) -> bool {
        let Method {
            mut function,
            mut own,
        } = method;
        replace_captured_self(&mut function, self.decorator.client());
        self.add_to_pointers(&function);
        let arguments = as_variant!(&mut own, Own::Arguments(own) => own);
        let is_retried = match arguments.and_then(|own| own.take(Key::Body)) {
            Some(key) => self.add_with_body(function, &own, key),
            None => self.add_delegated(function, &own),
        };
        self.is_retried |= is_retried;
        is_retried
    }

    /// Adds a method to the impls for the pointers.
    pub(super) fn add_to_pointers(&mut self, function: &Function) {
        for (pointer, implemented) in &mut self.pointers {
            match (forward_obstacle(pointer, function), &function.body) {
                (None, _) => {
                    let mut function = function.clone();
                    function.attributes.retain(is_cfg);
                    let given = parameters(&mut function, &mut Errors::default());
                    let lent = as_receiver(&function, |this| {
                        let span = Span::call_site().located_at(this.span());
                        code_at!(span=> **#this)
                    });
                    let arguments = lent.into_iter().chain(given.iter().map(Param::argument));
                    let awaits = function.is_async();
                    let call = self.decorator.client_call(&function, arguments, awaits);
                    function.body = Body::Block(braces(call, Span::call_site()));
                    implemented.append_all(function.to_token_stream());
                }
                // The default body calls methods that are forwarded.
                (Some(_), Body::Block(_)) => {}
                (Some(why), Body::Missing(_)) => {
                    let (name, shown) = (&function.signature.ident, shown(pointer));
                    self.errors.push(error!(pointer.span() =>
                        "`{name}` {why}, so `{shown}` can't forward it: give `{name}` a default body, or remove `{shown}` here"));
                }
            }
        }
    }

    /// Adds a method whose body in the copy is retried.
    fn add_with_body(&mut self, function: Function, own: &Own, key: Argument) -> bool {
        let name = &function.signature.ident;
        let wrong = match &function.body {
            _ if !self.decorator.is_copy => Some(format!(
                "`body` can only be used in a copy of another crate's trait (`of = …`), and this trait is declared here: move the body of `{name}` into the client's `impl`"
            )),
            Body::Missing(_) => Some(format!(
                "`{name}` has no body to retry: write one that calls the client through `self.inner()`, or remove `body`"
            )),
            Body::Block(_) => None,
        };
        if let Some(wrong) = wrong {
            self.errors.at(key.ident.span(), wrong);
            return false;
        }
        if let Some(mut merged) = self.merge_own(own, &function, Placement::Block) {
            merged.given.push(key);
            self.add_expanded(function, own, merged, Callee::Body, Vec::new());
        }
        true
    }

    fn merge_own(&mut self, own: &Own, function: &Function, at: Placement) -> Option<Arguments> {
        let of_trait = self.decorator.arguments;
        members::merge_own(of_trait, own, function, at, &mut self.errors)
    }

    /// Adds a method that calls the client's method.
    fn add_delegated(&mut self, mut function: Function, own: &Own) -> bool {
        if let Own::Arguments(own) = own {
            check::check_arguments(own, &mut self.errors);
            check::check_bodiless(own, &mut self.errors);
        }
        if let Some((span, message)) = delegation_error(&function) {
            match function.body {
                Body::Missing(_) => self.errors.at(span, message),
                Body::Block(_) => self.add_default(&function, own),
            }
            return false;
        }
        if let (true, Body::Block(_)) = (self.decorator.is_copy, &function.body) {
            let name = &function.signature.ident;
            self.errors.push(error!(name.span() =>
                "the body of `{name}` would never run, because the client has its own: end the method with `;`, or mark it `#[retry(body)]` to retry this body instead"));
        }
        function.attributes.retain(is_cfg);
        let given = parameters(&mut function, &mut self.errors);
        // Gives the method a body, so that it is checked like a function. The body has the span of the user's code,
        // because an error about a method that the trait doesn't have spans the whole method.
        let end = match &function.body {
            Body::Block(block) => block.span(),
            Body::Missing(semicolon) => semicolon.span,
        };
        function.body = Body::Block(braces(Code::new(), end));
        if let Some(merged) = self.merge_own(own, &function, Placement::Decorator) {
            return self.add_retried(function, own, merged, &given);
        }
        let arguments = client_argument(&function, None).into_iter();
        let arguments = arguments.chain(given.iter().map(Param::argument));
        let call = self
            .decorator
            .client_call(&function, arguments, function.is_async());
        function.body = Body::Block(braces(rewrap_client(&function, call), end));
        function.to_tokens(&mut self.members);
        false
    }

    /// Keeps a method's default body, which calls methods that are passed on.
    fn add_default(&mut self, function: &Function, own: &Own) {
        let (name, is_copy) = (&function.signature.ident, self.decorator.is_copy);
        if let Own::Arguments(_) = own {
            let otherwise = if is_copy {
                ", or mark it `#[retry(body)]` to retry its body"
            } else {
                ""
            };
            self.errors.push(error!(name.span() =>
                "`{name}` keeps its default body, which is not retried itself, although the methods it calls are: remove its `#[retry]`{otherwise}"));
        } else if is_copy {
            function.to_tokens(&mut self.members);
        }
    }

    /// Adds a method that calls the client's method in each attempt.
    fn add_retried(
        &mut self,
        mut function: Function,
        own: &Own,
        merged: Arguments,
        given: &[Param],
    ) -> bool {
        let receiver = function.signature.receiver();
        if let Some(receiver) = receiver.filter(|it| SelfKind::of(it) == Some(SelfKind::Value)) {
            let name = &function.signature.ident;
            self.errors.push(error!(in receiver =>
                "a retried method can't take `self` by value, because the first attempt would consume it: take `&self`, or mark `{name}` `#[retry(skip)]`"));
            return false;
        }
        let kept = self.retained(&merged, &function, given);
        let (mut owned, mut arguments) = (Vec::new(), Vec::new());
        arguments.extend(client_argument(&function, kept.as_ref()));
        for given in given {
            let retained = given.retained().filter(|_| kept.is_some());
            if given.is_owned() && retained.is_none() {
                owned.push(given.name.clone());
            }
            arguments.push(retained.map_or_else(|| given.argument(), |(_, lent)| lent));
        }
        let awaits = function.is_future() || function.is_async();
        let call = self
            .decorator
            .client_call(&function, arguments.into_iter(), awaits);
        self.clones_client |= kept.is_some();
        let end = function.block().map_or_else(Span::call_site, Group::span);
        function.body = Body::Block(braces(call, end));
        self.add_expanded(function, own, merged, Callee::Client(kept), owned);
        true
    }

    /// Adds a method that is retried.
    fn add_expanded(
        &mut self,
        function: Function,
        own: &Own,
        merged: Arguments,
        attempts: Callee,
        cloned: Vec<Ident>,
    ) {
        let nothing = Arguments::default();
        let own = as_variant!(own, Own::Arguments(own) => own).unwrap_or(&nothing);
        let this = match &attempts {
            Callee::Client(Some(kept)) => Some(kept.this.clone()),
            _ => function.signature.receiver().map(self_ident),
        };
        let Decorator { arguments, .. } = self.decorator;
        let client = self.decorator.client().clone();
        let model = Model::new(merged, function);
        let model = model.for_decorator(arguments, own, this, client, attempts, cloned);
        self.members.append_all(expand::expand(&model));
    }

    /// The values that a `'static` future or stream must own to make attempts after the method has returned.
    fn retained(
        &mut self,
        arguments: &Arguments,
        function: &Function,
        given: &[Param],
    ) -> Option<Retained> {
        let returned = function.return_type().filter(|_| !function.is_async())?;
        let (outcome, delivery) = outcome::split(returned);
        let (kind, returned) = match (arguments.get(Key::Stream), delivery) {
            (Some(_), _) => ("stream", outcome::stream(outcome)?.stream),
            (None, Delivery::Direct) => return None,
            (None, Delivery::Future | Delivery::BoxedFuture) => ("future", returned),
        };
        let receiver = function.signature.receiver();
        let receiver = receiver.filter(|_| outcome::is_static(returned))?;
        let name = &function.signature.ident;
        if let Some(SelfKind::Mutable) = SelfKind::of(receiver) {
            self.errors.push(error!(returned.span() =>
                "this {kind} is `'static`, so its attempts use a clone of the client, which can't replace `&mut self`: mark `{name}` `#[retry(skip)]`"));
            return None;
        }
        let mut arguments = Code::new();
        for given in given {
            if given.has_lifetime() {
                self.errors.push(error!(given.name.span() =>
                    "the {kind} of `{name}` is `'static`, so it keeps a clone of each argument, and this one can't be cloned: take a `&T`, an `Option<&T>` or a type that borrows nothing, or mark `{name}` `#[retry(skip)]`"));
            }
            arguments.extend(given.retained().map(|(keep, _)| keep));
        }
        Some(Retained {
            decorator: self_ident(receiver),
            this: Ident::new("retry_this", Span::mixed_site()),
            arguments,
        })
    }
}

/// The wrapped client, borrowed like the receiver.
fn client_argument(function: &Function, kept: Option<&Retained>) -> Option<Code> {
    as_receiver(function, |this| {
        let span = Span::call_site().located_at(this.span());
        let this = kept.map_or(this, |kept| kept.this.clone());
        code_at!(span=> #this.client)
    })
}

/// The reason that a method can't be called through this pointer.
fn forward_obstacle(pointer: &Path, function: &Function) -> Option<&'static str> {
    let receiver = function.signature.receiver();
    if delegation_error(function).is_some() || returns_self(function) {
        return Some("names `Self`");
    }
    if requires_sized(function) {
        return Some("is `where Self: Sized`");
    }
    let is_shared = ends_with(pointer, &["Arc", "Rc"]);
    match receiver.and_then(SelfKind::of) {
        Some(SelfKind::Value) => Some("takes `self` by value"),
        Some(SelfKind::Mutable) if is_shared => Some("takes `&mut self`"),
        _ => None,
    }
}

/// True if the method requires `Self: Sized`.
fn requires_sized(function: &Function) -> bool {
    let bounds = function.signature.generics.where_clause.as_ref();
    let mut bounds = bounds.into_iter().flat_map(|bounds| &bounds.predicates);
    bounds.any(|bound| {
        matches!(bound, WherePredicate::Type(bound)
            if is_lone_self(&bound.bounded_ty) && mentions(bound.bounds.to_token_stream(), "Sized"))
    })
}
