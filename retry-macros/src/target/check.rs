//! Rules across arguments and the function that they stand on.

mod stream;

use proc_macro2::{Ident, Span, TokenTree};
use quote::ToTokens;
use retry_vocabulary::key::Key;
use syn::spanned::Spanned;
use syn::{Expr, Stmt, Type};

use crate::as_variant::as_variant;
use crate::attribute;
use crate::attribute::argument::{Argument, Arguments, KeyValue, keys};
use crate::errors::{Errors, error, refuse};
use crate::target::function::{Body, Function, SECOND, is_retry};
use crate::target::outcome::{self, Delivery, is_no_result, is_opaque};
use crate::target::wrapped_body::WrappedBody;
use crate::tokens::{any, is_ident, is_punct};

/// Checks the attribute of a function, or the keys and the block of `retrying!`.
pub(crate) fn function(
    given: &Arguments,
    function: &Function,
    setting: Setting,
    errors: &mut Errors,
) {
    attribute::check::on_no_trait(given, errors);
    target(given, function, setting, errors);
}

/// Checks a function in a block, with the arguments of the block and its own, which were checked alone.
pub(crate) fn member(
    arguments: &Arguments,
    function: &Function,
    setting: Setting,
    errors: &mut Errors,
) {
    attribute::check::policy_stands_alone(arguments, errors);
    has_self(arguments, function, errors);
    target(arguments, function, setting, errors);
}

/// Refuses a function without `self` where a key of its block reads that.
fn has_self(arguments: &Arguments, function: &Function, errors: &mut Errors) {
    let name = &function.signature.ident;
    // In a path, `self` is the module.
    let is_self = |_: &[TokenTree], from: &[TokenTree]| {
        is_ident(&from[0], "self") && !from.get(1).is_some_and(|next| is_punct(next, ':'))
    };
    let reads_self = |argument: &&Argument| {
        let value = as_variant!(&argument.value, KeyValue::Expr(value) => value.to_token_stream());
        value.is_some_and(|value| any(value, &mut { is_self }))
    };
    let mut of_block = arguments
        .of_block
        .iter()
        .filter_map(|key| arguments.get(*key));
    let reading = of_block
        .find(reads_self)
        .filter(|_| function.signature.receiver().is_none());
    if let Some(Argument { key, .. }) = reading {
        errors.push(error!(name.span() =>
            "`{name}` has no `self`, which the block's `{key}` reads: mark `{name}` `#[retry(skip)]`, or give it a `{key}` of its own"));
    }
}

/// Reports that a block or a trait has nothing to retry, unless another mistake may be the reason.
pub(crate) fn nothing_is_retried(errors: &mut Errors) {
    if errors.is_empty() {
        errors.push(error!(Span::call_site() =>
            "nothing here is retried: no method without `skip` is async, or returns a `Result`, a future or a stream by that name. Remove `#[retry]`, or put one on the method itself"));
    }
}

/// Reports a function whose type seems to hide a future or a stream, and says whether it did.
pub(crate) fn hides_future(function: &Function, setting: Setting, errors: &mut Errors) -> bool {
    let returned = function.return_type().filter(|_| !function.is_async());
    let Some(hidden) = returned.and_then(outcome::hidden) else {
        return false;
    };
    let kind = if hidden.to_string().ends_with("Stream") {
        "Stream<Item"
    } else {
        "Future<Output"
    };
    let otherwise = setting.otherwise(function, [", or mark ", ""]);
    let (macro_name, _) = setting.names();
    errors.push(error!(hidden.span() =>
        "`{macro_name}` can't look into `{hidden}` here: return `Pin<Box<dyn {kind} = Result<…>> + Send + '_>>`, written out{otherwise}"));
    true
}

/// Reports a method of a block that is not retried, although its type shows a result, or may hide one in a macro.
pub(crate) fn has_no_result_within(function: &Function, errors: &mut Errors) {
    let name = &function.signature.ident;
    if let Some(Type::Macro(hidden)) = function.return_type() {
        errors.push(error!(hidden.span() =>
            "`#[retry]` can't look into a macro: write the type out, or mark `{name}` `#[retry(skip)]`"));
    }
    if let Some(result) = outcome::result_within(function.signature.output.to_token_stream()) {
        errors.push(error!(result.span() =>
            "`#[retry]` can't retry for a `{result}` within another type: return it alone, or a future of it, or mark `{name}` `#[retry(skip)]`"));
    }
}

/// The place of the keys, which decides what can be done about a function.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Setting {
    Alone,
    Block,
    /// In a trait, whose decorator calls the client's method.
    Decorator,
    /// In `retrying!`, beside a block.
    Expression,
}

impl Setting {
    /// The macro's name, and what it retries.
    fn names(self) -> (&'static str, &'static str) {
        match self {
            Self::Alone | Self::Block | Self::Decorator => ("#[retry]", "function"),
            Self::Expression => ("retrying!", "block"),
        }
    }

    /// The other remedy that a method has, `#[retry(skip)]`, with words before and after the method's name.
    fn otherwise(self, function: &Function, words: [&str; 2]) -> String {
        let [before, after] = words;
        match self {
            Self::Alone | Self::Expression => String::new(),
            Self::Block | Self::Decorator => {
                format!(
                    "{before}`{}`{after} `#[retry(skip)]`",
                    function.signature.ident
                )
            }
        }
    }
}

fn no_result(function: &Function, setting: Setting) -> String {
    let (name, (macro_name, _)) = (&function.signature.ident, setting.names());
    let (target, remedy) = match setting {
        Setting::Alone => (format!("`{name}`"), "remove `#[retry]`"),
        Setting::Block | Setting::Decorator => (format!("`{name}`"), "mark it `#[retry(skip)]`"),
        Setting::Expression => (String::from("the block"), "remove `retrying!`"),
    };
    format!(
        "{target} returns no `Result`, so it can't fail and `{macro_name}` has nothing to do: return one, or {remedy}"
    )
}

fn target(arguments: &Arguments, function: &Function, setting: Setting, errors: &mut Errors) {
    let signature = &function.signature;
    let otherwise = setting.otherwise(function, [". Or leave ", " alone: mark it"]);
    declaration(function, &otherwise, errors);
    if setting != Setting::Expression {
        unquoted(&arguments.given, function, errors);
    }
    let Some(returned) = function.return_type() else {
        errors.at(signature.ident.span(), no_result(function, setting));
        return;
    };
    if arguments.get(Key::Stream).is_none() && hides_future(function, setting, errors) {
        return;
    }
    let (outcome, delivery) = outcome::of(returned);
    if setting == Setting::Expression {
        stream::refused(arguments, outcome, errors);
    } else {
        stream::check(arguments, outcome, function, errors);
        if setting != Setting::Decorator {
            stream::outlives_no_argument(arguments, outcome, function, errors);
        }
    }
    future_outlives_no_argument(function, setting, errors);
    let is_blocking = !function.is_async()
        && delivery == Delivery::Direct
        && arguments.get(Key::Stream).is_none();
    if is_blocking {
        blocking(arguments, setting, &otherwise, errors);
    } else {
        hedge(arguments, function, &otherwise, errors);
    }
    if is_no_result(outcome) {
        errors.at(outcome.span(), no_result(function, setting));
    } else if is_opaque(outcome)
        && outcome::stream(outcome).is_none()
        && arguments.get(Key::Stream).is_none()
    {
        let name = &signature.ident;
        errors.push(error!(outcome.span() =>
            "`{name}` returns an `impl Trait` that hides whether it failed: write `Result<_, _>`, `impl Future<Output = Result<_, _>>` or `impl Stream<Item = Result<_, _>>`{otherwise}"));
    }
    fails_within(arguments, outcome, setting, &otherwise, errors);
    closures(arguments, is_blocking, setting, errors);
    keys_that_need_another(arguments, errors);
    if matches!(setting, Setting::Alone | Setting::Block) {
        cloned(arguments, function, errors);
        if let Some(shrunk) = function.shrinks() {
            errors.push(error!(shrunk.span() =>
                "an attempt can't keep a part of `{shrunk}` for the next: take `{shrunk}` without `mut`, and begin the body with `let mut {shrunk} = &mut *{shrunk};`, so that each attempt has all of it"));
        }
    }
    lends_nothing_mutable(arguments, outcome, function, &otherwise, errors);
}

/// Refuses a value that may hold a failure, which nobody looks at.
fn fails_within(
    arguments: &Arguments,
    outcome: &Type,
    setting: Setting,
    otherwise: &str,
    errors: &mut Errors,
) {
    if let Some(future) = outcome::future_within(outcome) {
        let (_, target) = setting.names();
        errors.push(error!(in future =>
            "the future within this `Result` would never be retried: await it in the {target}, and return what it comes to{otherwise}"));
    }
    let is_judged = arguments.has(&keys![Until Validate]);
    if let Some(result) = outcome::result_in_value(outcome).filter(|_| !is_judged) {
        errors.push(error!(in result =>
            "the `Result` within this one would never be retried: take it out with `?`, or reject such values with `until` or `validate`{otherwise}"));
    }
}

/// Refuses an outcome that the compiler would refuse in every loop.
fn lends_nothing_mutable(
    arguments: &Arguments,
    outcome: &Type,
    function: &Function,
    otherwise: &str,
    errors: &mut Errors,
) {
    let kept = match (outcome::stream(outcome), arguments.get(Key::Stream)) {
        (Some(streamed), Some(_)) => streamed.item,
        _ => outcome,
    };
    if let Some(borrow) = outcome::borrowing(kept, &|lifetime| function.lends_mutably(lifetime)) {
        errors.push(error!(borrow.span() =>
            "a retried function can't return what borrows from a `&mut` argument, since every attempt borrows that anew (rust-lang/rust#51132): return an owned value or an index, and borrow after the call; or write `'static` for the lifetime of what borrows nothing{otherwise}"));
    }
}

/// Checks everything before the return type, and that there is a body.
fn declaration(function: &Function, otherwise: &str, errors: &mut Errors) {
    for second in function.attributes.iter().filter(|other| is_retry(other)) {
        errors.at(second.path().span(), SECOND);
    }
    if function.is_retried() {
        errors.push(error!(Span::call_site() =>
            "a second `#[retry]` under another name would multiply the attempts: keep one, and call it `retry` inside a block"));
    }
    if let (Some(attribute), false) = (function.tracks_caller(), function.is_async()) {
        errors.push(error!(attribute.path().span() =>
            "`#[track_caller]` does nothing beside `#[retry]`, whose attempts are calls within this function: remove it, and take the `&'static Location<'static>` as an argument{otherwise}"));
    }
    if let Some(constness) = &function.signature.constness {
        errors.push(error!(constness.span =>
            "a `const fn` can't wait between attempts: remove `const` or `#[retry]`{otherwise}"));
    }
    if let Some(variadic) = &function.signature.variadic {
        errors.push(error!(variadic.span() =>
            "a variadic function can't be retried: its arguments can be read only once{otherwise}"));
    }
    match &function.body {
        Body::Missing(semicolon) => {
            let instead = match function.signature.receiver() {
                Some(_) => "the method of the `impl`",
                None => "a function that calls it",
            };
            errors.push(error!(semicolon.span =>
                "there is no body to retry here: put `#[retry]` on {instead}"));
        }
        Body::Block(body)
            if !function.is_async() && WrappedBody::builds_runtime(&body.stream()) =>
        {
            errors.push(error!(function.signature.ident.span() =>
                "each attempt would build a runtime and sleep on its thread, since `#[tokio::main]` or `#[tokio::test]` above `#[retry]` makes the function blocking: put `#[retry]` above it"));
        }
        Body::Block(_) => {}
    }
}

/// Refuses a future that keeps the arguments and borrows one, though its type says that it borrows nothing.
fn future_outlives_no_argument(function: &Function, setting: Setting, errors: &mut Errors) {
    let keeps = matches!(setting, Setting::Alone | Setting::Block) && function.borrows();
    let Some(returned) = function.return_type().filter(|_| keeps) else {
        return;
    };
    let (_, delivery) = outcome::of(returned);
    if delivery != Delivery::Direct && outcome::is_static(returned) {
        errors.push(error!(returned.span() =>
            "this future keeps the arguments, to run the body again, so it can't be `'static` beside a borrowed one: return a future that borrows, such as `BoxFuture<'_, …>`, or take the arguments by value"));
    }
}

/// Refuses names in `clone` of which no attempt gets a clone.
fn cloned(arguments: &Arguments, function: &Function, errors: &mut Errors) {
    let Some(clone) = arguments.get(Key::Clone) else {
        return;
    };
    if arguments.of_block.contains(&Key::Clone) {
        errors.push(error!(clone.ident.span() =>
            "`clone` names the arguments of one method: put it on that method, as in `#[retry(clone(request))]`"));
        return;
    }
    let KeyValue::Names(names) = &clone.value else {
        return;
    };
    for name in names {
        match function.is_reference(name) {
            Some(false) => {}
            Some(true) => errors.push(error!(name.span() =>
                "`{name}` is a reference, which each attempt borrows anyway: remove it from `clone`")),
            None => errors.push(error!(name.span() =>
                "`{}` has no argument `{name}`: `clone` names arguments that the body consumes", function.signature.ident)),
        }
    }
}

/// Refuses keys that do nothing without another. Not on the attribute alone, because a block may name one and its member
/// the other.
fn keys_that_need_another(arguments: &Arguments, errors: &mut Errors) {
    let all_is_read = arguments.errors.is_empty();
    refuse! {arguments, errors;
        Correct if arguments.get(Key::Validate).is_none() && all_is_read =>
            "`correct` repairs values that `validate` rejects: add `validate = |value| …`, or remove `correct`"
        Rejected if !arguments.has(&keys![Breaker Limiter]) && all_is_read =>
            "`rejected` is for attempts that a `breaker` or a `limiter` rejects: name one of them, or remove `rejected`"
    }
    // A decorator may be made with a policy.
    let has_policy = arguments.has(&keys![Policy Wrapper]);
    let is_alone = matches!(arguments.value(Key::Timeout), Some(KeyValue::Alone));
    // Then there is no policy where there is no error to choose it by.
    let by_error = arguments
        .value(Key::Policy)
        .is_some_and(KeyValue::is_closure);
    refuse! {arguments, errors;
        Timeout if is_alone && !has_policy && all_is_read =>
            "`timeout` alone is that of the policy: name one with `policy = …`, or give the time, as in `timeout = \"60s\"`"
        Until if by_error =>
            "`policy = |error| …` chooses no policy for `until`, whose rejected values have no error: use `validate`, or name a policy"
        Hedge if by_error =>
            "`policy = |error| …` chooses no policy for `hedge`, before an attempt failed: remove `hedge`, or name a policy"
        Timeout if is_alone && by_error =>
            "`policy = |error| …` chooses no policy for `timeout`, before an attempt failed: give the time, as in `timeout = \"60s\"`, or name a policy"
    }
}

/// Why attempts of a function that can wait can't run at once.
fn hedge(arguments: &Arguments, function: &Function, otherwise: &str, errors: &mut Errors) {
    let is_streamed = arguments.get(Key::Stream).is_some();
    let does_harm = matches!(
        arguments.value(Key::Idempotent),
        Some(KeyValue::Bool(false))
    );
    let is_single = matches!(arguments.value(Key::Max), Some(KeyValue::Count(0)));
    refuse! {arguments, errors;
        Hedge if is_streamed =>
            "`hedge` can't be here: a stream is handed on while it is read, and no other can take its place: remove `hedge` or `stream`"
        Hedge if does_harm =>
            "`hedge` can't be here: it makes a request a second time while the first runs, and `idempotent = false` says that this does harm: remove one of the two"
        Hedge if is_single =>
            "`hedge` can't be here: an attempt beside a slow one is a retry, and `max = 0` allows none: remove one of the two"
    }
    if let (false, Some(argument)) = (is_streamed, function.mutable_argument()) {
        refuse! {arguments, errors;
            Hedge if true =>
                "`hedge` can't be here: attempts run at once, and only one could have {argument}: borrow it without `mut`, keep what changes behind a lock or in an atomic, or remove `hedge`{otherwise}"
        }
    }
}

/// What a blocking function can't have.
fn blocking(arguments: &Arguments, setting: Setting, otherwise: &str, errors: &mut Errors) {
    let (_, target) = setting.names();
    refuse! {arguments, errors;
        Timeout if true =>
            "`timeout` can't be on a blocking {target}, which can't be dropped while it runs: make it `async`, or pass a timeout to the call it makes{otherwise}"
        Abort if true =>
            "`abort` can't be on a blocking {target}, which can't be dropped while it runs: make it `async`, or use `cancel`, which ends pauses{otherwise}"
        Hedge if true =>
            "`hedge` can't be on a blocking {target}, which makes one attempt at a time: make it `async`, or remove `hedge`{otherwise}"
    }
}

/// Refuses closures that are async where nothing awaits them, or return a result where a future is awaited.
fn closures(arguments: &Arguments, is_blocking: bool, setting: Setting, errors: &mut Errors) {
    let (_, target) = setting.names();
    let awaited = keys![Validate Correct BeforePause BeforeRetry Fallback];
    for key in awaited {
        let Some(KeyValue::Expr(Expr::Closure(closure))) = arguments.value(key) else {
            continue;
        };
        match closure.asyncness {
            Some(asyncness) if is_blocking => errors.push(error!(asyncness.span =>
                "the `{key}` of a blocking {target} can't be `async`: remove `async` here, or make the {target} `async`")),
            None if !is_blocking && key == Key::Fallback => {
                if let Some(result) = result(&closure.body) {
                    errors.push(error!(result.span() =>
                        "the `fallback` of an async {target} is awaited: write `async |gave_up| …`"));
                }
            }
            _ => {}
        }
    }
}

/// The `Ok` or `Err` of the result that an expression ends with.
fn result(expr: &Expr) -> Option<&Ident> {
    match expr {
        Expr::Block(block) => {
            result(as_variant!(block.block.stmts.last()?, Stmt::Expr(last, None) => last)?)
        }
        Expr::Call(call) => {
            let name = as_variant!(&*call.func, Expr::Path(path) => path.path.get_ident()?);
            name.filter(|name| *name == "Ok" || *name == "Err")
        }
        _ => None,
    }
}

/// Refuses words without their quotes, if they name no argument.
fn unquoted(given: &[Argument], function: &Function, errors: &mut Errors) {
    for Argument { key, value, .. } in given {
        unquoted(value.section(), function, errors);
        if let KeyValue::Expr(Expr::Path(path)) = value {
            let words = key.takes().words();
            let word = path.path.get_ident();
            let word = word.filter(|word| words.iter().any(|known| word == known));
            if let Some(word) = word.filter(|word| function.is_reference(word).is_none()) {
                errors.push(error!(word.span() =>
                    "words stand in quotes: write `{key} = \"{word}\"`"));
            }
        }
    }
}
