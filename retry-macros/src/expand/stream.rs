//! Functions that return a stream: the key `stream`.
//!
//! The loop of a sync function can only run while its stream is polled. So the loop is in an `async` block that passes
//! items to the stream one at a time. An async function awaits its loop. The stream that it returns owns the last
//! attempt's stream but not the arguments, which a `BoxStream<'static, …>` must not borrow. Only `"resume"`, which runs
//! the body again after the function has returned, also keeps the arguments.

use proc_macro2::{Ident, Span};
use retry_vocabulary::key::Key;
use retry_vocabulary::word::Word;
use syn::spanned::Spanned;

use crate::attribute::argument::{Mode, keys};
use crate::expand::attempt::AttemptBody;
use crate::expand::model::Stream;
use crate::expand::printer::Printer;
use crate::target::outcome::{self, StreamPart};
use crate::tokens::{Code, if_else, ours, ours_at};

impl Printer<'_> {
    /// The body of the function: the loop, and the stream that it returns. The loop can always await, because a stream
    /// is polled. `is_async` is true if the function can await, too.
    pub(crate) fn stream(&self, stream: &Stream, is_async: bool, attempted: AttemptBody) -> Code {
        let mode = mode_module(stream);
        let attempt = self.stream_attempt(stream, is_async, attempted);
        let retried = self.call_loop(attempt);
        if is_async && stream.mode != Mode::Resume {
            let read = ours!(__retry::stream::#mode::into_stream(retry_outcome));
            let read = Self::boxed_stream(stream, read);
            let again = ours!(let retry_outcome = __retry::Ok(retry_value););
            let returned = match stream.part {
                StreamPart::Outcome => read,
                StreamPart::Value => self.convert_opening(
                    &ours!(retry_outcome),
                    &ours!(retry_value),
                    &ours!({ #again __retry::Ok(#read) }),
                ),
            };
            return ours!(let retry_outcome = { #retried }; #returned);
        }
        let item = &stream.item;
        let hand_over = ours_at!(item.span()=> __retry::stream::hand_over::<#item>());
        let name = ours!(retry_stream);
        let boxed = Self::boxed_stream(stream, name.clone());
        let returned = match (stream.part, is_async) {
            (StreamPart::Outcome, false) => boxed,
            (StreamPart::Value, false) => ours!(__retry::Ok(#boxed)),
            (StreamPart::Outcome, true) => {
                ours!(let retry_stream = __retry::stream::arrived(retry_stream).await; #boxed)
            }
            (StreamPart::Value, true) => {
                let opened = ours!(__retry::stream::opened(retry_stream).await);
                self.convert_opening(&opened, &name, &ours!(__retry::Ok(#boxed),))
            }
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

    /// Converts a `Result` with the items' error type to the function's.
    fn convert_opening(&self, opened: &Code, value: &Code, returned: &Code) -> Code {
        ours! {
            match #opened {
                __retry::Ok(#value) => #returned
                __retry::Err(retry_error) => __retry::Err(#(self.error_of_opening())),
            }
        }
    }

    /// The stream, boxed if the function returns a boxed stream.
    fn boxed_stream(stream: &Stream, returned: Code) -> Code {
        let Some(boxed) = &stream.boxed else {
            return returned;
        };
        ours! {
            { let retry_boxed: #boxed = __retry::Box::pin(#returned); retry_boxed }
        }
    }

    /// Makes an attempt. Binds `retry_outcome` and, with a timeout, `retry_dropped`.
    fn stream_attempt(&self, stream: &Stream, is_async: bool, attempted: AttemptBody) -> Code {
        let model = self.model;
        let item = &stream.item;
        let is_resumed = stream.mode == Mode::Resume;
        let progress = {
            let value = outcome::value_of_result(item).unwrap_or(item);
            let span = value.span();
            let progress = ours_at!(span=> __retry::stream::resume::progress::<#item>);
            ours!(let mut retry_progress = #progress(#(self.now()));)
        };
        let passed_on = self.await_future(ours! {
            __retry::stream::resume::pass_on(retry_started, &retry_giver, &mut retry_progress)
        });
        // For the breaker, limiter and budget, the attempt succeeds before its items are passed on: a server that
        // disconnects later was up and accepted the request, and a slot or a trial call held for hours would block
        // other calls.
        let resumed = ours! {
            match retry_started {
                __retry::Ok(retry_started) => {
                    #(self.report_response())
                    #?(model.has(&[Key::Budget])) { retry_call.credit(); }
                    #passed_on
                }
                __retry::Err(retry_stopped) => __retry::Err(retry_stopped),
            }
        };
        ours! {
            #(self.attempt_span())
            #?(is_resumed) { #progress }
            // The opened stream may borrow the attempt, so it is dropped before the next attempt starts.
            let retry_ended = {
                #(self.declare_limits())
                #(self.start_stream(stream, is_async, attempted))
                #(if_else(is_resumed, resumed, ours!(retry_started)))
            };
            #?(model.can_drop_attempts()) { let retry_dropped = __retry::stream::is_dropped(&retry_ended); }
            #?(model.yielding_is_ambiguous()) { let retry_yielded = __retry::stream::has_yielded(&retry_ended); }
            let mut retry_outcome = __retry::stream::outcome::<#(&model.err_type), _>(retry_ended);
        }
    }

    /// Opens the stream and reads it until the attempt has succeeded. Binds `retry_started`.
    fn start_stream(&self, stream: &Stream, is_async: bool, attempted: AttemptBody) -> Code {
        let model = self.model;
        let err_type = &model.err_type;
        let once = self.run_once(attempted);
        // A sync function's body ends before the stream is read, so its borrows need not be `Send`.
        let (opens, opened) = if is_async {
            (Code::new(), ours!(#once.await))
        } else {
            let opens = ours!(let retry_opened = #(self.run_blocking(once)););
            (opens, ours!(retry_opened))
        };
        let opened = match stream.part {
            StreamPart::Outcome => opened,
            StreamPart::Value => {
                ours!(__retry::stream::or_failed(#opened, #(self.error_types()).0)?)
            }
        };
        let has_fallback = model.has(&[Key::Fallback]);
        let boxed = if_else(has_fallback, ours!(attempted), ours!(boxed));
        let read = match stream.mode {
            Mode::Buffer => ours!(buffer),
            Mode::First | Mode::Resume => ours!(first),
        };
        let started = ours! {
            async {
                let retry_stream = __retry::stream::#read::#boxed(#opened);
                __retry::stream::#read::attempt(retry_stream, retry_patience, #(self.counts_as_first(stream))).await
            }
        };
        let limit = model.has(&[Key::Timeout]).then(|| ours!(retry_limit));
        let started = match model.attempt_timeout() {
            Some(timeout) => ours! {
                __retry::stream::in_time::<#err_type, _>(
                    #(self.timer()), #(self.attempt_limit(limit)), #(Self::timed_out_conversion(timeout)), #started,
                )
            },
            None => started,
        };
        let started = self.await_future(started);
        ours!(#opens let retry_started = #started;)
    }

    /// Converts `retry_error`, of the items' error type, to the function's error type. An `impl Trait` is only known
    /// from the value itself.
    fn error_of_opening(&self) -> Code {
        let is_inferred = outcome::is_inferred(&outcome::without_value(&self.model.outcome));
        let converted = ours!((#(self.error_types()).1)(retry_error));
        if_else(is_inferred, ours!(retry_error), converted)
    }

    /// Functions that convert the opening's error to the items' error and back. Both directions use the same tokens,
    /// located at the opening's error, so that rustc reports a difference between the types only once.
    fn error_types(&self) -> Code {
        let span = outcome::error_span(&self.model.outcome);
        ours_at!(span=> __retry::stream::error_types::<#(&self.model.err_type), _>())
    }

    /// The function that decides which item counts as the first.
    fn counts_as_first(&self, stream: &Stream) -> Code {
        let item = &stream.item;
        match self.model.expr(Key::First) {
            Some(first) => {
                let first_item = ours_at!(first.span()=> __retry::stream::first::counts::<#item, _>(#(self.user_expr(first))));
                Self::isolate(first, first_item)
            }
            None => ours!(__retry::stream::first::any),
        }
    }

    /// Declares the time limits until the attempt succeeds, and between items.
    fn declare_limits(&self) -> Code {
        let keys = [Key::Timeout, Key::IdleTimeout];
        let limits = keys.map(|key| self.model.arguments.get(key));
        let [timeout, idle] = limits.map(|limit| limit.map(|limit| self.limit_of(limit)));
        ours! {
            #(timeout.map(|timeout| ours!(let retry_limit = #timeout;)))
            let retry_patience = #(self.idle_limit(idle.unwrap_or(ours!(retry_limit))));
        }
    }

    /// The time limit between items.
    fn idle_limit(&self, idle: Code) -> Code {
        let err_type = &self.model.err_type;
        let timeout = self.model.arguments.first(&keys![Timeout IdleTimeout]);
        let Some(timeout) = timeout else {
            return ours!(__retry::stream::endless::<#err_type>());
        };
        let (timer, from_timed_out) = (self.own_timer(), Self::timed_out_conversion(timeout));
        ours!(__retry::stream::patience::<#err_type, _>(#timer, #idle, #from_timed_out))
    }

    /// Reads the stream that a fallback returned like an attempt's stream, but without a timeout.
    pub(crate) fn read_fallback(&self, stream: &Stream, span: Span) -> Code {
        let item = &stream.item;
        let err_type = &self.model.err_type;
        let patience = self.idle_limit(ours!(__retry::None));
        let opened = ours_at!(span=> __retry::stream::of_same_items::<#item, _>(retry_stream));
        let read = mode_module(stream);
        // All tokens have the same span, because otherwise an error about the stream's type would be reported twice.
        ours_at! {span=>
            let retry_outcome = match retry_outcome {
                __retry::Ok(retry_stream) => {
                    let retry_stream = __retry::stream::#read::of_fallback(#opened);
                    __retry::stream::outcome::<#err_type, _>(
                        __retry::stream::#read::attempt(retry_stream, #patience, __retry::stream::first::any).await,
                    )
                }
                __retry::Err(retry_error) => __retry::Err(retry_error),
            };
        }
    }
}

/// The runtime's module for this mode.
fn mode_module(stream: &Stream) -> Ident {
    Ident::new(stream.mode.word(), Span::mixed_site())
}
