//! Functions that return a stream: the key `stream`.
//!
//! A sync function's loop can only run while its stream is polled, so it stands in an `async` block that hands its
//! items to the stream one at a time. An async function awaits its loop, and the stream that it returns owns what the
//! last attempt opened, not the arguments, which a `BoxStream<'static, …>` must not borrow. Only `"resume"`, whose body
//! runs again after the function returned, takes the arguments along.

use proc_macro2::{Ident, Span};
use retry_vocabulary::key::Key;
use retry_vocabulary::word::Word;
use syn::spanned::Spanned;

use crate::attribute::argument::Mode;
use crate::expand::attempt::Attempted;
use crate::expand::model::Stream;
use crate::expand::printer::Printer;
use crate::target::function::Asyncness;
use crate::target::outcome::{self, StreamPart};
use crate::tokens::{Code, if_else, ours, ours_at};

impl Printer<'_> {
    /// The function's content: the loop, and the stream that it returns. The loop can await even where the function
    /// can't, since a stream is polled; `opening` says whether the function can.
    pub(crate) fn stream(&self, stream: &Stream, opening: Asyncness, attempted: Attempted) -> Code {
        let mode = module(stream);
        let attempt = self.opening(stream, opening, attempted);
        let retried = self.call_loop(attempt);
        if opening == Asyncness::Async && stream.mode != Mode::Resume {
            let read = ours!(__retry::stream::#mode::into_stream(retry_outcome));
            let returned = Self::returned(stream, read);
            let returned = match stream.part {
                StreamPart::Outcome => returned,
                StreamPart::Value => ours! {
                    match retry_outcome {
                        __retry::Ok(retry_value) => {
                            let retry_outcome = __retry::Ok(retry_value);
                            __retry::Ok(#returned)
                        }
                        __retry::Err(retry_error) => __retry::Err(#(self.error_of_opening())),
                    }
                },
            };
            return ours! {
                let retry_outcome = { #retried };
                #returned
            };
        }
        let item = &stream.item;
        let hand_over = ours_at!(item.span()=> __retry::stream::hand_over::<#item>());
        let returned = Self::returned(stream, ours!(retry_stream));
        let returned = match (stream.part, opening) {
            (StreamPart::Outcome, Asyncness::Blocking) => returned,
            (StreamPart::Value, Asyncness::Blocking) => ours!(__retry::Ok(#returned)),
            (StreamPart::Outcome, Asyncness::Async) => ours! {
                let retry_stream = __retry::stream::arrived(retry_stream).await;
                #returned
            },
            (StreamPart::Value, Asyncness::Async) => ours! {
                match __retry::stream::opened(retry_stream).await {
                    __retry::Ok(retry_stream) => __retry::Ok(#returned),
                    __retry::Err(retry_error) => __retry::Err(#(self.error_of_opening())),
                }
            },
        };
        ours! {
            let (retry_giver, retry_taker) = #hand_over;
            let retry_stream = __retry::stream::Retried::new(retry_taker, async move {
                let retry_outcome = { #retried };
                __retry::stream::#mode::finish(retry_giver, retry_outcome).await
            });
            #returned
        }
    }

    /// The stream as the function's type has it.
    fn returned(stream: &Stream, returned: Code) -> Code {
        match &stream.boxed {
            Some(boxed) => ours! {
                {
                    let retry_boxed: #boxed = __retry::Box::pin(#returned);
                    retry_boxed
                }
            },
            None => returned,
        }
    }

    /// Makes an attempt: binds `retry_outcome`, and with a timeout `retry_dropped`.
    fn opening(&self, stream: &Stream, opening: Asyncness, attempted: Attempted) -> Code {
        let model = self.model;
        let item = &stream.item;
        let is_resumed = stream.mode == Mode::Resume;
        let progress = {
            let span = outcome::value_span(item);
            let progress = ours_at!(span=> __retry::stream::resume::progress::<#item>);
            ours!(let mut retry_progress = #progress(#(self.now()));)
        };
        let passed_on = self.awaited(ours! {
            __retry::stream::resume::pass_on(retry_started, &retry_giver, &mut retry_progress)
        });
        // To what calls share, the attempt has succeeded before its items are passed on: a server that breaks off later was
        // up and took the request, and what holds a place or a trial call for hours keeps others out.
        let resumed = ours! {
            match retry_started {
                __retry::Ok(retry_started) => {
                    #(self.answered())
                    #?(model.is_paid()) { retry_call.credit(); }
                    #passed_on
                }
                __retry::Err(retry_stopped) => __retry::Err(retry_stopped),
            }
        };
        ours! {
            #(self.attempt_span())
            #?(is_resumed) { #progress }
            // What was opened may borrow the attempt, and is gone before the next one is counted.
            let retry_ended = {
                #(self.patience_declaration())
                #(self.start_stream(stream, opening, attempted))
                #(if_else(is_resumed, resumed, ours!(retry_started)))
            };
            #?(model.may_drop()) { let retry_dropped = __retry::stream::is_dropped(&retry_ended); }
            #?(model.minds_items()) { let retry_yielded = __retry::stream::has_yielded(&retry_ended); }
            let mut retry_outcome = __retry::stream::outcome::<#(&model.failing), _>(retry_ended);
        }
    }

    /// Opens the stream and reads it until the attempt has succeeded: binds `retry_started`.
    fn start_stream(&self, stream: &Stream, opening: Asyncness, attempted: Attempted) -> Code {
        let model = self.model;
        let failing = &model.failing;
        let once = self.once(attempted);
        // What a sync function's body borrows need not be `Send`, since it is not held while the stream is read.
        let (opens, opened) = match opening {
            Asyncness::Blocking => (
                Some(ours!(let retry_opened = #(self.run(once));)),
                ours!(retry_opened),
            ),
            Asyncness::Async => (None, ours!(#once.await)),
        };
        let opened = match stream.part {
            StreamPart::Outcome => opened,
            StreamPart::Value => {
                ours!(__retry::stream::or_failed(#opened, #(self.error_types()).0)?)
            }
        };
        let boxed = if_else(model.falls_back(), ours!(attempted), ours!(boxed));
        let read = match stream.mode {
            Mode::Buffer => ours!(buffer),
            Mode::First | Mode::Resume => ours!(first),
        };
        let started = ours! {
            async {
                let retry_stream = __retry::stream::#read::#boxed(#opened);
                __retry::stream::#read::attempt(retry_stream, retry_patience, #(self.counts(stream))).await
            }
        };
        let started = match model.arguments.get(Key::Timeout) {
            Some(timeout) => ours! {
                __retry::stream::in_time::<#failing, _>(
                    #(self.timer()),
                    retry_limit,
                    #(Self::timed_out_conversion(timeout)),
                    #started,
                )
            },
            None => started,
        };
        let started = self.awaited(started);
        ours! {
            #opens
            let retry_started = #started;
        }
    }

    /// The error that the function returns for `retry_error`, an item's. Only that itself says what an `impl Trait` stands
    /// for.
    fn error_of_opening(&self) -> Code {
        if outcome::is_inferred(&outcome::without_value(&self.model.outcome)) {
            ours!(retry_error)
        } else {
            ours!((#(self.error_types()).1)(retry_error))
        }
    }

    /// The functions that convert an opening's error to the items' error and back. Printed with the same tokens for both
    /// directions, located at the opening's error, so that rustc reports a difference between the types only once.
    fn error_types(&self) -> Code {
        let span = outcome::error_span(&self.model.outcome);
        ours_at!(span=> __retry::stream::error_types::<#(&self.model.failing), _>())
    }

    /// The function that says which item is the first that counts.
    fn counts(&self, stream: &Stream) -> Code {
        let item = &stream.item;
        match self.model.expr(Key::First) {
            Some(first) => {
                let first_item = ours_at!(first.span()=> __retry::stream::first::counts::<#item, _>(#(self.user(first))));
                Self::contained(first, first_item)
            }
            None => ours!(__retry::stream::first::any),
        }
    }

    /// Declares how long the attempt may take until it succeeds, and how long each item after another.
    fn patience_declaration(&self) -> Code {
        let limit = |key| {
            let timeout = self.model.arguments.get(key)?;
            Some(self.attempt_limit(timeout))
        };
        let timeout = limit(Key::Timeout).map(|timeout| ours!(let retry_limit = #timeout;));
        let idle = limit(Key::IdleTimeout).unwrap_or_else(|| ours!(retry_limit));
        ours! {
            #timeout
            let retry_patience = #(self.patience(idle));
        }
    }

    /// Patience with that limit.
    fn patience(&self, idle: Code) -> Code {
        let failing = &self.model.failing;
        let timeouts = [Key::Timeout, Key::IdleTimeout].map(|key| self.model.arguments.get(key));
        let Some(timeout) = timeouts[0].or(timeouts[1]) else {
            return ours!(__retry::stream::endless::<#failing>());
        };
        let (timer, from_timed_out) = (self.own_timer(), Self::timed_out_conversion(timeout));
        ours!(__retry::stream::patience::<#failing, _>(#timer, #idle, #from_timed_out))
    }

    /// Reads the stream that a fallback returned as an attempt's is read. It is no attempt, so no timeout ends it.
    pub(crate) fn read_fallen(&self, stream: &Stream, span: Span) -> Code {
        let item = &stream.item;
        let failing = &self.model.failing;
        let patience = self.patience(ours!(__retry::None));
        let opened = ours_at!(span=> __retry::stream::of_same_items::<#item, _>(retry_stream));
        let read = module(stream);
        // All of it there, or an error about the stream's type would appear twice, at two places.
        ours_at! {span=>
            let retry_outcome = match retry_outcome {
                __retry::Ok(retry_stream) => {
                    let retry_stream = __retry::stream::#read::fallen(#opened);
                    __retry::stream::outcome::<#failing, _>(
                        __retry::stream::#read::attempt(retry_stream, #patience, __retry::stream::first::any).await,
                    )
                }
                __retry::Err(retry_error) => __retry::Err(retry_error),
            };
        }
    }
}

/// The module of the runtime, which is called as the word is.
fn module(stream: &Stream) -> Ident {
    Ident::new(stream.mode.word(), Span::mixed_site())
}
