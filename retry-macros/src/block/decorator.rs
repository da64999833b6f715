//! `#[retry(wrapper = Retrying, …)]` on a trait: a type that implements the trait by retrying what it wraps.

mod forward;

use proc_macro2::{Delimiter, Group, Ident, Span, TokenStream};
use quote::{ToTokens, TokenStreamExt, quote, quote_spanned};
use retry_vocabulary::key::Key;
use syn::punctuated::Punctuated;
use syn::spanned::Spanned;
use syn::{
    Attribute, GenericParam, Generics, ItemTrait, ReceiverKind, Token, TraitItem, TypeParamBound,
    Visibility, WherePredicate, parse_quote,
};

use self::forward::{given, is_cfg, lend, stays_with_decorator, wrapped_again};
use crate::attribute::argument::{Arguments, Value};
use crate::attribute::check;
use crate::block::members::{self, Braced, Member, Method, Own};
use crate::errors::Errors;
use crate::expand;
use crate::expand::model::{self, Model};
use crate::target;
use crate::target::function::{Body, Function};
use crate::tokens::{RuntimePath, mentions};

/// A trait. Only the signatures of its methods are parsed.
pub(crate) struct Decorator {
    attributes: Vec<Attribute>,
    visibility: Visibility,
    unsafety: Option<Token![unsafe]>,
    ident: Ident,
    generics: Generics,
    supertraits: Punctuated<TypeParamBound, Token![+]>,
    /// As written.
    item: Braced,
    /// The type parameter for what is wrapped: a name that the trait does not use.
    client: Ident,
}

impl Decorator {
    pub(crate) fn parse(item: Braced) -> syn::Result<Self> {
        let ItemTrait {
            attrs,
            vis,
            unsafety,
            ident,
            generics,
            supertraits,
            ..
        } = syn::parse2(item.with(TokenStream::new()))?;
        let names = ["C", "Client", "Inner", "Wrapped"];
        let free = names.iter().find(|name| {
            !mentions(item.header.clone(), name) && !mentions(item.braces.stream(), name)
        });
        Ok(Self {
            attributes: attrs,
            visibility: vis,
            unsafety,
            ident,
            generics,
            supertraits,
            item,
            client: Ident::new(free.unwrap_or(&"RetryClient"), Span::call_site()),
        })
    }

    /// The trait, unless it is another crate's, and its decorator.
    pub(crate) fn expand(self, arguments: &Arguments) -> syn::Result<TokenStream> {
        let members = members::parse(self.item.braces.stream())?;
        let sendable = self.hands_out_send_futures(&members);
        let mut errors = Errors::default();
        check::arguments(arguments, &mut errors);
        check::on_trait(arguments, &self.ident, &mut errors);
        let of = match arguments.value(Key::Of) {
            Some(Value::Path(path)) => Some(path.clone()),
            _ => None,
        };
        let mut declared = TokenStream::new();
        let mut implemented = TokenStream::new();
        // What the copy says about the original's types. Without a copy, the compiler knows.
        let mut bounds = Vec::new();
        let path = of.clone().unwrap_or_else(|| self.ident.to_token_stream());
        let mut is_retried = false;
        for member in members {
            match member {
                Member::Other(tokens) => {
                    declared.append_all(tokens.clone());
                    match syn::parse2(tokens) {
                        Ok(item) => {
                            if of.is_some() {
                                bounds.extend(self.bound(&item, &path));
                            }
                            self.other(&item, &path, &mut implemented, &mut errors);
                        }
                        Err(error) => errors.push(error),
                    }
                }
                Member::Function(method) => {
                    let plain = method.function.to_token_stream();
                    // The decorator retries what its default body does.
                    let marked = method.function.marked(&model::krate(arguments));
                    if self.method(arguments, *method, &path, &mut implemented, &mut errors) {
                        is_retried = true;
                        declared.append_all(marked);
                    } else {
                        declared.append_all(plain);
                    }
                }
            }
        }
        if !is_retried {
            target::check::nothing_is_retried(&mut errors);
        }
        let declared = of.is_none().then(|| self.item.with(declared));
        if let Some(errors) = errors.into_compile_error() {
            return Ok(quote!(#declared #errors));
        }
        let decorator = self.decorator(arguments, &path, sendable, bounds, &implemented);
        Ok(quote!(#declared #decorator))
    }

    /// The type, its constructors, and the trait implemented for it.
    fn decorator(
        &self,
        arguments: &Arguments,
        path: &TokenStream,
        sendable: bool,
        of_types: Vec<WherePredicate>,
        members: &TokenStream,
    ) -> TokenStream {
        let Self {
            visibility,
            unsafety,
            generics,
            supertraits,
            client,
            ..
        } = self;
        let Some(Value::Name(name)) = arguments.value(Key::Wrapper) else {
            return TokenStream::new();
        };
        let krate = model::krate(arguments);
        let of = path.to_string().replace(' ', "");
        let constructors = self.constructors(name, &krate, path, &of);
        let about = format!(
            "A [`{of}`] whose calls survive transient failure: every method that can fail is retried, by calling the client that it wraps.\n\nGenerated by `#[retry(wrapper = {name}, …)]`."
        );
        let async_trait = self.async_trait();
        let mut impl_generics = generics.clone();
        let parameter = GenericParam::Type(client.clone().into());
        impl_generics.params.push(parameter);
        let (_, of_arguments, _) = generics.split_for_impl();
        let bounds = impl_generics.make_where_clause();
        bounds
            .predicates
            .push(parse_quote!(#client: #path #of_arguments));
        bounds.predicates.extend(of_types);
        if sendable {
            // A `Send` future shares the wrapped client with other threads.
            bounds
                .predicates
                .push(parse_quote!(#client: ::core::marker::Send + ::core::marker::Sync));
        }
        if !supertraits.is_empty() {
            bounds.predicates.push(parse_quote!(Self: #supertraits));
        }
        let (parameters, _, bounds) = impl_generics.split_for_impl();
        // A copy is not emitted, so errors about the impl as a whole point at its name.
        let (completeness, place) = match arguments.get(Key::Of) {
            Some(_) => (Some(self.completeness()), self.ident.span()),
            None => (None, Span::call_site()),
        };
        let keyword = quote_spanned!(place=> impl);
        let mut members = Group::new(Delimiter::Brace, members.clone());
        members.set_span(place);
        quote! {
            #[doc = #about]
            #[derive(Clone, Debug)]
            #visibility struct #name<#client> {
                client: #client,
                policy: ::core::option::Option<#krate::Policy>,
            }

            #constructors

            #[allow(dead_code)]
            impl<#client> #name<#client> {
                /// The client, for calls that are not to be retried.
                #visibility const fn inner(&self) -> &#client {
                    &self.client
                }

                /// The client, by value.
                #visibility fn into_inner(self) -> #client {
                    self.client
                }
            }

            #[automatically_derived]
            #[allow(deprecated, clippy::match_single_binding)]
            #completeness
            #async_trait
            #unsafety #keyword #parameters #path #of_arguments for #name<#client> #bounds #members
        }
    }

    /// Makes clippy report a provided method that the copy lacks. It would keep the original's default body even where the
    /// client has its own, and the compiler alone reports nothing. The copy's attributes may change the level.
    fn completeness(&self) -> TokenStream {
        let mut said = self
            .attributes
            .iter()
            .filter(|attribute| mentions(attribute.to_token_stream(), "missing_trait_methods"))
            .peekable();
        if said.peek().is_some() {
            return quote!(#(#said)*);
        }
        quote!(#[deny(clippy::missing_trait_methods)])
    }

    /// `new` and `with_policy`. Their bound reports a type that doesn't implement the trait, with what to do about it. A
    /// generic trait has no such bound: which of its parameters are meant is not known here.
    fn constructors(
        &self,
        name: &Ident,
        krate: &RuntimePath,
        path: &TokenStream,
        of: &str,
    ) -> TokenStream {
        let Self {
            visibility, client, ..
        } = self;
        let constructors = quote! {
            /// Wraps a client, to be retried with the numbers of the attribute.
            #visibility const fn new(client: #client) -> Self {
                Self {
                    client,
                    policy: ::core::option::Option::None,
                }
            }

            /// Wraps a client, to be retried with that policy in place of the numbers of the attribute. Those
            /// that a method of the trait has of its own stay.
            #visibility const fn with_policy(client: #client, policy: #krate::Policy) -> Self {
                Self {
                    client,
                    policy: ::core::option::Option::Some(policy),
                }
            }
        };
        if !self.generics.params.is_empty() {
            return quote! {
                #[allow(dead_code)]
                impl<#client> #name<#client> {
                    #constructors
                }
            };
        }
        let message = format!("`{name}` wraps a `{of}`, and `{{Self}}` is none");
        let label = format!("not a `{of}`");
        let note = format!(
            "a `Box`, `Arc` or reference counts only if it implements `{of}` itself: wrap the client without it, or implement `{of}` for the pointer or for a type of your own around it"
        );
        quote! {
            #[allow(dead_code, private_bounds)]
            const _: () = {
                #[diagnostic::on_unimplemented(message = #message, label = #label, note = #note)]
                trait __RetryClient {}

                #[diagnostic::do_not_recommend]
                impl<#client: #path> __RetryClient for #client {}

                impl<#client: __RetryClient> #name<#client> {
                    #constructors
                }
            };
        }
    }

    /// What the copy of a foreign trait requires of an associated type, such as `type Error: Classify`.
    fn bound(&self, item: &TraitItem, path: &TokenStream) -> Option<WherePredicate> {
        let TraitItem::Type(item) = item else {
            return None;
        };
        let (ident, bounds) = (&item.ident, &item.bounds);
        if bounds.is_empty()
            || !item.generics.params.is_empty()
            || mentions(bounds.to_token_stream(), "Self")
        {
            return None;
        }
        let inner = self.inner(path);
        Some(parse_quote!(#inner::#ident: #bounds))
    }

    /// An associated type or const.
    fn other(
        &self,
        item: &TraitItem,
        path: &TokenStream,
        implemented: &mut TokenStream,
        errors: &mut Errors,
    ) {
        let inner = self.inner(path);
        match item {
            TraitItem::Type(item) => {
                let attributes = item.attrs.iter().filter(|attribute| is_cfg(attribute));
                let ident = &item.ident;
                let (parameters, arguments, bounds) = item.generics.split_for_impl();
                implemented.append_all(quote! {
                    #(#attributes)*
                    type #ident #parameters = #inner::#ident #arguments #bounds;
                });
            }
            TraitItem::Const(item) => {
                let attributes = item.attrs.iter().filter(|attribute| is_cfg(attribute));
                let (ident, ty) = (&item.ident, &item.ty);
                implemented.append_all(quote! {
                    #(#attributes)*
                    const #ident: #ty = #inner::#ident;
                });
            }
            TraitItem::Macro(item) => errors.at(
                item.mac.path.span(),
                "a macro hides what it declares: write its methods out, so that they can be retried",
            ),
            _ => errors.at(
                item.span(),
                "this can't be handed on to a client: write the decorator by hand",
            ),
        }
    }

    /// A method: retried, passed on, or left to its default body. Returns whether it is retried.
    fn method(
        &self,
        arguments: &Arguments,
        method: Method,
        path: &TokenStream,
        implemented: &mut TokenStream,
        errors: &mut Errors,
    ) -> bool {
        let Method { mut function, own } = method;
        if let Own::Arguments(own) = &own {
            check::arguments(own, errors);
            check::without_body(own, errors);
        }
        let is_copy = arguments.get(Key::Of).is_some();
        let name = &function.signature.ident;
        if let Some((place, message)) = stays_with_decorator(&function) {
            // A default body is the decorator's own, and calls methods that are handed on.
            match (&function.body, &own) {
                (Body::Missing(_), _) => errors.at(place, message),
                (Body::Block(_), Own::Arguments(_)) => errors.at(
                    name.span(),
                    format!("`{name}` keeps its default body, which is not retried, though the methods that it calls are: remove its `#[retry]`"),
                ),
                (Body::Block(_), _) if is_copy => function.to_tokens(implemented),
                (Body::Block(_), _) => {}
            }
            return false;
        }
        if let (true, Body::Block(_)) = (is_copy, &function.body) {
            errors.at(
                name.span(),
                format!("the body of `{name}` would never run, since the client has one of its own: end the method with `;`"),
            );
        }
        function.attributes.retain(is_cfg);
        let given = given(&mut function, errors);
        // From here on it has a body, and is checked as a function is. It ends where the user's does: a method that
        // the trait lacks is complained about from its first token to its last.
        let end = match &function.body {
            Body::Block(block) => block.span(),
            Body::Missing(semicolon) => semicolon.span,
        };
        let body = |content| {
            let mut body = Group::new(Delimiter::Brace, content);
            body.set_span(end);
            Body::Block(body)
        };
        function.body = body(TokenStream::new());
        let merged = members::merged(arguments, &own, &function, errors);
        let receiver = function.signature.receiver().cloned();
        let by_value = receiver
            .as_ref()
            .filter(|receiver| matches!(receiver.kind, ReceiverKind::Value));
        if let (Some(_), Some(receiver)) = (&merged, by_value) {
            let message = format!(
                "a retried method can't take `self` by value, since the first attempt would use it up: take `&self`, or mark `{}` `#[retry(skip)]`",
                function.signature.ident
            );
            errors.at(receiver.span(), message);
            return false;
        }
        let awaits = merged.is_some() && function.is_future() || function.is_async();
        let at_once = merged
            .as_ref()
            .is_some_and(|merged| merged.get(Key::Hedge).is_some());
        let mut handed = Vec::from_iter(receiver.as_ref().and_then(lend));
        for given in &given {
            handed.push(match merged {
                Some(_) => given.for_attempt(at_once),
                None => given.handed_on(),
            });
        }
        let call = self.call(&function, path, &handed);
        let call = if awaits {
            let place = Span::call_site().located_at(function.signature.ident.span());
            quote_spanned!(place=> #call.await)
        } else {
            call
        };
        let Some(merged) = merged else {
            function.body = body(wrapped_again(&function, call));
            function.to_tokens(implemented);
            return false;
        };
        function.body = body(call);
        let own = match own {
            Own::Arguments(own) => own,
            Own::Nothing | Own::Skip => Arguments::default(),
        };
        let owned = given.iter().filter(|given| given.is_owned && !at_once);
        let owned = owned.map(|given| given.name.clone()).collect();
        let this = receiver.map(|receiver| receiver.self_token);
        let model = Model::new(merged, function).decorated(
            arguments,
            &own,
            this,
            self.client.clone(),
            owned,
        );
        implemented.append_all(expand::expand(&model));
        true
    }

    /// The client's method, called.
    fn call(
        &self,
        function: &Function,
        path: &TokenStream,
        arguments: &[TokenStream],
    ) -> TokenStream {
        let signature = &function.signature;
        let method = &signature.ident;
        // If the client's method can't be called, the error points at the method.
        let place = Span::call_site().located_at(method.span());
        let client = Ident::new(&self.client.to_string(), place);
        let (_, of_arguments, _) = self.generics.split_for_impl();
        let inner = quote_spanned!(place=> <#client as #path #of_arguments>);
        let mut parameters = Vec::new();
        for parameter in &signature.generics.params {
            match parameter {
                GenericParam::Type(parameter) => parameters.push(&parameter.ident),
                GenericParam::Const(parameter) => parameters.push(&parameter.ident),
                // Left out: the compiler infers them, and often they can't be named.
                GenericParam::Lifetime(_) => {}
            }
        }
        let parameters = (!parameters.is_empty()).then(|| quote!(::<#(#parameters),*>));
        let call = quote_spanned!(place=> #inner::#method #parameters(#(#arguments),*));
        match signature.safety {
            syn::Safety::Unsafe(_) => quote!(unsafe { #call }),
            _ => call,
        }
    }

    /// `<C as Trait<T>>`
    fn inner(&self, path: &TokenStream) -> TokenStream {
        let client = &self.client;
        let (_, arguments, _) = self.generics.split_for_impl();
        quote!(<#client as #path #arguments>)
    }

    fn async_trait(&self) -> Option<&Attribute> {
        self.attributes.iter().find(|attribute| {
            let name = attribute.path().segments.last();
            name.is_some_and(|name| name.ident == "async_trait")
        })
    }

    /// Whether `Send` is asked of any method's future.
    fn hands_out_send_futures(&self, members: &[Member]) -> bool {
        let by_async_trait = self
            .async_trait()
            .is_some_and(|attribute| !mentions(attribute.to_token_stream(), "Send"));
        let by_method = members.iter().any(|member| match member {
            Member::Function(method) => {
                let returned = &method.function.signature.output;
                mentions(returned.to_token_stream(), "Send")
            }
            Member::Other(_) => false,
        });
        by_async_trait || by_method
    }
}
