//! The model as a function: the loop around the attempts, put where the user's code stands.

use proc_macro2::{Delimiter, Group, Span, TokenStream};
use quote::{ToTokens, quote};

use crate::body::{self, Inner};
use crate::function::{self, Body, Rewritten};
use crate::model::Model;
use crate::outcome::Delivery;
use crate::retry_loop::{Attempted, RetryLoop};
#[cfg(feature = "stream")]
use crate::stream_loop;

pub(crate) fn expand(model: &Model) -> TokenStream {
    let Body::Block(block) = &model.function.body else {
        return TokenStream::new();
    };
    let (attributes, statements) = function::inner_attributes(block.stream());
    let content = content(model, block, statements);
    let mut body = Group::new(Delimiter::Brace, quote!(#attributes #content));
    // The user's own braces: lints such as `dead_code` look at them.
    body.set_span(block.span());
    Rewritten {
        function: &model.function,
        body,
    }
    .to_token_stream()
}

fn content(model: &Model, block: &Group, statements: TokenStream) -> TokenStream {
    let mut inner = |inner: Inner| {
        let retry_loop = RetryLoop {
            model,
            this: inner.this,
        };
        let body = inner_body(inner.block, inner.block.stream());
        let attempted = if inner.awaits {
            Attempted::Async(body)
        } else {
            Attempted::Blocking(body)
        };
        repeat(&retry_loop, attempted)
    };
    if model.owned.is_some() {
        // What a decorator calls is a future where anything is.
        return decorated(model, block);
    }
    if let Some(content) = body::replace_generated(&statements, &mut inner) {
        return content;
    }
    if model.delivery != Delivery::Direct
        && let Some(content) = body::replace_lone_async(&statements, &mut inner)
    {
        return content;
    }
    let retry_loop = RetryLoop { model, this: None };
    let body = inner_body(block, statements);
    match model.delivery {
        Delivery::Direct if model.function.is_async() => {
            repeat(&retry_loop, Attempted::Async(body))
        }
        Delivery::Direct => repeat(&retry_loop, Attempted::Blocking(body)),
        Delivery::Future => {
            let retried = repeat(&retry_loop, Attempted::Future(body, None));
            let krate = &model.krate;
            quote!(#krate::macro_support::lazy(async move { #retried }))
        }
        Delivery::BoxedFuture => {
            let returned = model.function.return_type().map(ToTokens::to_token_stream);
            let retried = repeat(&retry_loop, Attempted::Future(body, returned));
            let krate = &model.krate;
            quote!(#krate::macro_support::Box::pin(async move { #retried }))
        }
    }
}

fn decorated(model: &Model, block: &Group) -> TokenStream {
    let retry_loop = RetryLoop { model, this: None };
    let krate = &model.krate;
    let call = inner_body(block, block.stream());
    match model.delivery {
        Delivery::Direct if model.function.is_async() => {
            repeat(&retry_loop, Attempted::Async(call))
        }
        Delivery::Direct => repeat(&retry_loop, Attempted::Blocking(call)),
        Delivery::Future => {
            let retried = retry_loop.around(Attempted::Async(call));
            quote!(#krate::macro_support::lazy(async move { #retried }))
        }
        Delivery::BoxedFuture => {
            let retried = retry_loop.around(Attempted::Async(call));
            quote!(#krate::macro_support::Box::pin(async move { #retried }))
        }
    }
}

/// What the function does with attempts of that kind.
fn repeat(retry_loop: &RetryLoop, attempted: Attempted) -> TokenStream {
    match &retry_loop.model.stream {
        #[cfg(feature = "stream")]
        Some(stream) => stream_loop::around(retry_loop, stream, attempted),
        _ => retry_loop.around(attempted),
    }
}

/// The user's code in braces of its own. They are located where the user's are, so that errors point
/// there, and come from the call site, so that `unused_braces` is silent and names resolve as written.
fn inner_body(block: &Group, statements: TokenStream) -> Group {
    let mut body = Group::new(Delimiter::Brace, statements);
    body.set_span(Span::call_site().located_at(block.span()));
    body
}
