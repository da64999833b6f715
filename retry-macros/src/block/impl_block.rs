//! `#[retry(…)]` on an `impl`: applies to every method that can fail.

use proc_macro2::TokenStream;
use quote::{ToTokens, TokenStreamExt};

use crate::attribute::argument::Arguments;
use crate::block::members::{self, BracedItem, Member};
use crate::errors::Errors;
use crate::expand::model::{DefaultName, Model};
use crate::target::check::Placement;
use crate::target::function;
use crate::tokens::code;
use crate::{attribute, expand, target};

/// `impl T { #[retry(own)] fn f() -> Result<…> { body } fn g() { … } }`
/// → `impl T { fn f() -> Result<…> { loop around body } fn g() { … } }`
///
/// If there are errors, returns them and the block without any `#[retry]`.
pub(crate) fn expand(block: &BracedItem, arguments: &Arguments) -> syn::Result<TokenStream> {
    let (attributes, members) = function::inner_attributes(block.braces.stream());
    let members = members::parse(members)?;
    let mut errors = Errors::default();
    attribute::check::check_non_trait(arguments, &mut errors);
    let mut retried = attributes.clone();
    let mut plain = attributes;
    let mut is_retried = false;
    let name = DefaultName::Function(block.type_name());
    for member in members {
        match member {
            Member::Other(tokens) => {
                retried.append_all(tokens.clone());
                plain.append_all(tokens);
            }
            Member::Function(method) => {
                method.function.to_tokens(&mut plain);
                let (own, function) = (&method.own, &method.function);
                match members::merge_own(arguments, own, function, Placement::Block, &mut errors) {
                    Some(arguments) => {
                        is_retried = true;
                        let mut model = Model::new(arguments, method.function);
                        model.default_name = name.clone();
                        retried.append_all(expand::expand(&model));
                    }
                    None => method.function.to_tokens(&mut retried),
                }
            }
        }
    }
    if !is_retried {
        target::check::report_nothing_retried(&mut errors);
    }
    Ok(match errors.into_compile_error() {
        None => block.with_members(retried),
        Some(errors) => code!(#(block.with_members(plain)) #errors),
    })
}
