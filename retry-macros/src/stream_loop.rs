//! Functions that return a stream: the key `stream`.
//!
//! A sync function's loop can only run while its stream is polled, so it stands in an `async` block that hands its
//! items to the stream one at a time. An async function awaits its loop, and the stream that it returns owns what the
//! last attempt opened, not the arguments, which a `BoxStream<'static, …>` must not borrow. Only `"resume"`, whose body
//! runs again after the function returned, takes the arguments along.

use proc_macro2::{Span, TokenStream};
use quote::quote_spanned;
use syn::spanned::Spanned;

use crate::outcome;
use crate::retry_loop::{Attempted, RetryLoop};
use crate::stream::{Mode, Stream};

/// The function's content: the loop, and the stream that it returns.
pub(crate) fn around(retry_loop: &RetryLoop, stream: &Stream, attempted: Attempted) -> TokenStream {
    let mixed = Span::mixed_site();
    let support = retry_loop.support();
    let awaits = !matches!(attempted, Attempted::Blocking(_));
    let mode = stream.mode.module();
    // A stream is polled, so that its loop can await even where the function can't.
    let retried = retry_loop.repeat(attempt(retry_loop, stream, attempted), true);
    if awaits && stream.mode != Mode::Resume {
        let returned = stream.returned(
            support,
            quote_spanned!(mixed=> #support::stream::#mode::into_stream(retry_outcome)),
        );
        let returned = if stream.in_result {
            quote_spanned! {mixed=>
                match retry_outcome {
                    ::core::result::Result::Ok(retry_value) => {
                        let retry_outcome = ::core::result::Result::Ok(retry_value);
                        ::core::result::Result::Ok(#returned)
                    }
                    ::core::result::Result::Err(retry_error) => ::core::result::Result::Err(retry_error),
                }
            }
        } else {
            returned
        };
        return quote_spanned! {mixed=>
            let retry_outcome = { #retried };
            #returned
        };
    }
    let item = &stream.item;
    let hand_over = quote_spanned! {mixed.located_at(item.span())=>
        #support::stream::hand_over::<#item>()
    };
    let returned = stream.returned(support, quote_spanned!(mixed=> retry_stream));
    let returned = match (stream.in_result, awaits) {
        (false, false) => returned,
        (true, false) => quote_spanned!(mixed=> ::core::result::Result::Ok(#returned)),
        (false, true) => quote_spanned! {mixed=>
            let retry_stream = #support::stream::arrived(retry_stream).await;
            #returned
        },
        (true, true) => quote_spanned! {mixed=>
            match #support::stream::opened(retry_stream).await {
                ::core::result::Result::Ok(retry_stream) => ::core::result::Result::Ok(#returned),
                ::core::result::Result::Err(retry_error) => ::core::result::Result::Err(retry_error),
            }
        },
    };
    quote_spanned! {mixed=>
        let (retry_giver, retry_taker) = #hand_over;
        let retry_stream = #support::stream::Retried::new(retry_taker, async move {
            let retry_outcome = { #retried };
            #support::stream::#mode::finish(retry_giver, retry_outcome).await
        });
        #returned
    }
}

/// Makes an attempt: binds `outcome`, and with a timeout `dropped`.
fn attempt(retry_loop: &RetryLoop, stream: &Stream, attempted: Attempted) -> TokenStream {
    let model = retry_loop.model;
    let support = retry_loop.support();
    let mixed = Span::mixed_site();
    let (item, failing) = (&stream.item, &model.failing);
    let patience = match &model.timeout {
        Some((timeout, span)) => {
            let timeout = retry_loop.user(timeout);
            let timer = retry_loop.timer();
            let from_timed_out = retry_loop.timed_out_conversion(*span);
            quote_spanned! {mixed=>
                #support::stream::patience::<#failing, _>(#timer, #support::timeout(#timeout), #from_timed_out)
            }
        }
        None => quote_spanned!(mixed=> #support::stream::endless::<#failing>()),
    };
    let is_blocking = matches!(attempted, Attempted::Blocking(_));
    let mutable = (!is_blocking).then(|| quote_spanned!(mixed=> mut));
    let once = retry_loop.once(attempted);
    let opened = if is_blocking {
        quote_spanned!(mixed=> ::core::result::Result::Ok(#once))
    } else {
        quote_spanned!(mixed=> #support::stream::Patience::wait(&mut retry_patience, #once).await)
    };
    let one_error = stream.in_result.then(|| {
        let place = outcome::error_span(&model.outcome);
        let support = retry_loop.support_at(place);
        let flatten =
            quote_spanned!(mixed.located_at(place)=> #support::stream::flatten::<#failing, _, _>);
        quote_spanned!(mixed=> let retry_opened = #flatten(retry_opened);)
    });
    let mode = stream.mode.module();
    let (progress, arguments) = if stream.mode == Mode::Resume {
        let value = outcome::value_span(&stream.item);
        let support = retry_loop.support_at(value);
        let progress = quote_spanned! {mixed.located_at(value)=>
            #support::stream::resume::progress::<#item>()
        };
        (
            Some(quote_spanned!(mixed=> let mut retry_progress = #progress;)),
            Some(quote_spanned!(mixed=> , &retry_giver, &mut retry_progress)),
        )
    } else {
        (None, None)
    };
    let dropped = model.timeout.is_some().then(
        || quote_spanned!(mixed=> let retry_dropped = #support::stream::is_dropped(&retry_ended);),
    );
    quote_spanned! {mixed=>
        #progress
        let #mutable retry_patience = #patience;
        #[allow(clippy::redundant_closure_call)]
        let retry_opened = #opened;
        #one_error
        let retry_ended = match retry_opened {
            ::core::result::Result::Ok(retry_stream) => {
                #support::stream::#mode::attempt(retry_stream, retry_patience #arguments).await
            }
            ::core::result::Result::Err(retry_stopped) => ::core::result::Result::Err(retry_stopped),
        };
        #dropped
        let mut retry_outcome = #support::stream::outcome::<#failing, _>(retry_ended);
    }
}
