//! The macros of [`retry-runtime`](https://docs.rs/retry-runtime): `#[retry]`, `retrying!` and `#[derive(Classify)]`.
//! Depend on that crate, which re-exports them.

// `syn` and `proc_macro2` types are passed by value, as in the functions of those crates.
#![allow(clippy::needless_pass_by_value)]

mod as_variant;
mod attribute;
mod block;
mod classify;
mod errors;
mod expand;
mod target;
#[cfg(test)]
mod tests;
mod tokens;

use proc_macro::TokenStream;
use syn::Stmt;
use syn::parse::Parser;

use crate::attribute::argument::Arguments;
use crate::attribute::check;
use crate::block::decorator::Decorator;
use crate::block::impl_block;
use crate::block::members::{BracedItem, Keyword};
use crate::errors::{Errors, error};
use crate::expand::model::Model;
use crate::target::check::{Check, Placement};
use crate::target::expression::Expression;
use crate::target::function::Function;
use crate::tokens::code;

/// Retries a function when it fails transiently.
///
/// ```ignore
/// use retry_runtime::{Verdict, retry};
///
/// impl Client {
///     /// Up to 5 retries within 2 minutes, after increasing pauses, or when the server
///     /// allows it.
///     #[retry(max = 5, backoff = "exp", deadline = "2m", on = is_retryable)]
///     async fn complete(&self, prompt: &str) -> Result<String, ApiError> {
///         self.post(prompt).await
///     }
/// }
///
/// fn is_retryable(error: &ApiError) -> Verdict {
///     match error.status {
///         429 => Verdict::THROTTLED.after(error.retry_after),
///         500 | 503 => Verdict::TRANSIENT,
///         _ => Verdict::STOP,
///     }
/// }
/// ```
///
/// Use it on functions and methods (async, blocking, or returning a future or stream), `impl` blocks and traits. Values
/// are literals or expressions, which may use `self` and the arguments. `key = value` and `key(value)` mean the same.
/// Durations are `"250ms"`, `"1h30m"`, `250ms` or a `Duration`. The `retry_runtime` guide describes each key in detail.
///
/// | key | value | default |
/// |---|---|---|
/// | `max` | retries: a count, or `"unlimited"` | 3 |
/// | `backoff` | `"exp"` `"fixed"` `"linear"` `"fibonacci"` `"none"`, a list, `\|retry\| …` | `"exp"` |
/// | `base` | the first delay | 1s |
/// | `factor` | growth of `"exp"`, ≥ 1 | 2 |
/// | `cap` | the longest computed delay | 30s |
/// | `floor` | the shortest computed delay | 0s |
/// | `jitter` | `"full"` `"equal"` `"decorrelated"` `"none"`, or a ratio 0–1 | `"full"` |
/// | `on` | which errors to retry: `fn(&E) -> impl Into<Verdict>` | `E: Classify` |
/// | `until` | which `Ok` values to accept: `fn(&T) -> bool` | – |
/// | `hint` | a server's hint: `"honor"` `"exact"` `"clamp"` `"ignore"` | `"honor"` |
/// | `max_hint` | the longest accepted hint: a longer one ends the call, or is cut to this by `"clamp"` | 120s |
/// | `timeout` | time limit for each attempt; without a value: the policy's; needs `E: From<TimedOut>` | – |
/// | `deadline` | time limit for the whole call; a running attempt may end later | – |
/// | `total_timeout` | time limit for the whole call, at which a running attempt is dropped; needs `E: From<TimedOut>` | – |
/// | `total_delay` | time limit for all pauses together | – |
/// | `enabled` | `false`: exactly one attempt, regardless of the other keys | `true` |
/// | `idempotent` | `false`: don't retry requests that may have taken effect | `true` |
/// | `throttled(…)` `transient(…)` `timed_out(…)` `invalid(…)` | other settings for one kind of failure | – |
/// | `rejected(…)` | settings for attempts that the `breaker` or the `limiter` rejects | no retries |
/// | `attempt` | the name of the `&Attempt<E>` in the body | – |
/// | `clone(…)` | arguments to clone for each attempt, as in `clone(request)` | – |
/// | `validate` | rejects an `Ok` value: `fn(&T) -> Result<(), E>` | – |
/// | `correct` | repairs a value that `validate` rejected: `async fn(T, &E) -> Result<T, E>` | – |
/// | `repeats` | gives up after the same error this many times in a row | – |
/// | `budget` | pays for retries: a `RetryBudget` | – |
/// | `breaker` | rejects attempts while the server is down: a `retry_protections::Breaker`; needs `E: From<Rejected>` | – |
/// | `limiter` | makes each attempt wait its turn: a `retry_protections::RateLimiter`, `LIMITER.cost(n)`; needs `E: From<Rejected>` | – |
/// | `hedge` | starts another attempt if an attempt takes longer than this: a duration, or a quantile of a `retry_protections::Latency` | – |
/// | `cancel` | ends the pause and the call: a future; on a blocking function a flag or a function | – |
/// | `abort` | a future that ends the call at once and drops the attempt; needs `E: From<Cancelled>` | – |
/// | `before_pause`, `before_retry` | run between a failure and its retry: `async fn(&E, NextAttempt)` | – |
/// | `fallback` | supplies the result when the call gives up: `async fn(GaveUp<E>) -> Result<T, E>` | – |
/// | `give_up` | converts the final error: `fn(GaveUp<E>) -> E` | – |
/// | `observe` | an `Observer`, or a closure | – |
/// | `show` | how the log shows an error: `fn(&E, &mut Formatter) -> fmt::Result` | with its causes |
/// | `span` | a span for the call, and one for each attempt | `false` |
/// | `policy` | a `Policy` known at run time, replacing the other settings; a `SharedPolicy`, or `Policies` by name | – |
/// | `name` | the call's name in the log | `module::function`, `module::Type::method` |
/// | `timer` | how to sleep: a `Timer`, on a blocking function a `BlockingTimer`, or a function | tokio's, the thread's |
/// | `stream` | `"first"` `"buffer"` `"resume"`, for functions that return a stream | – |
/// | `first` | which items count as the first for `stream = "first"`: `fn(&T) -> bool` | any |
/// | `idle_timeout` | time limit from one item of a stream to the next; needs `E: From<TimedOut>` | `timeout` |
/// | `wrapper`, `of` | on a trait: the decorator to generate, the original | – |
/// | `forward` | on a trait: the pointers to implement it for, as in `[Box, Arc]`; with `of`, the pointers to wrap | – |
/// | `body` | on a method in a copy of a trait: retries its own body | – |
/// | `crate` | the path of the runtime crate | `::retry_runtime` |
/// | `skip` | on a method in a block or trait: doesn't retry it | – |
#[proc_macro_attribute]
pub fn retry(arguments: TokenStream, item: TokenStream) -> TokenStream {
    retry_item(arguments.into(), item.into()).into()
}

fn retry_item(
    arguments: proc_macro2::TokenStream,
    item: proc_macro2::TokenStream,
) -> proc_macro2::TokenStream {
    let arguments = Arguments::parse(arguments);
    let expanded = match BracedItem::parse(&item) {
        Some((Keyword::Impl, block)) => impl_block::expand(&block, &arguments),
        Some((Keyword::Trait, item)) => {
            Decorator::parse(item, &arguments).and_then(|decorator| decorator.expand())
        }
        None => syn::parse2(item.clone()).map(|function| retry_function(arguments, function)),
    };
    expanded.unwrap_or_else(|error| {
        let statements = syn::Block::parse_within.parse2(item.clone());
        match statements.as_deref() {
            // Omits the statement, because the compiler reports its own error for a statement with an attribute.
            Ok([Stmt::Local(_) | Stmt::Expr(..) | Stmt::Macro(_), ..]) => error!(error.span() =>
                "`#[retry]` can only be applied to functions and methods. To retry this expression, use `retrying!(max = 5, {{ … }})`")
            .into_compile_error(),
            _ => code!(#item #(error.into_compile_error())),
        }
    })
}

fn retry_function(arguments: Arguments, function: Function) -> proc_macro2::TokenStream {
    let mut errors = Errors::default();
    check::check_non_trait(&arguments, &mut errors);
    Check::new(&arguments, &function, Placement::Alone, &mut errors).run();
    match errors.into_compile_error() {
        None => expand::expand(&Model::new(arguments, function)),
        // Keeps the function, so that editors and the rest of the program find it.
        Some(errors) => code!(#function #errors),
    }
}

/// Retries a block when it fails transiently: [`macro@retry`] as an expression.
///
/// ```ignore
/// use retry_runtime::{Verdict, retrying};
///
/// let answer = retrying!(max = 5, deadline = "2m", on = is_retryable, async {
///     client.post(prompt).await?.json().await
/// })
/// .await?;
/// ```
///
/// Its arguments are the attribute's keys, then the block. `async { … }` is a future: nothing runs before you await it.
/// `{ … }` runs immediately, and its pauses block the thread. Each run of the block is an attempt. The block may change
/// the variables that it captures; `return` and `?` end the attempt. With `async move { … }` the future owns these
/// variables, and each attempt borrows them. If the type can't be inferred, write it:
/// `async -> Result<_, ApiError> { … }`.
#[proc_macro]
pub fn retrying(tokens: TokenStream) -> TokenStream {
    retry_expression(tokens.into()).into()
}

fn retry_expression(tokens: proc_macro2::TokenStream) -> proc_macro2::TokenStream {
    let expression = Expression::parse(tokens);
    let arguments = Arguments::parse(expression.arguments);
    let mut errors = expression.errors;
    let Some(block) = expression.block else {
        errors.append(&arguments.errors);
        return code!({ #(errors.into_compile_error()) ::core::unreachable!() });
    };
    let function = block.as_function(&arguments);
    check::check_non_trait(&arguments, &mut errors);
    Check::new(&arguments, &function, Placement::Expression, &mut errors).run();
    match errors.into_compile_error() {
        None => expand::expression(&Model::for_block(arguments, function), &block),
        Some(errors) => code!({ #errors #(block.without_retries()) }),
    }
}

/// Derives `Classify`: each variant of an error type is marked with how to handle it.
///
/// ```ignore
/// #[derive(Debug, Classify)]
/// enum ModelError {
///     #[classify(throttled, after = retry_after)] // a `Duration` or an `Option` of one
///     RateLimited { retry_after: Option<Duration> },
///     #[classify(transient, ambiguous)] // it may have taken effect
///     ConnectionLost,
///     #[classify(transparent)] // the verdict of its only field
///     Io(std::io::Error),
///     #[classify(stop)]
///     Unauthorized,
/// }
/// ```
///
/// The marks are `stop`, `transient`, `throttled`, `timeout`, `invalid` and `transparent`. Each variant needs one,
/// unless the enum itself has a mark, which is then the default. For a struct, put the mark on the struct.
#[proc_macro_derive(Classify, attributes(classify))]
pub fn derive_classify(item: TokenStream) -> TokenStream {
    derive_item(item.into(), "retry_runtime").into()
}

/// Derives `Classify` for users of `retry-classify` alone. That crate re-exports this macro as `Classify`.
#[proc_macro_derive(ClassifyAlone, attributes(classify))]
pub fn derive_classify_alone(item: TokenStream) -> TokenStream {
    derive_item(item.into(), "retry_classify").into()
}

/// Derives the impl. The generated code uses the crate `krate`, unless the mark `crate` names another one.
fn derive_item(item: proc_macro2::TokenStream, krate: &str) -> proc_macro2::TokenStream {
    let derived = syn::parse2(item).map(|item| classify::derive(&item, krate));
    derived.unwrap_or_else(syn::Error::into_compile_error)
}
