//! Functions that return a stream: the key `stream`.
//!
//! A sync function's loop can only run while its stream is polled, so it stands in an `async` block that hands its
//! items to the stream one at a time. An async function awaits its loop, and the stream that it returns owns what the
//! last attempt opened, not the arguments, which a `BoxStream<'static, …>` must not borrow. Only `"resume"`, whose body
//! runs again after the function returned, takes the arguments along.

use proc_macro2::{Ident, Span, TokenStream};
use quote::quote_spanned;
use syn::Type;
use syn::spanned::Spanned;

use crate::argument::Value;
use crate::check;
use crate::function::Function;
use crate::key::Key;
use crate::outcome;
use crate::parse::Arguments;
use crate::retry_loop::{Attempted, RetryLoop};

/// What is done with the stream that a function returns.
pub(crate) struct Stream {
    mode: Mode,
    /// What it yields, without `impl Trait`.
    pub(crate) item: Type,
    /// The stream's type, where it is boxed.
    boxed: Option<Type>,
    in_result: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Mode {
    First,
    Buffer,
    Resume,
}

impl Mode {
    fn of(arguments: &Arguments) -> Option<Self> {
        match arguments.value(Key::Stream)? {
            Value::Word("buffer", _) => Some(Self::Buffer),
            Value::Word("resume", _) => Some(Self::Resume),
            _ => Some(Self::First),
        }
    }

    /// The module of the runtime.
    fn module(self) -> Ident {
        let name = match self {
            Self::First => "first",
            Self::Buffer => "buffer",
            Self::Resume => "resume",
        };
        Ident::new(name, Span::mixed_site())
    }
}

impl Stream {
    pub(crate) fn new(arguments: &Arguments, outcome: &Type) -> Option<Self> {
        let mode = Mode::of(arguments)?;
        let streamed = outcome::stream(outcome)?;
        Some(Self {
            mode,
            item: outcome::erase_impl_trait(streamed.item),
            boxed: streamed
                .is_boxed
                .then(|| outcome::erase_impl_trait(streamed.stream)),
            in_result: streamed.in_result,
        })
    }

    /// In `"resume"`, the errors and the items that the body and the end of the call see.
    pub(crate) fn history(&self, support: &TokenStream) -> Option<TokenStream> {
        let item = &self.item;
        (self.mode == Mode::Resume).then(|| {
            quote_spanned! {Span::mixed_site()=>
                #support::stream::resume::history::<#item>()
            }
        })
    }

    /// After a failure that is retried.
    pub(crate) fn keep_progress(&self, support: &TokenStream) -> Option<TokenStream> {
        (self.mode == Mode::Resume).then(|| {
            quote_spanned! {Span::mixed_site()=>
                #support::stream::resume::keep(&mut retry_history, retry_progress);
            }
        })
    }

    /// A condition, and what joins it to another.
    pub(crate) fn made_no_progress(&self, support: &TokenStream) -> Option<TokenStream> {
        (self.mode == Mode::Resume).then(|| {
            quote_spanned! {Span::mixed_site()=>
                #support::stream::resume::is_without_items(&retry_progress) &&
            }
        })
    }
}

/// The rules of the key, and that no bare stream is without it.
pub(crate) fn check(
    arguments: &Arguments,
    outcome: &Type,
    function: &Function,
    errors: &mut Vec<syn::Error>,
) {
    let streamed = outcome::stream(outcome);
    let Some(key) = arguments.get(Key::Stream) else {
        if streamed.is_some_and(|streamed| !streamed.in_result) {
            let name = &function.signature.ident;
            let message = format!(
                "`{name}` returns a stream: say `stream = \"first\"` to retry until its first item arrives, `stream = \"buffer\"` to retry it as a whole, or `stream = \"resume\"` to go on after an error"
            );
            errors.push(syn::Error::new_spanned(outcome, message));
        }
        return;
    };
    let mut refuse = |place: Span, message: &str| errors.push(syn::Error::new(place, message));
    if !cfg!(feature = "stream") {
        refuse(
            key.ident.span(),
            "the key `stream` needs the feature `stream` of `retry-runtime`: enable it in Cargo.toml",
        );
    }
    if let Some(streamed) = &streamed
        && check::is_no_result(streamed.item)
    {
        refuse(
            streamed.item.span(),
            "`stream` needs a stream of `Result`s, whose `Err` is a failure: yield `Result<_, _>`, or remove `#[retry]`",
        );
    }
    if let Some(streamed) = &streamed
        && Mode::of(arguments) == Some(Mode::Resume)
        && streamed.is_static
        && function.borrows()
    {
        refuse(
            streamed.stream.span(),
            "a stream under `stream = \"resume\"` keeps the arguments, to run the body again, so it can't be `'static` beside a borrowed one: return `BoxStream<'_, …>` or a sync `fn … -> impl Stream`, or take the arguments by value",
        );
    }
    if streamed.is_none() {
        refuse(
            key.ident.span(),
            "`stream` is for functions that return a stream, written as `impl Stream<Item = Result<…>>`, `Pin<Box<dyn Stream<Item = Result<…>>>>` or `BoxStream<'_, Result<…>>`, also within a `Result`: return one, or remove `stream`",
        );
    }
    if let Some(until) = arguments.get(Key::Until) {
        refuse(
            until.ident.span(),
            "`until` looks at the value of a whole attempt, which a stream has not: remove it, and yield an `Err` from the stream for an item that won't do",
        );
    }
    if let Some(fallback) = arguments.get(Key::Fallback) {
        refuse(
            fallback.ident.span(),
            "`fallback` can't stand in for a stream: remove it, and chain another stream to the one that is returned",
        );
    }
    if Mode::of(arguments) == Some(Mode::Resume) && arguments.get(Key::Attempt).is_none() {
        refuse(
            key.span,
            "`stream = \"resume\"` needs `attempt = attempt`: the body asks `attempt.yielded()` or `attempt.last_item()` where to go on, or it would begin anew",
        );
    }
}

/// The function's content: the loop, and the stream that it returns.
pub(crate) fn around(retry_loop: &RetryLoop, stream: &Stream, attempted: Attempted) -> TokenStream {
    let mixed = Span::mixed_site();
    let support = retry_loop.support();
    let awaits = !matches!(attempted, Attempted::Blocking(_));
    let mode = stream.mode.module();
    let retried = retry_loop.around(attempted);
    if awaits && stream.mode != Mode::Resume {
        let returned = stream.returned(
            &support,
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
    let returned = stream.returned(&support, quote_spanned!(mixed=> retry_stream));
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

impl Stream {
    /// The stream as the function's type has it.
    fn returned(&self, support: &TokenStream, stream: TokenStream) -> TokenStream {
        match &self.boxed {
            Some(boxed) => quote_spanned! {Span::mixed_site()=>
                {
                    let retry_boxed: #boxed = #support::Box::pin(#stream);
                    retry_boxed
                }
            },
            None => stream,
        }
    }
}

/// Makes an attempt: binds `outcome`, and with a timeout `dropped`.
pub(crate) fn attempt(
    retry_loop: &RetryLoop,
    stream: &Stream,
    attempted: Attempted,
) -> TokenStream {
    let model = retry_loop.model;
    let support = retry_loop.support();
    let mixed = Span::mixed_site();
    let (item, failing) = (&stream.item, &model.failing);
    let patience = match &model.timeout {
        Some((timeout, span)) => {
            let timeout = retry_loop.user(timeout);
            let timer = retry_loop.user(&model.timer);
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
        let retry_outcome = #support::stream::outcome::<#failing, _>(retry_ended);
    }
}
