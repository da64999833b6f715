//! The target: a function whose body stays tokens, so that half-typed code still expands.

use proc_macro2::{Delimiter, Group, TokenStream, TokenTree};
use quote::{ToTokens, TokenStreamExt};
use syn::parse::{Parse, ParseStream};
use syn::{Attribute, FnArg, ReceiverKind, ReturnType, Signature, Token, Type, Visibility};

/// A function or method.
pub(crate) struct Function {
    pub(crate) attributes: Vec<Attribute>,
    pub(crate) visibility: Visibility,
    pub(crate) defaultness: Option<Token![default]>,
    pub(crate) signature: Signature,
    pub(crate) body: Body,
}

pub(crate) enum Body {
    /// In braces.
    Block(Group),
    /// A method of a trait that only declares it.
    Missing(Token![;]),
}

impl Parse for Function {
    fn parse(input: ParseStream) -> syn::Result<Self> {
        let attributes = input.call(Attribute::parse_outer)?;
        let visibility = input.parse()?;
        let defaultness = input.parse()?;
        let item = input.fork();
        let signature = input.parse().map_err(|error| {
            let other = [
                item.peek(Token![impl]),
                item.peek(Token![trait]),
                item.peek(Token![mod]),
                item.peek(Token![struct]),
                item.peek(Token![enum]),
            ];
            if other.contains(&true) {
                item.error("`#[retry]` goes on functions and methods: put it on each that is to be retried")
            } else {
                error
            }
        })?;
        let body = if input.peek(Token![;]) {
            Body::Missing(input.parse()?)
        } else {
            Body::Block(input.step(|cursor| {
                let Some((content, span, rest)) = cursor.group(Delimiter::Brace) else {
                    return Err(cursor.error("expected the function's body"));
                };
                let mut group = Group::new(Delimiter::Brace, content.token_stream());
                group.set_span(span.join());
                Ok((group, rest))
            })?)
        };
        Ok(Self {
            attributes,
            visibility,
            defaultness,
            signature,
            body,
        })
    }
}

impl Function {
    pub(crate) fn is_async(&self) -> bool {
        self.signature.asyncness.is_some()
    }

    pub(crate) fn return_type(&self) -> Option<&Type> {
        match &self.signature.output {
            ReturnType::Type(_, ty) => Some(ty),
            ReturnType::Default => None,
        }
    }

    /// Whether an argument is a `&mut`, the receiver included.
    pub(crate) fn has_mutable_reference(&self) -> bool {
        self.signature.inputs.iter().any(|argument| match argument {
            FnArg::Receiver(receiver) => match &receiver.kind {
                ReceiverKind::Reference(_, _, mutability) => mutability.is_some(),
                ReceiverKind::Typed(_, ty) => is_mutable_reference(ty),
                _ => false,
            },
            FnArg::Typed(typed) => is_mutable_reference(&typed.ty),
        })
    }
}

fn is_mutable_reference(ty: &Type) -> bool {
    match ty {
        Type::Reference(reference) => reference.mutability.is_some(),
        Type::Group(group) => is_mutable_reference(&group.elem),
        Type::Paren(paren) => is_mutable_reference(&paren.elem),
        _ => false,
    }
}

/// A function whose body is put together, ready to be printed.
pub(crate) struct Rewritten<'a> {
    pub(crate) function: &'a Function,
    pub(crate) body: Group,
}

impl ToTokens for Rewritten<'_> {
    fn to_tokens(&self, tokens: &mut TokenStream) {
        let function = self.function;
        tokens.append_all(&function.attributes);
        function.visibility.to_tokens(tokens);
        function.defaultness.to_tokens(tokens);
        function.signature.to_tokens(tokens);
        tokens.append(TokenTree::Group(self.body.clone()));
    }
}
