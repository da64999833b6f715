//! `#[retry(wrapper = Retrying, …)]` on a trait: a type that implements the trait by retrying the client that it wraps.

mod client;
mod definition;
mod delegation;
mod methods;

use std::mem;

use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, TokenStreamExt};
use retry_vocabulary::key::Key;
use syn::{Attribute, GenericParam, Generics, ItemTrait, TypeParam, TypeParamBound, parse_quote};

use self::methods::Methods;
use crate::as_variant::as_variant;
use crate::attribute::argument::{Arguments, KeyValue};
use crate::attribute::check;
use crate::block::members::{self, BracedItem, Member};
use crate::target;
use crate::tokens::{Code, braces, code, code_at, ends_with, if_else, mentions};

/// A trait, and the decorator generated for it. Method bodies are not parsed.
pub(crate) struct Decorator<'a> {
    arguments: &'a Arguments,
    /// The trait as written.
    item: BracedItem,
    /// The trait without members.
    header: ItemTrait,
    /// True if the trait is a copy of another crate's.
    is_copy: bool,
    /// The path of the trait.
    path: TokenStream,
    /// The name of the decorator.
    name: Ident,
    /// The client's type, with the bounds that the user wrote.
    parameter: TypeParam,
}

impl<'a> Decorator<'a> {
    pub(crate) fn parse(item: BracedItem, arguments: &'a Arguments) -> syn::Result<Self> {
        let header: ItemTrait = syn::parse2(item.with_members(TokenStream::new()))?;
        let own = header.ident.clone();
        let original = arguments.value(Key::Of);
        let original = as_variant!(original, Some(KeyValue::Path(path)) => path.clone());
        let (name, parameter) = match arguments.value(Key::Wrapper) {
            Some(KeyValue::Wrapper(name, parameter)) => (name.clone(), parameter.clone()),
            // Rejected by the check.
            _ => (own.clone(), None),
        };
        let parameter = parameter.map_or_else(|| unused_name(&item).into(), |written| *written);
        Ok(Self {
            arguments,
            item,
            header,
            is_copy: original.is_some(),
            path: original.unwrap_or_else(|| own.into_token_stream()),
            name,
            parameter,
        })
    }

    /// `trait T { fn f(&self) -> Result<…>; }`
    /// → `trait T { … } struct Retrying<C> { client: C, policy: … } impl<C: T> T for Retrying<C> { … }`
    ///
    /// Omits the trait if it is another crate's. Otherwise appends the impls for pointers.
    pub(crate) fn expand(&self) -> syn::Result<TokenStream> {
        let members = members::parse(self.item.braces.stream())?;
        let is_send = self.returns_send_futures(&members);
        let mut methods = Methods::new(self);
        check::check_trait(self.arguments, &self.header.ident, &mut methods.errors);
        let mut declared = TokenStream::new();
        for member in members {
            match member {
                Member::Other(tokens) => {
                    declared.append_all(tokens.clone());
                    methods.add_other(tokens);
                }
                Member::Function(method) => {
                    let plain = method.function.to_token_stream();
                    // Marked, because the decorator already retries the methods that a default body calls.
                    let marked = method.function.marked_as_retried(&self.arguments.krate());
                    let is_retried = methods.add(*method);
                    declared.append_all(if is_retried { marked } else { plain });
                }
            }
        }
        if !methods.is_retried {
            target::check::report_nothing_retried(&mut methods.errors);
        }
        let declared = (!self.is_copy).then(|| self.item.with_members(declared));
        if let Some(errors) = mem::take(&mut methods.errors).into_compile_error() {
            return Ok(code!(#declared #errors));
        }
        let forwarded = (!self.is_copy).then(|| self.pointer_impls(&methods, is_send));
        Ok(code!(#declared #(self.decorator(&methods, is_send)) #forwarded))
    }

    /// The types that can be wrapped: a client or, with the key `forward` on another crate's trait, the listed pointers
    /// to a client, because only that crate can implement its trait for pointers.
    fn client_types(&self) -> Vec<Code> {
        let client = self.client();
        let around = |pointer: &syn::Path| code!(#pointer<#client>);
        match self.arguments.value(Key::Forward) {
            Some(KeyValue::Paths(paths)) if self.is_copy => paths.iter().map(around).collect(),
            _ => vec![code!(#client)],
        }
    }

    fn wraps_pointers(&self) -> bool {
        self.is_copy && self.arguments.get(Key::Forward).is_some()
    }

    /// The decorator's type, and its impl of the trait.
    fn decorator(&self, methods: &Methods, is_send: bool) -> Code {
        let (client, path, wrapped) = (self.client(), &self.path, self.client_types());
        let (_, of_arguments, _) = self.header.generics.split_for_impl();
        let mut generics = self.header.generics.clone();
        let predicates = &mut generics.make_where_clause().predicates;
        predicates.push(parse_quote!(#client: #path #of_arguments));
        if self.wraps_pointers() {
            predicates.push(parse_quote!(#client: ?::core::marker::Sized));
        }
        predicates.extend(self.supertraits());
        predicates.extend(methods.bounds.iter().cloned());
        if is_send {
            // A `Send` future shares the wrapped client with other threads.
            predicates.push(parse_quote!(#client: ::core::marker::Send + ::core::marker::Sync));
        }
        let krate = self.arguments.krate();
        let cloned: TypeParamBound = parse_quote!(#krate::macro_support::ClonedClient);
        for wrapped in wrapped.iter().filter(|_| methods.clones_client) {
            predicates.push(parse_quote!(#wrapped: #cloned));
        }
        let cloned = methods.clones_client.then_some(cloned);
        generics
            .params
            .push(GenericParam::Type(self.parameter.clone()));
        // The copy is not emitted, so errors about the whole impl point at the copy's name.
        let own = self.header.ident.span();
        let span = if self.is_copy { own } else { Span::call_site() };
        let implemented = wrapped.iter().map(|wrapped| {
            let decorator = code!(#(&self.name)<#wrapped>);
            code! {
                #[automatically_derived]
                #[allow(deprecated, clippy::match_single_binding)]
                #?(self.is_copy) { #(self.missing_methods_lint()) }
                #(self.trait_impl(&generics, &decorator, span, &methods.members))
            }
        });
        code!(#(self.definition(cloned)) #(implemented.collect::<Code>()))
    }

    /// The impls for the pointers in the key `forward`.
    fn pointer_impls(&self, methods: &Methods, is_send: bool) -> Code {
        let (client, path) = (self.client(), &self.path);
        let (_, of_arguments, _) = self.header.generics.split_for_impl();
        let mut generics = self.header.generics.clone();
        let send = is_send.then(|| code!(+ ::core::marker::Send + ::core::marker::Sync));
        let parameter = parse_quote!(#client: #path #of_arguments + ?::core::marker::Sized #send);
        generics.params.push(parameter);
        let pointers = methods.pointers.iter().map(|(pointer, members)| {
            let pointer = code!(#pointer<#client>);
            let implemented = self.trait_impl(&generics, &pointer, Span::call_site(), members);
            code!(#[automatically_derived] #[allow(deprecated)] #implemented)
        });
        pointers.collect()
    }

    /// An impl of the trait for a type that contains the client.
    fn trait_impl(
        &self,
        generics: &Generics,
        around: &Code,
        span: Span,
        members: &TokenStream,
    ) -> Code {
        let (_, of_arguments, _) = self.header.generics.split_for_impl();
        let (parameters, _, bounds) = generics.split_for_impl();
        let (unsafety, keyword) = (&self.header.unsafety, code_at!(span=> impl));
        code! {
            #(self.async_trait())
            #unsafety #keyword #parameters #(self.path) #of_arguments for #around #bounds
            #(braces(members.clone(), span))
        }
    }

    /// Makes clippy report a provided method that the copy lacks. Otherwise, the decorator would silently use the
    /// original's default body, even if the client overrides it. The copy's attributes can change the lint level.
    fn missing_methods_lint(&self) -> Code {
        let attributes = self.header.attrs.iter().map(ToTokens::to_token_stream);
        let sets = |attribute: &_| mentions(TokenStream::clone(attribute), "missing_trait_methods");
        let levels: TokenStream = attributes.filter(sets).collect();
        let deny = code!(#[deny(clippy::missing_trait_methods)]);
        if_else(levels.is_empty(), deny, levels)
    }

    fn client(&self) -> &Ident {
        &self.parameter.ident
    }

    fn async_trait(&self) -> Option<&Attribute> {
        let mut attributes = self.header.attrs.iter();
        attributes.find(|attribute| ends_with(attribute.path(), &["async_trait"]))
    }

    /// True if any method's future or stream must be `Send`.
    fn returns_send_futures(&self, members: &[Member]) -> bool {
        let is_send = |attribute: &Attribute| !mentions(attribute.to_token_stream(), "Send");
        let by_async_trait = self.async_trait().is_some_and(is_send);
        let by_method = members.iter().any(|member| match member {
            Member::Function(method) => {
                let returned = method.function.signature.output.to_token_stream();
                let names = ["Send", "BoxFuture", "BoxStream"];
                names.iter().any(|name| mentions(returned.clone(), name))
            }
            Member::Other(_) => false,
        });
        by_async_trait || by_method
    }
}

/// A name for the client's type that the trait does not use.
fn unused_name(item: &BracedItem) -> Ident {
    let is_free =
        |name: &&str| !mentions(item.header.clone(), name) && !mentions(item.braces.stream(), name);
    let free = ["C", "Client", "Inner", "Wrapped"]
        .into_iter()
        .find(is_free);
    Ident::new(free.unwrap_or("RetryClient"), Span::call_site())
}
