//! The trait, as what is wrapped implements it.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, TokenStreamExt};
use syn::punctuated::Punctuated;
use syn::spanned::Spanned;
use syn::{
    Attribute, GenericParam, Generics, Token, TraitItem, TypeParamBound, WherePredicate,
    parse_quote,
};

use crate::as_variant::as_variant;
use crate::block::decorator::handed_on::is_cfg;
use crate::errors::Errors;
use crate::target::function::Function;
use crate::tokens::{Code, code, code_at, mentions, when};

/// A type parameter, and the trait that it implements.
pub(super) struct Wrapped<'a> {
    pub(super) client: &'a Ident,
    /// The path of the trait.
    pub(super) path: &'a TokenStream,
    pub(super) generics: &'a Generics,
}

impl Wrapped<'_> {
    /// `<C as Trait<T>>`
    fn inner(&self) -> Code {
        let Self { client, path, .. } = self;
        let (_, arguments, _) = self.generics.split_for_impl();
        code!(<#client as #path #arguments>)
    }

    /// A call of the client's method on what is `lent`, with these arguments, awaited or not.
    pub(super) fn call(
        &self,
        function: &Function,
        lent: Option<Code>,
        arguments: &mut dyn Iterator<Item = Code>,
        awaits: bool,
    ) -> Code {
        let signature = &function.signature;
        let method = &signature.ident;
        // If the client's method can't be called, the error points at the method.
        let span = Span::call_site().located_at(method.span());
        let client = Ident::new(
            &self.client.to_string(),
            self.client.span().located_at(span),
        );
        let (_, of_arguments, _) = self.generics.split_for_impl();
        let inner = code_at!(span=> <#client as #(self.path) #of_arguments>);
        let mut parameters = Code::new();
        for parameter in &signature.generics.params {
            parameters.extend(match parameter {
                GenericParam::Type(parameter) => listed(&parameter.ident),
                GenericParam::Const(parameter) => listed(&parameter.ident),
                // Left out: the compiler infers them, and often they can't be named.
                GenericParam::Lifetime(_) => continue,
            });
        }
        let parameters = (!parameters.is_empty()).then(|| code!(::<#parameters>));
        let arguments = lent.into_iter().chain(arguments).map(|it| listed(&it));
        let call = code_at!(span=> #inner::#method #parameters(#(arguments.collect::<Code>())));
        let call = match signature.safety {
            syn::Safety::Unsafe(_) => code!(unsafe { #call }),
            _ => call,
        };
        code!(#call #(when(awaits, code_at!(span=> .await))))
    }

    /// What the copy of a foreign trait requires of every client.
    pub(super) fn supertraits(
        &self,
        supertraits: &Punctuated<TypeParamBound, Token![+]>,
    ) -> Option<WherePredicate> {
        let client = self.client;
        let is_said = !supertraits.is_empty() && !mentions(supertraits.to_token_stream(), "Self");
        is_said.then(|| parse_quote!(#client: #supertraits))
    }

    /// What the copy of a foreign trait requires of an associated type, such as `type Error: Classify`.
    pub(super) fn bound(&self, item: &TraitItem) -> Option<WherePredicate> {
        let item = as_variant!(item, TraitItem::Type(item) => item)?;
        let (ident, bounds) = (&item.ident, &item.bounds);
        if bounds.is_empty()
            || !item.generics.params.is_empty()
            || mentions(bounds.to_token_stream(), "Self")
        {
            return None;
        }
        let inner = self.inner();
        Some(parse_quote!(#inner::#ident: #bounds))
    }

    /// An associated type or const: the client's.
    pub(super) fn other(&self, item: &TraitItem, errors: &mut Errors) -> Code {
        let inner = self.inner();
        match item {
            TraitItem::Type(item) => {
                let ident = &item.ident;
                let (parameters, arguments, bounds) = item.generics.split_for_impl();
                return code! {
                    #(cfgs(&item.attrs))
                    type #ident #parameters = #inner::#ident #arguments #bounds;
                };
            }
            TraitItem::Const(item) => {
                let (ident, ty) = (&item.ident, &item.ty);
                return code! {
                    #(cfgs(&item.attrs))
                    const #ident: #ty = #inner::#ident;
                };
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
        Code::new()
    }
}

/// The conditions under which an item exists.
fn cfgs(attributes: &[Attribute]) -> TokenStream {
    let mut cfgs = TokenStream::new();
    cfgs.append_all(attributes.iter().filter(|attribute| is_cfg(attribute)));
    cfgs
}

/// An element of a list.
fn listed(element: &dyn ToTokens) -> Code {
    code!(#element,)
}
