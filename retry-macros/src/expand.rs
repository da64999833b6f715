//! The model as a function: the loop around the attempts, put where the user's code stands.

mod attempt;
mod call_loop;
mod driven;
mod ending;
mod error_type;
mod failure;
mod hedge;
mod hover;
pub(crate) mod model;
mod policy;
mod printer;
#[cfg(feature = "stream")]
mod stream;
mod surroundings;
mod time;
mod validation;

use proc_macro2::{Group, Ident, Span, TokenStream};
use quote::ToTokens;

use self::attempt::Attempted;
use self::model::{Callee, Model};
use self::printer::Printer;
use crate::target::expression::Block;
use crate::target::function::{self, Asyncness};
use crate::target::outcome::{self, Delivery};
use crate::target::wrapped_body::WrappedBody;
use crate::tokens::{self, Code, braces, code};

/// `async fn f(…) -> Result<T, E> { body }`
/// → `async fn f(…) -> Result<T, E> { use …::macro_support as __retry; 'retry_call: loop { … async { body }.await … } }`
pub(crate) fn expand(model: &Model) -> TokenStream {
    let Some(block) = model.function.block() else {
        return TokenStream::new();
    };
    let (attributes, statements) = function::inner_attributes(block.stream());
    let content = content(model, block, statements);
    // The user's own braces: lints such as `dead_code` look at them.
    let body = braces(code!(#attributes #(imports(model)) #content), block.span());
    model.function.with_body(&body)
}

/// `retrying!(keys, async { body })`
/// → `{ use …::macro_support as __retry; __retry::lazy(async { 'retry_call: loop { … async { body }.await … } }) }`
///
/// The model was made of the block.
pub(crate) fn expression(model: &Model, block: &Block) -> TokenStream {
    let content = content(model, &block.body, block.body.stream());
    let retried = if block.is_async() {
        code!(__retry::lazy(#(block.with(content))))
    } else {
        content
    };
    // All that the user wrote, or the fixes of lints would keep the block alone in place of the macro.
    braces(code!(#(imports(model)) #retried), Span::mixed_site()).into_token_stream()
}

fn imports(model: &Model) -> Code {
    code! {
        #(tokens::import(&model.arguments.krate()))
        #(hover::mentions(model))
    }
}

fn content(model: &Model, block: &Group, statements: TokenStream) -> Code {
    let kept = match &model.attempts {
        Callee::Client(kept) => kept.as_ref(),
        Callee::Body => None,
    };
    let is_body = matches!(model.attempts, Callee::Body);
    let wrapped = WrappedBody::find(&model.function, &statements);
    if let Some(wrapped) = wrapped.filter(|_| is_body) {
        let user = inner_body(wrapped.block(), wrapped.block().stream());
        let attempted = match wrapped.asyncness {
            Asyncness::Async => Attempted::Async(user),
            Asyncness::Blocking => Attempted::Blocking(user),
        };
        let retried = retried(model, wrapped.this.clone(), attempted);
        return wrapped.with(retried);
    }
    let body = inner_body(block, statements);
    let attempted = match model.delivery {
        Delivery::Direct if !model.function.is_async() => Attempted::Blocking(body),
        Delivery::Direct => Attempted::Async(body),
        // What a decorator calls is awaited where it is called.
        Delivery::Future | Delivery::BoxedFuture if !is_body => Attempted::Async(body),
        Delivery::Future => Attempted::Future(body, None),
        Delivery::BoxedFuture => {
            // An attempt's future may borrow less than the function's: the attempt, say.
            let returned = model.function.return_type().map(outcome::shorter);
            Attempted::Future(body, returned.map(ToTokens::into_token_stream))
        }
    };
    let keep = kept.map(attempt::keep);
    let retried = retried(model, kept.map(|kept| kept.this.clone()), attempted);
    match model.delivery {
        Delivery::Direct => code!(#keep #retried),
        Delivery::Future => code!(#keep __retry::lazy(async move { #retried })),
        Delivery::BoxedFuture => code!(#keep __retry::Box::pin(async move { #retried })),
    }
}

/// The loop around attempts of that kind, in which `self` is called `this`.
fn retried(model: &Model, this: Option<Ident>, attempted: Attempted) -> Code {
    let asyncness = match attempted {
        Attempted::Blocking(_) => Asyncness::Blocking,
        Attempted::Async(_) | Attempted::Future(..) => Asyncness::Async,
    };
    let printer = |asyncness| Printer {
        model,
        asyncness,
        this,
    };
    match &model.stream {
        #[cfg(feature = "stream")]
        Some(stream) => printer(Asyncness::Async).stream(stream, asyncness, attempted),
        _ => {
            let printer = printer(asyncness);
            printer.call_loop(printer.attempt(attempted))
        }
    }
}

/// The user's code in braces of its own. They are located where the user's are, so that errors point
/// there, and come from the call site, so that `unused_braces` is silent and names resolve as written.
fn inner_body(block: &Group, statements: TokenStream) -> Group {
    braces(statements, Span::call_site().located_at(block.span()))
}
