//! The rules of the key `stream`. They also refuse a bare stream without it.

use retry_vocabulary::key::Key;
use syn::Type;
use syn::spanned::Spanned;

use crate::attribute::argument::{Arguments, KeyValue, Mode};
use crate::errors::{Errors, error, refuse};
use crate::target::function::Function;
use crate::target::outcome::is_no_result;
use crate::target::outcome::{self, StreamPart};

pub(super) fn check(
    arguments: &Arguments,
    outcome: &Type,
    function: &Function,
    errors: &mut Errors,
) {
    let streamed = outcome::stream(outcome);
    needs_stream(arguments, errors);
    let Some(key) = arguments.get(Key::Stream) else {
        if streamed.is_some_and(|streamed| streamed.part == StreamPart::Outcome) {
            let name = &function.signature.ident;
            errors.push(error!(in outcome =>
                "`{name}` returns a stream: say `stream = \"first\"` to retry until its first item arrives, `stream = \"buffer\"` to retry it as a whole, or `stream = \"resume\"` to go on after an error"));
        }
        return;
    };
    let is_resumed = matches!(key.value, KeyValue::Stream(Mode::Resume));
    let not_on = streamed
        .as_ref()
        .filter(|streamed| is_no_result(streamed.item));
    if let Some(streamed) = not_on {
        errors.push(error!(streamed.item.span() =>
            "`stream` needs a stream of `Result`s, whose `Err` is a failure: yield `Result<_, _>`, or remove `#[retry]`"));
    }
    refuse! {arguments, errors;
        Stream if !cfg!(feature = "stream") =>
            "the key `stream` needs the feature `stream` of `retry-runtime`: enable it in Cargo.toml"
        Stream if streamed.is_none() =>
            "`stream` is for functions that return a stream, written as `impl Stream<Item = Result<…>>`, `Pin<Box<dyn Stream<Item = Result<…>>>>` or `BoxStream<'_, Result<…>>`, also within a `Result`: return one, or remove `stream`"
        Until if true =>
            "`until` looks at the value of a whole attempt, which a stream has not: remove it, and yield an `Err` from the stream for an item that won't do"
        Validate if true =>
            "`validate` looks at the value of a whole attempt, which a stream has not: remove it, and yield an `Err` from the stream for an item that won't do"
        Abort if true =>
            "`abort` can't end a stream, which its reader drops: remove it, or use `cancel`, which ends pauses"
        Fallback if is_resumed =>
            "`fallback` can't go on where a stream under `stream = \"resume\"` broke, whose items were handed out: remove it, and chain another stream to the one that is returned, or use `stream = \"first\"` or `\"buffer\"`"
    }
    if is_resumed && arguments.get(Key::Attempt).is_none() {
        errors.push(error!(key.span =>
            "`stream = \"resume\"` needs `attempt = attempt`: the body asks `attempt.yielded()` or `attempt.last_item()` where to go on, or it would begin anew"));
    }
}

/// Refuses keys that do nothing without the stream that they are about.
fn needs_stream(arguments: &Arguments, errors: &mut Errors) {
    let mode = arguments.value(Key::Stream);
    refuse! {arguments, errors;
        First if !matches!(mode, Some(KeyValue::Stream(Mode::First))) =>
            "`first` says which item ends the retries of `stream = \"first\"`: name that mode, or remove `first`"
        IdleTimeout if mode.is_none() =>
            "`idle_timeout` limits the wait between a stream's items: name `stream` too, or use `timeout`, which limits an attempt"
    }
}

/// Refuses a stream that keeps the arguments and borrows one, though its type says that it borrows nothing.
pub(super) fn outlives_no_argument(
    arguments: &Arguments,
    outcome: &Type,
    function: &Function,
    errors: &mut Errors,
) {
    let Some(KeyValue::Stream(mode)) = arguments.value(Key::Stream) else {
        return;
    };
    let why = match (mode, function.is_async()) {
        (Mode::Resume, _) => {
            "a stream under `stream = \"resume\"` keeps the arguments, to run the body again, so it can't be `'static` beside a borrowed one: return `BoxStream<'_, …>` or a sync `fn … -> impl Stream`, or take the arguments by value"
        }
        (Mode::First | Mode::Buffer, false) => {
            "this stream runs the body when it is read and keeps the arguments until then, so it can't be `'static` beside a borrowed one: return `BoxStream<'_, …>`, take the arguments by value, or make the function `async`"
        }
        (Mode::First | Mode::Buffer, true) => return,
    };
    let streamed = outcome::stream(outcome).filter(|streamed| streamed.is_static);
    if let Some(streamed) = streamed.filter(|_| function.borrows()) {
        errors.at(streamed.stream.span(), why);
    }
}

/// In `retrying!`, where no function returns the stream.
pub(super) fn refused(arguments: &Arguments, outcome: &Type, errors: &mut Errors) {
    const MESSAGE: &str = "`retrying!` can't retry a stream, which goes on after the block: put `#[retry(stream = \"first\")]` on a function that returns it";
    needs_stream(arguments, errors);
    if let Some(key) = arguments.get(Key::Stream) {
        errors.at(key.ident.span(), MESSAGE);
    } else if outcome::stream(outcome).is_some() {
        errors.at(outcome.span(), MESSAGE);
    }
}
