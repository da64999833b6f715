//! The trait as implemented by the wrapped client.

use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, TokenStreamExt};
use syn::spanned::Spanned;
use syn::{Attribute, GenericParam, TraitItem, WherePredicate, parse_quote};

use crate::as_variant::as_variant;
use crate::block::decorator::Decorator;
use crate::block::decorator::delegation::is_cfg;
use crate::errors::Errors;
use crate::target::function::Function;
use crate::tokens::{Code, code, code_at, mentions};

impl Decorator<'_> {
    /// `<C as Trait<T>>`
    fn client_as_trait(&self) -> Code {
        let (_, arguments, _) = self.header.generics.split_for_impl();
        code!(<#(self.client()) as #(self.path) #arguments>)
    }

    /// A call of the client's method. The first argument is the receiver.
    pub(super) fn client_call(
        &self,
        function: &Function,
        arguments: impl Iterator<Item = Code>,
        awaits: bool,
    ) -> Code {
        let signature = &function.signature;
        let method = &signature.ident;
        // If the client's method can't be called, the error points at the method.
        let span = Span::call_site().located_at(method.span());
        let mut client = self.client().clone();
        client.set_span(client.span().located_at(span));
        let (_, of_arguments, _) = self.header.generics.split_for_impl();
        let inner = code_at!(span=> <#client as #(self.path) #of_arguments>);
        let mut parameters = Code::new();
        for parameter in &signature.generics.params {
            parameters.extend(match parameter {
                GenericParam::Type(parameter) => with_comma(&parameter.ident),
                GenericParam::Const(parameter) => with_comma(&parameter.ident),
                // The compiler infers lifetimes, and often they can't be named.
                GenericParam::Lifetime(_) => continue,
            });
        }
        let parameters = (!parameters.is_empty()).then(|| code!(::<#parameters>));
        let arguments = arguments.map(|argument| with_comma(&argument));
        let call = code_at!(span=> #inner::#method #parameters(#(arguments.collect::<Code>())));
        let call = match signature.safety {
            syn::Safety::Unsafe(_) => code!(unsafe { #call }),
            _ => call,
        };
        code!(#call #(awaits.then(|| code_at!(span=> .await))))
    }

    /// The supertraits that a copy requires of every client. Otherwise, the compiler finds them itself.
    pub(super) fn supertraits(&self) -> Option<WherePredicate> {
        let (client, supertraits) = (self.client(), &self.header.supertraits);
        let is_stated = !supertraits.is_empty() && !mentions(supertraits.to_token_stream(), "Self");
        (self.is_copy && is_stated).then(|| parse_quote!(#client: #supertraits))
    }

    /// The bounds that a copy requires of an associated type, such as `type Error: Classify`.
    pub(super) fn copied_bounds(&self, item: &TraitItem) -> Option<WherePredicate> {
        let item = as_variant!(item, TraitItem::Type(item) => item)?;
        let (ident, bounds) = (&item.ident, &item.bounds);
        if !self.is_copy
            || bounds.is_empty()
            || !item.generics.params.is_empty()
            || mentions(bounds.to_token_stream(), "Self")
        {
            return None;
        }
        let inner = self.client_as_trait();
        Some(parse_quote!(#inner::#ident: #bounds))
    }

    /// An associated type or const: the client's.
    pub(super) fn associated_item(&self, item: &TraitItem, errors: &mut Errors) -> Code {
        let inner = self.client_as_trait();
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
                "`#[retry]` can't see through a macro: write its methods out",
            ),
            _ => errors.at(
                item.span(),
                "this item can't be passed on to the client: write the decorator by hand",
            ),
        }
        Code::new()
    }
}

/// The `#[cfg]` attributes of an item.
fn cfgs(attributes: &[Attribute]) -> TokenStream {
    let mut cfgs = TokenStream::new();
    cfgs.append_all(attributes.iter().filter(|attribute| is_cfg(attribute)));
    cfgs
}

/// The element with a comma after it.
fn with_comma(element: &dyn ToTokens) -> Code {
    code!(#element,)
}
