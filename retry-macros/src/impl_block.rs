//! `#[retry(…)]` on an `impl`: on every method in it that can fail.

use proc_macro2::TokenStream;
use quote::{ToTokens, TokenStreamExt, quote};

use crate::check::{self, Errors};
use crate::expand;
use crate::function::{self, Function};
use crate::members::{self, Braced, Mark, Member, Method};
use crate::model::Model;
use crate::outcome::{self, Delivery};
use crate::parse::Arguments;

/// An `impl`, of which only the members are looked at.
pub(crate) struct ImplBlock(pub(crate) Braced);

impl ImplBlock {
    /// The block with its methods retried; beside errors, the block without `#[retry]` in it.
    pub(crate) fn expand(self, arguments: &Arguments) -> syn::Result<TokenStream> {
        let (attributes, members) = function::inner_attributes(self.0.braces.stream());
        let members = members::parse(members)?;
        let mut errors = Errors::default();
        check::arguments(arguments, &mut errors);
        check::on_no_trait(arguments, &mut errors);
        let mut retried = attributes.clone();
        let mut plain = attributes;
        let mut is_retried = false;
        for member in members {
            match member {
                Member::Other(tokens) => {
                    retried.append_all(tokens.clone());
                    plain.append_all(tokens);
                }
                Member::Function(method) => {
                    method.function.to_tokens(&mut plain);
                    let own = arguments_of(arguments, &method, &mut errors);
                    match own {
                        Some(arguments) => {
                            is_retried = true;
                            let expanded = expand::expand(&Model::new(arguments, method.function));
                            retried.append_all(expanded);
                        }
                        None => method.function.to_tokens(&mut retried),
                    }
                }
            }
        }
        check::something_is_retried(is_retried, &mut errors);
        let content = match errors.into_compile_error() {
            None => retried,
            Some(errors) => {
                let block = self.0.with(plain);
                return Ok(quote!(#block #errors));
            }
        };
        Ok(self.0.with(content))
    }
}

/// The arguments that a member is retried with, `None` where it is left alone.
pub(crate) fn arguments_of(
    block: &Arguments,
    method: &Method,
    errors: &mut Errors,
) -> Option<Arguments> {
    let own = match &method.mark {
        Mark::Skip => return None,
        Mark::None if !can_fail(&method.function) => return None,
        Mark::None => Arguments::default(),
        Mark::Own(own) => own.clone(),
    };
    check::arguments(&own, errors);
    check::on_member(&own, errors);
    let arguments = block.for_member(own, &method.function.signature.ident);
    check::member(&arguments, &method.function, errors);
    Some(arguments)
}

/// Whether a function is async or returns a future, a stream or a `Result`, by their names.
fn can_fail(function: &Function) -> bool {
    let Some(returned) = function.return_type() else {
        return function.is_async();
    };
    let (outcome, delivery) = outcome::of(returned);
    function.is_async()
        || delivery != Delivery::Direct
        || outcome::is_named_result(outcome)
        // Without the key `stream` it is refused, not passed over.
        || outcome::stream(outcome).is_some()
}
