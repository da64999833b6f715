//! Rules for the key `stream`, and for streams without this key.

use retry_vocabulary::key::Key;
use syn::Type;
use syn::spanned::Spanned;

use crate::attribute::argument::{KeyValue, Mode};
use crate::errors::{error, refuse};
use crate::target::check::{Check, Placement};
use crate::target::outcome::{self, StreamPart, Streamed, is_no_result};

impl Check<'_> {
    pub(super) fn check_stream(&mut self, outcome: &Type) {
        let streamed = outcome::stream(outcome);
        self.refuse_stream_keys();
        if self.placement == Placement::Expression {
            return self.refuse_stream(outcome, streamed.is_some());
        }
        let Some(key) = self.arguments.get(Key::Stream) else {
            if streamed.is_some_and(|streamed| streamed.part == StreamPart::Outcome) {
                let name = &self.function.signature.ident;
                self.errors.push(error!(in outcome =>
                    "`{name}` returns a stream: add `stream = \"first\"` to retry until the first item arrives, `stream = \"buffer\"` to retry the stream as a whole, or `stream = \"resume\"` to continue after an error"));
            }
            return;
        };
        let is_resumed = matches!(key.value, KeyValue::Stream(Mode::Resume));
        let item = streamed.as_ref().map(|streamed| streamed.item);
        if let Some(item) = item.filter(|item| is_no_result(item)) {
            self.errors.push(error!(item.span() =>
                "`stream` needs a stream of `Result`s, so that it can see a failure: yield `Result<_, _>`, or remove `#[retry]`"));
        }
        refuse! {self.arguments, self.errors;
            Stream if !cfg!(feature = "stream") =>
                "`stream` needs the feature `stream` of `retry-runtime`: enable it in Cargo.toml"
            Stream if streamed.is_none() =>
                "`stream` needs a function that returns a stream, written as `impl Stream<Item = Result<…>>`, `Pin<Box<dyn Stream<Item = Result<…>>>>` or `BoxStream<'_, Result<…>>`, or a `Result` of one: return a stream, or remove `stream`"
            Until if true =>
                "`until` checks an attempt's return value, and a stream has none: remove it, and yield `Err` for items you want to reject"
            Validate if true =>
                "`validate` checks an attempt's return value, and a stream has none: remove it, and yield `Err` for items you want to reject"
            Abort if true =>
                "`abort` can't be combined with `stream`, which ends when its reader drops it: remove `abort`, or use `cancel`, which ends pauses"
            TotalTimeout if is_resumed =>
                "`total_timeout` can't be combined with `stream = \"resume\"`, whose attempt lasts as long as its reader reads: use `deadline`, which limits the time to get the next item"
            Fallback if is_resumed =>
                "`fallback` can't be combined with `stream = \"resume\"`, because it can't continue where the stream broke off: remove it and chain another stream to the returned one, or use `stream = \"first\"` or `\"buffer\"`"
        }
        if is_resumed && self.arguments.get(Key::Attempt).is_none() {
            self.errors.push(error!(key.span =>
                "`stream = \"resume\"` needs `attempt = attempt`: without `attempt.yielded()` or `attempt.last_item()`, the body can't tell where to continue, and would start over"));
        }
        if let (true, Some(streamed)) = (self.placement != Placement::Decorator, streamed) {
            self.check_stream_lifetime(&streamed, is_resumed);
        }
    }

    /// Rejects keys that have no effect without a stream.
    fn refuse_stream_keys(&mut self) {
        let mode = self.arguments.value(Key::Stream);
        refuse! {self.arguments, self.errors;
            First if !matches!(mode, Some(KeyValue::Stream(Mode::First))) =>
                "`first` has no effect without `stream = \"first\"`: add that, or remove `first`"
            IdleTimeout if mode.is_none() =>
                "`idle_timeout` has no effect without `stream`: add `stream`, or use `timeout`, which limits an attempt"
        }
    }

    /// Rejects a `'static` stream that would have to keep a borrowed argument.
    fn check_stream_lifetime(&mut self, streamed: &Streamed, is_resumed: bool) {
        let why = match (is_resumed, self.function.is_async()) {
            (true, _) => {
                "with `stream = \"resume\"`, a stream keeps the arguments for the retries, so it can't be `'static` if one of them is borrowed: return `BoxStream<'_, …>`, make this a sync `fn … -> impl Stream`, or take the arguments by value"
            }
            (false, false) => {
                "this stream keeps the arguments until it is polled, so it can't be `'static` if one of them is borrowed: return `BoxStream<'_, …>`, take the arguments by value, or make the function `async`"
            }
            (false, true) => return,
        };
        if outcome::is_static(streamed.stream) && self.function.borrows() {
            self.errors.at(streamed.stream.span(), why);
        }
    }

    /// Rejects streams in `retrying!`, where no function returns them.
    fn refuse_stream(&mut self, outcome: &Type, is_stream: bool) {
        let key = self.arguments.get(Key::Stream);
        let place = key.map(|key| key.ident.span());
        if let Some(span) = place.or_else(|| is_stream.then(|| outcome.span())) {
            self.errors.at(span, "`retrying!` can't retry a stream, which is read after the block has ended: put `#[retry(stream = \"first\")]` on a function that returns it");
        }
    }
}
