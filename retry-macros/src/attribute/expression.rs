//! What an expression can't be, whatever its type.

use proc_macro2::{Delimiter, Ident, TokenStream, TokenTree};
use quote::ToTokens;
use retry_vocabulary::key::Key;
use syn::parse::{Parse, ParseStream, Parser};
use syn::{Expr, ExprAsync, ExprClosure, ItemFn, Path};

use crate::as_variant::as_variant;
use crate::attribute::argument::keys;
use crate::attribute::value::number;
use crate::errors::error;
use crate::tokens::{any, ends_with, is_among, is_ident, is_punct, mentions, shown, stream, trees};

/// Refuses a closure that is async where the call does not await it.
pub(crate) fn waits_for_nobody(key: Key, expr: &Expr) -> syn::Result<()> {
    let instead = match key {
        Key::Backoff | Key::First | Key::On | Key::Policy => "",
        Key::Until => ", or use `validate`, which may be `async` in an async function",
        Key::GiveUp => ", or use `fallback`, which may be `async` in an async function",
        Key::Observe => ", and hand the event to a task of yours",
        _ => return Ok(()),
    };
    let Expr::Closure(closure) = expr else {
        return Ok(());
    };
    let asyncness = match (&closure.asyncness, &*closure.body) {
        (Some(asyncness), _) => asyncness,
        (None, Expr::Async(block)) => &block.async_token,
        _ => return Ok(()),
    };
    Err(error!(asyncness.span =>
        "`{key}` can't be `async`, since nothing awaits it: remove `async`{instead}"))
}

/// A `?`, `return`, `break` or the like that would leave an expression in the middle of a call.
pub(crate) fn stays(key: Key, expr: &Expr) -> syn::Result<()> {
    let tokens = expr.to_token_stream();
    let leaves = |from: &[TokenTree], is_looped: bool| match from {
        [jump, quote, TokenTree::Ident(label), ..] if is_jump(jump) && is_punct(quote, '\'') => {
            !is_label(tokens.clone(), label)
        }
        [token, ..] => {
            is_punct(token, '?') || is_ident(token, "return") || is_jump(token) && !is_looped
        }
        [] => false,
    };
    find_own(tokens.clone(), false, &leaves).map_or(Ok(()), |token| {
        Err(error!(token.span() =>
            "`{token}` would end the call without a retry: give `{key}` a value in any case, as with `unwrap_or`"))
    })
}

fn is_jump(token: &TokenTree) -> bool {
    is_ident(token, "break") || is_ident(token, "continue")
}

/// Whether `'label:` stands among the tokens.
fn is_label(tokens: TokenStream, label: &Ident) -> bool {
    any(tokens, &mut |before, from| {
        let is_lifetime = before.last().is_some_and(|quote| is_punct(quote, '\''));
        is_lifetime
            && matches!(from, [TokenTree::Ident(name), colon, ..] if name == label && is_punct(colon, ':'))
    })
}

/// The keys that are read where the call begins, or in the loop itself.
const AWAITED: [Key; 16] = keys![
    Timeout IdleTimeout Deadline Until Validate Correct GiveUp Fallback BeforePause BeforeRetry Breaker Limiter Hedge
    Cancel Abort Timer
];

/// An `.await` in a value that is read after a failure, where nothing awaits.
pub(crate) fn is_ready(key: Key, expr: &Expr) -> syn::Result<()> {
    if AWAITED.contains(&key) {
        return Ok(());
    }
    let awaited = find_own(expr.to_token_stream(), false, &|from, _| {
        is_ident(&from[0], "await")
    });
    awaited.map_or(Ok(()), |token| {
        Err(error!(token.span() =>
            "`{key}` is read where nothing awaits: await it before the call, keep it in an argument or a field, and give that"))
    })
}

/// Whether a macro may hide a `return` that [`stays`] can't see. Not beside an `.await`, which can't be in the closure that
/// keeps it.
pub(crate) fn may_leave(expr: &Expr) -> bool {
    let tokens = expr.to_token_stream();
    let calls_macro = any(tokens.clone(), &mut |_, from| match from {
        [TokenTree::Ident(name), bang, TokenTree::Group(_), ..] if is_punct(bang, '!') => {
            !is_among(STAYS, &name.to_string())
        }
        _ => false,
    });
    calls_macro && !mentions(tokens, "await")
}

/// Macros that hide no `return`: of `std`, and of runtimes, which await.
const STAYS: &str = "assert assert_eq assert_ne cfg column concat dbg debug_assert debug_assert_eq debug_assert_ne env \
    eprint eprintln file format format_args include_bytes include_str join line matches module_path option_env panic pin \
    print println select stringify todo try_join unimplemented unreachable vec";

/// Whether a token is meant: it and all after it, and whether it stands in a loop.
type IsMeant<'a> = dyn Fn(&[TokenTree], bool) -> bool + 'a;

/// The first token that is meant, outside of functions, closures and `async` blocks.
fn find_own(tokens: TokenStream, is_looped: bool, is_meant: &IsMeant<'_>) -> Option<TokenTree> {
    let mut tokens = trees(tokens);
    let (mut at, mut is_loop) = (0, false);
    while at < tokens.len() {
        let (before, from) = tokens.split_at(at);
        if let Some(after) = after_function(before, from) {
            tokens.truncate(at);
            tokens.extend(after);
            continue;
        }
        let loops = ["loop", "while", "for"];
        is_loop |= loops.iter().any(|word| is_ident(&from[0], word));
        let found = match &from[0] {
            TokenTree::Group(group) => {
                let is_body = is_loop && group.delimiter() == Delimiter::Brace;
                is_loop &= !is_body;
                find_own(group.stream(), is_looped || is_body, is_meant)
            }
            token => is_meant(from, is_looped).then(|| token.clone()),
        };
        if found.is_some() {
            return found;
        }
        at += 1;
    }
    None
}

/// What follows a function, a closure or an `async` block, if one begins there.
fn after_function(before: &[TokenTree], from: &[TokenTree]) -> Option<TokenStream> {
    fn after<T: Parse>(input: ParseStream) -> syn::Result<TokenStream> {
        input.parse::<T>()?;
        input.parse()
    }
    let parse = match &from[0] {
        TokenTree::Ident(word) if word == "fn" => after::<ItemFn>,
        TokenTree::Ident(word) if word == "async" => after::<ExprAsync>,
        TokenTree::Punct(bar) if bar.as_char() == '|' && !ends_operand(before) => {
            after::<ExprClosure>
        }
        _ => return None,
    };
    parse.parse2(stream(from)).ok()
}

/// Whether a `|` after these tokens is an operator, or stands between patterns.
fn ends_operand(before: &[TokenTree]) -> bool {
    match before {
        [.., TokenTree::Ident(word)] => !is_among(
            "async break else in match move return static",
            &word.to_string(),
        ),
        [.., equals, angle] if is_punct(angle, '>') => !is_punct(equals, '='),
        [.., TokenTree::Punct(punct)] => punct.as_char() == '?',
        before => !before.is_empty(),
    }
}

/// Refuses what is no function where one is asked about errors or values.
pub(crate) fn is_function(key: Key, expr: &Expr) -> syn::Result<()> {
    let asked = keys![On Until Validate Correct GiveUp Fallback BeforePause BeforeRetry];
    if let (true, Expr::Macro(call)) = (asked.contains(&key), expr) {
        let name = call.mac.path.to_token_stream().to_string();
        if is_among(STAYS, &name) {
            let example = key.example();
            return Err(error!(in call.mac.path =>
                "`{key}` takes a function, as in `{example}`: put `{name}!(…)` into a closure"));
        }
    }
    let patterns = match (key, expr) {
        (Key::On, Expr::Path(_)) => variant(expr),
        (Key::On, Expr::Array(list)) => {
            let variants = list.elems.iter().map(variant);
            let variants = variants.collect::<Option<Vec<_>>>();
            variants.map(|variants| variants.join(" | "))
        }
        _ => None,
    };
    patterns.map_or(Ok(()), |patterns| {
        Err(error!(in expr =>
            "`on` takes a function of the error, not an error: write `on = |error| matches!(error, {patterns})`"))
    })
}

/// What looks like an enum's variant, as in a pattern.
fn variant(expr: &Expr) -> Option<String> {
    let path = as_variant!(expr, Expr::Path(path) => path)?;
    let name = path.path.segments.last()?.ident.to_string();
    let is_variant = name.starts_with(char::is_uppercase) && name.contains(char::is_lowercase);
    is_variant.then(|| shown(path))
}

const SHARED: [Key; 4] = keys![Budget Breaker Limiter Observe];

/// Refuses what is made where the key is evaluated: it knows of no other attempt.
pub(crate) fn is_shared(key: Key, expr: &Expr) -> syn::Result<()> {
    let Some((path, made)) = made_anew(expr).filter(|_| SHARED.contains(&key)) else {
        return Ok(());
    };
    let is_pointer = made == "Arc" || made == "Rc";
    // What it points to may remember nothing, as a closure does.
    if key == Key::Observe && is_pointer {
        return Ok(());
    }
    let (kept, given) = if is_pointer {
        ("in a field", "a reference or a clone")
    } else {
        ("in a `static` or in a field", "a reference")
    };
    let shown = shown(path);
    Err(error!(in path =>
        "`{shown}(…)` would be made anew each time, and so know of no other attempt: keep the `{made}` {kept}, and give {given}"))
}

/// What makes a pointer, or one of the runtime's own protections and of its observers that count.
const MAKERS: &[(&str, &[&str])] = &[
    ("Arc", &["new"]),
    ("Rc", &["new"]),
    ("Breaker", &["new", "default"]),
    ("Budget", &["standard", "ratio", "grpc", "default"]),
    ("ConcurrencyLimiter", &["aimd", "fixed", "leased"]),
    ("Progress", &["spinner", "counting"]),
    ("Stats", &["new", "default"]),
    ("RateLimiter", &["adaptive", "fixed", "quota"]),
];

/// The call that makes it, whatever is set or borrowed of it then, and the name of its type.
fn made_anew(expr: &Expr) -> Option<(&Path, String)> {
    match expr {
        Expr::MethodCall(call) => made_anew(&call.receiver),
        Expr::Reference(reference) => made_anew(&reference.expr),
        Expr::Paren(inner) => made_anew(&inner.expr),
        Expr::Call(call) => {
            let function = as_variant!(&*call.func, Expr::Path(function) => function)?;
            let mut segments = function.path.segments.iter().rev();
            let [maker, made] =
                [segments.next()?, segments.next()?].map(|name| name.ident.to_string());
            if made == "WithCost" {
                return made_anew(call.args.first()?);
            }
            let mut makers = MAKERS.iter();
            let makes =
                makers.any(|(name, makers)| made == *name && makers.contains(&maker.as_str()));
            makes.then_some((&function.path, made))
        }
        _ => None,
    }
}

/// Whether it looks like a quantile of a number above 1: in per cent, for which the compiler suggests a float of the same
/// number. Only the type says whether it is one.
pub(crate) fn is_per_cent(expr: &Expr) -> bool {
    let given = match expr {
        Expr::Paren(inner) => return is_per_cent(&inner.expr),
        Expr::Group(inner) => return is_per_cent(&inner.expr),
        Expr::MethodCall(call) if call.method == "quantile" => call.args.first(),
        // `Quantile` may have another name here.
        Expr::Call(call) if matches!(&*call.func, Expr::Path(function) if ends_with(&function.path, &["new"])) => {
            call.args.get(1)
        }
        _ => None,
    };
    let number = given.and_then(number);
    number.is_some_and(|number| number.is_ok_and(|number| number > 1.0))
}
