//! Turns the model into code: the retry loop around the user's code.

mod attempt;
mod call_loop;
mod decision;
mod driven;
mod ending;
mod error_type;
mod hedge;
mod key_docs;
pub(crate) mod model;
mod policy;
mod printer;
mod spans;
#[cfg(feature = "stream")]
mod stream;
mod time;
mod validation;

use proc_macro2::{Group, Ident, Span, TokenStream};
use quote::ToTokens;

use self::attempt::AttemptBody;
use self::model::{Callee, Model};
use self::printer::Printer;
use crate::target::expression::Block;
use crate::target::function;
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
    // Keeps the user's own braces, because lints such as `dead_code` depend on them.
    let body = braces(code!(#attributes #(imports(model)) #content), block.span());
    model.function.with_body(&body)
}

/// `retrying!(keys, async { body })`
/// → `{ use …::macro_support as __retry; async { 'retry_call: loop { … async { body }.await … } } }`
///
/// The model was built from the block.
pub(crate) fn expression(model: &Model, block: &Block) -> TokenStream {
    let content = content(model, &block.body, block.body.stream());
    let retried = if block.is_async() {
        code!(__retry::opaque_future(#(block.with_content(content))))
    } else {
        content
    };
    // Spans everything the user wrote. Otherwise, lint fixes would replace the macro call with the block alone.
    braces(code!(#(imports(model)) #retried), Span::mixed_site()).into_token_stream()
}

fn imports(model: &Model) -> Code {
    code! {
        #(tokens::import(&model.arguments.krate()))
        #(key_docs::mentions(model))
    }
}

fn content(model: &Model, block: &Group, statements: TokenStream) -> Code {
    let (is_body, kept) = match &model.callee {
        Callee::Client(kept) => (false, kept.as_ref()),
        Callee::Body => (true, None),
    };
    let wrapped = WrappedBody::find(&model.function, &statements);
    if let Some(wrapped) = wrapped.filter(|_| is_body) {
        let user = inner_body(wrapped.block(), wrapped.block().stream());
        let attempted = if wrapped.is_async {
            AttemptBody::Async(user)
        } else {
            AttemptBody::Blocking(user)
        };
        let retried = retry_loop(model, wrapped.this.clone(), attempted);
        return wrapped.with_user_code(retried);
    }
    let body = inner_body(block, statements);
    let attempted = match model.delivery {
        Delivery::Direct if !model.function.is_async() => AttemptBody::Blocking(body),
        Delivery::Future if is_body => AttemptBody::Future(body, None),
        Delivery::BoxedFuture if is_body => {
            // An attempt's future may have a shorter lifetime than the function's, for example if it borrows the
            // attempt.
            let returned = model.function.return_type().cloned();
            let returned = returned.map(outcome::with_inferred_lifetime);
            AttemptBody::Future(body, returned.map(ToTokens::into_token_stream))
        }
        // In a decorator, the call of the client already awaits the client's future.
        _ => AttemptBody::Async(body),
    };
    let keep = kept.map(attempt::clone_retained);
    let retried = retry_loop(model, kept.map(|kept| kept.this.clone()), attempted);
    match model.delivery {
        Delivery::Direct => code!(#keep #retried),
        Delivery::Future => code!(#keep __retry::opaque_future(async move { #retried })),
        Delivery::BoxedFuture => code!(#keep __retry::Box::pin(async move { #retried })),
    }
}

/// The loop around the attempts. `this` replaces `self` in the user's code.
fn retry_loop(model: &Model, this: Option<Ident>, attempted: AttemptBody) -> Code {
    let is_async = !matches!(attempted, AttemptBody::Blocking(_));
    let printer = Printer {
        model,
        is_async: is_async || model.stream.is_some(),
        this,
    };
    match &model.stream {
        #[cfg(feature = "stream")]
        Some(stream) => printer.stream(stream, is_async, attempted),
        _ => printer.call_loop(printer.attempt(attempted)),
    }
}

/// The user's code in additional braces. They have the location of the user's braces, so that errors point there, and
/// call-site hygiene, so that `unused_braces` is silent and names resolve as written.
fn inner_body(block: &Group, statements: TokenStream) -> Group {
    braces(statements, Span::call_site().located_at(block.span()))
}
