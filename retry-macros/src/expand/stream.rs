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

use crate::attribute::word::Mode;
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
                        __retry::Err(retry_error) => __retry::Err(retry_error),
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
                    __retry::Err(retry_error) => __retry::Err(retry_error),
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
        let failing = &model.failing;
        let span = self.attempt_span();
        let once = self.once(attempted);
        let (mutable, opened) = match opening {
            Asyncness::Blocking => (None, ours!(__retry::Ok(#(self.run(once))))),
            Asyncness::Async => (
                Some(ours!(mut)),
                self.awaited(ours!(__retry::stream::Patience::wait(&mut retry_patience, #once))),
            ),
        };
        let one_error = (stream.part == StreamPart::Value).then(|| {
            let span = outcome::error_span(&model.outcome);
            let flatten = ours_at!(span=> __retry::stream::flatten::<#failing, _, _>);
            ours!(let retry_opened = #flatten(retry_opened);)
        });
        let mode = module(stream);
        let (progress, arguments) = self.mode_arguments(stream);
        let attempt = if_else(
            model.falls_back(),
            ours!(attempt_or_fallback),
            ours!(attempt),
        );
        let read = self.awaited(
            ours!(__retry::stream::#mode::#attempt(retry_stream, retry_patience #arguments)),
        );
        ours! {
            #span
            #progress
            // What was opened may borrow the attempt, and is gone before the next one is counted.
            let retry_ended = {
                let #mutable retry_patience = #(self.patience());
                let retry_opened = #opened;
                #one_error
                match retry_opened {
                    __retry::Ok(retry_stream) => #read,
                    __retry::Err(retry_stopped) => __retry::Err(retry_stopped),
                }
            };
            #?(model.may_drop()) { let retry_dropped = __retry::stream::is_dropped(&retry_ended); }
            #?(model.minds_items()) { let retry_yielded = __retry::stream::has_yielded(&retry_ended); }
            let mut retry_outcome = __retry::stream::outcome::<#failing, _>(retry_ended);
        }
    }

    /// What an attempt needs in its mode: statements before it, and further arguments.
    fn mode_arguments(&self, stream: &Stream) -> (Option<Code>, Option<Code>) {
        let item = &stream.item;
        match stream.mode {
            Mode::First => {
                let first = match self.model.expr(Key::First) {
                    Some(first) => {
                        let first_item = ours_at!(first.span()=> __retry::stream::first::counts::<#item, _>(#(self.user(first))));
                        Self::contained(first, first_item)
                    }
                    None => ours!(__retry::stream::first::any),
                };
                (None, Some(ours!(, #first)))
            }
            Mode::Buffer => (None, None),
            Mode::Resume => {
                let span = outcome::value_span(&stream.item);
                let progress = ours_at!(span=> __retry::stream::resume::progress::<#item>);
                (
                    Some(ours!(let mut retry_progress = #progress(#(self.now_at_start()));)),
                    Some(ours!(, &retry_giver, &mut retry_progress)),
                )
            }
        }
    }

    /// How long items of a stream may take.
    fn patience(&self) -> Code {
        let limit = |key| {
            let timeout = self.model.arguments.get(key)?;
            Some(self.attempt_limit(timeout))
        };
        let first = limit(Key::Timeout).unwrap_or_else(|| ours!(__retry::None));
        self.patience_of(match limit(Key::IdleTimeout) {
            Some(idle) => ours!([#first, #idle]),
            None => ours!({ let retry_limit = #first; [retry_limit, retry_limit] }),
        })
    }

    /// Patience with these limits, for the first item and for those that follow.
    fn patience_of(&self, limits: Code) -> Code {
        let failing = &self.model.failing;
        let timeouts = [Key::Timeout, Key::IdleTimeout].map(|key| self.model.arguments.get(key));
        let Some(timeout) = timeouts[0].or(timeouts[1]) else {
            return ours!(__retry::stream::endless::<#failing>());
        };
        let (timer, from_timed_out) = (self.timer(), Self::timed_out_conversion(timeout));
        ours!(__retry::stream::patience::<#failing, _>(#timer, #limits, #from_timed_out))
    }

    /// Reads the stream that a fallback returned as an attempt's is read. It is no attempt, so no timeout ends it.
    pub(crate) fn read_fallen(&self, stream: &Stream, span: Span) -> Code {
        let item = &stream.item;
        let failing = &self.model.failing;
        let patience = self.patience_of(ours!([__retry::None; 2]));
        let opened = ours_at!(span=> __retry::stream::of_same_items::<#item, _>(retry_stream));
        // All of it there, or an error about the stream's type would appear twice, at two places.
        ours_at! {span=>
            let retry_fallen = match retry_fallen {
                __retry::Ok(retry_stream) => __retry::stream::outcome::<#failing, _>(
                    __retry::stream::#(module(stream))::fallen(#opened, #patience).await,
                ),
                __retry::Err(retry_error) => __retry::Err(retry_error),
            };
        }
    }
}

/// The module of the runtime, which is called as the word is.
fn module(stream: &Stream) -> Ident {
    Ident::new(stream.mode.word(), Span::mixed_site())
}
