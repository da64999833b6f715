//! `#[retry(wrapper = Retrying, …)]` on a trait: a type that implements the trait by retrying what it wraps.

mod definition;
mod handed_on;
mod methods;
mod pointers;
mod wrapped;

use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, TokenStreamExt};
use retry_vocabulary::key::Key;
use syn::{
    Attribute, GenericParam, Generics, ItemTrait, Path, TypeParam, WherePredicate, parse_quote,
};

use self::definition::Definition;
use self::methods::Methods;
use self::wrapped::Wrapped;
use crate::as_variant::as_variant;
use crate::attribute::argument::{Arguments, KeyValue};
use crate::attribute::check;
use crate::block::members::{self, Braced, Member};
use crate::errors::Errors;
use crate::target;
use crate::tokens::{Code, braces, code, code_at, ends_with, mentions, when};

/// A trait. Only the signatures of its methods are parsed.
pub(crate) struct Decorator {
    /// The trait as written.
    item: Braced,
    /// The trait without members.
    declared: ItemTrait,
    /// A name that the trait does not use.
    free: Ident,
}

impl Decorator {
    pub(crate) fn parse(item: Braced) -> syn::Result<Self> {
        let names = ["C", "Client", "Inner", "Wrapped"];
        let free = names.iter().find(|name| {
            !mentions(item.header.clone(), name) && !mentions(item.braces.stream(), name)
        });
        Ok(Self {
            declared: syn::parse2(item.with(TokenStream::new()))?,
            item,
            free: Ident::new(free.unwrap_or(&"RetryClient"), Span::call_site()),
        })
    }

    /// `trait T { fn f(&self) -> Result<…>; }`
    /// → `trait T { … } struct Retrying<C> { client: C, policy: … } impl<C: T> T for Retrying<C> { … }`
    ///
    /// The trait is left out if it is another crate's. The impls for pointers follow.
    pub(crate) fn expand(self, arguments: &Arguments) -> syn::Result<TokenStream> {
        let members = members::parse(self.item.braces.stream())?;
        let mut errors = Errors::default();
        check::on_trait(arguments, &self.declared.ident, &mut errors);
        let of = arguments.value(Key::Of);
        let of = as_variant!(of, Some(KeyValue::Path(path)) => path.clone());
        let path = of
            .clone()
            .unwrap_or_else(|| self.declared.ident.to_token_stream());
        let parameter = match arguments.value(Key::Wrapper) {
            Some(KeyValue::Wrapper(_, Some(parameter))) => (**parameter).clone(),
            _ => self.free.clone().into(),
        };
        let wrapped = Wrapped {
            client: &parameter.ident,
            path: &path,
            generics: &self.declared.generics,
        };
        let forwarded = self.pointers(arguments, &path, &members, &mut errors);
        // What the copy says about the original's types. Without a copy, the compiler knows.
        let mut bounds = Vec::new();
        let sendable = self.hands_out_send_futures(&members);
        if of.is_some() {
            let supertraits = wrapped.supertraits(&self.declared.supertraits);
            bounds.extend(supertraits);
        }
        let mut declared = TokenStream::new();
        let mut methods = Methods::new(arguments, &wrapped, of.is_some());
        for member in members {
            match member {
                Member::Other(tokens) => {
                    declared.append_all(tokens.clone());
                    match syn::parse2(tokens) {
                        Ok(item) => {
                            if of.is_some() {
                                bounds.extend(wrapped.bound(&item));
                            }
                            let handed_on = wrapped.other(&item, &mut errors);
                            handed_on.to_tokens(&mut methods.implemented);
                        }
                        Err(error) => errors.push(error),
                    }
                }
                Member::Function(method) => {
                    let plain = method.function.to_token_stream();
                    // The decorator retries what its default body does.
                    let marked = method.function.marked(&arguments.krate());
                    let is_retried = methods.add(*method, &mut errors);
                    declared.append_all(if is_retried { marked } else { plain });
                }
            }
        }
        if !methods.is_retried {
            target::check::nothing_is_retried(&mut errors);
        }
        let declared = of.is_none().then(|| self.item.with(declared));
        if let Some(errors) = errors.into_compile_error() {
            return Ok(code!(#declared #errors));
        }
        if sendable {
            // A `Send` future shares the wrapped client with other threads.
            let client = wrapped.client;
            bounds.push(parse_quote!(#client: ::core::marker::Send + ::core::marker::Sync));
        }
        let decorator = self.decorator(arguments, &wrapped, parameter.clone(), bounds, &methods);
        Ok(code!(#declared #decorator #forwarded))
    }

    /// The type, and the trait implemented for it.
    fn decorator(
        &self,
        arguments: &Arguments,
        wrapped: &Wrapped,
        parameter: TypeParam,
        bounds: Vec<WherePredicate>,
        methods: &Methods,
    ) -> Code {
        let Some(KeyValue::Wrapper(name, _)) = arguments.value(Key::Wrapper) else {
            return Code::new();
        };
        let Wrapped { client, path, .. } = wrapped;
        let krate = arguments.krate();
        let definition = Definition {
            visibility: &self.declared.vis,
            name,
            parameter: &parameter,
            wrapped,
            krate: &krate,
            clones_client: methods.clones_client,
        };
        let (_, of_arguments, _) = self.declared.generics.split_for_impl();
        let mut generics = self.declared.generics.clone();
        let predicates = &mut generics.make_where_clause().predicates;
        predicates.push(parse_quote!(#client: #path #of_arguments));
        predicates.extend(bounds);
        if let Some(cloned) = definition.cloned_client() {
            predicates.push(parse_quote!(#client: #cloned));
        }
        generics.params.push(GenericParam::Type(parameter.clone()));
        // A copy is not emitted, so errors about the impl as a whole point at its name.
        let (completeness, span) = match arguments.get(Key::Of) {
            Some(_) => (Some(self.completeness()), self.declared.ident.span()),
            None => (None, Span::call_site()),
        };
        let members = braces(methods.implemented.clone(), span);
        let implemented = self.implemented(&generics, wrapped, name, span, &members);
        code! {
            #definition

            #[automatically_derived]
            #[allow(deprecated, clippy::match_single_binding)]
            #completeness
            #implemented
        }
    }

    /// The trait, implemented for a type around what is wrapped.
    fn implemented(
        &self,
        generics: &Generics,
        wrapped: &Wrapped,
        around: &dyn ToTokens,
        span: Span,
        members: &dyn ToTokens,
    ) -> Code {
        let Wrapped { client, path, .. } = wrapped;
        let (_, of_arguments, _) = self.declared.generics.split_for_impl();
        let (parameters, _, bounds) = generics.split_for_impl();
        let (unsafety, keyword) = (&self.declared.unsafety, code_at!(span=> impl));
        code! {
            #(self.async_trait())
            #unsafety #keyword #parameters #path #of_arguments for #around<#client> #bounds #members
        }
    }

    /// Makes clippy report a provided method that the copy lacks. It would keep the original's default body even where the
    /// client has its own, and the compiler alone reports nothing. The copy's attributes may change the level.
    fn completeness(&self) -> Code {
        let mut said = TokenStream::new();
        for attribute in &self.declared.attrs {
            if mentions(attribute.to_token_stream(), "missing_trait_methods") {
                attribute.to_tokens(&mut said);
            }
        }
        if said.is_empty() {
            return code!(#[deny(clippy::missing_trait_methods)]);
        }
        said
    }

    /// The trait for the pointers of the key `forward`.
    fn pointers(
        &self,
        arguments: &Arguments,
        path: &TokenStream,
        members: &[Member],
        errors: &mut Errors,
    ) -> Code {
        let Some(KeyValue::Paths(pointers)) = arguments.value(Key::Forward) else {
            return Code::new();
        };
        let pointed = Wrapped {
            client: &self.free,
            path,
            generics: &self.declared.generics,
        };
        let (_, of_arguments, _) = self.declared.generics.split_for_impl();
        let sendable = self.hands_out_send_futures(members);
        let send = when(
            sendable,
            code!(+ ::core::marker::Send + ::core::marker::Sync),
        );
        let (client, mut generics) = (&self.free, self.declared.generics.clone());
        let parameter = parse_quote!(#client: #path #of_arguments + ?::core::marker::Sized #send);
        generics.params.push(parameter);
        let pointer = |pointer: &Path| {
            let members = pointers::members(pointer, &pointed, members, errors);
            let members = braces(members, Span::call_site());
            let implemented =
                self.implemented(&generics, &pointed, pointer, Span::call_site(), &members);
            code!(#[automatically_derived] #[allow(deprecated)] #implemented)
        };
        pointers.iter().map(pointer).collect()
    }

    fn async_trait(&self) -> Option<&Attribute> {
        let mut attributes = self.declared.attrs.iter();
        attributes.find(|attribute| ends_with(attribute.path(), &["async_trait"]))
    }

    /// Whether `Send` is asked of any method's future or stream.
    fn hands_out_send_futures(&self, members: &[Member]) -> bool {
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
