//! Checks of expressions, without knowledge of types.

use proc_macro2::{Delimiter, Ident, TokenStream, TokenTree};
use quote::ToTokens;
use retry_vocabulary::key::Key;
use syn::parse::{Parse, ParseStream, Parser};
use syn::{Expr, ExprAsync, ExprClosure, ItemFn, Path};

use crate::as_variant::as_variant;
use crate::attribute::argument::keys;
use crate::errors::error;
use crate::tokens::{any, is_among, is_ident, is_punct, mentions, shown, stream, to_vec};

/// The error in an expression, if any.
pub(crate) fn find_error(key: Key, expr: &Expr) -> Option<syn::Error> {
    async_error(key, expr)
        .or_else(|| assignment_error(key, expr))
        .or_else(|| jump_error(key, expr))
        .or_else(|| await_error(key, expr))
        .or_else(|| constructor_error(key, expr))
        .or_else(|| non_function_error(key, expr))
}

/// `timeout(max = 5)` and `backoff = exp(base = "1s")`
fn assignment_error(key: Key, expr: &Expr) -> Option<syn::Error> {
    let (word, assigned) = match expr {
        Expr::Assign(assigned) => (None, assigned),
        Expr::Call(call) => {
            let mut arguments = call.args.iter();
            let assigned = arguments.find_map(|it| as_variant!(it, Expr::Assign(it) => it));
            (Some(&call.func), assigned?)
        }
        _ => return None,
    };
    let (given, example) = (assigned.to_token_stream().to_string(), key.example());
    Some(match word.map(ToTokens::to_token_stream) {
        Some(word) => error!(in assigned.left =>
            "a value of `{key}` takes no arguments: write `{key} = \"{word}\", {given}`"),
        None if key == Key::Timeout => error!(in assigned.left =>
            "`timeout` takes a duration: to set how timeouts are retried, write `timed_out({given})`"),
        None => error!(in assigned.left =>
            "`{key}` takes a value, not keys: write `{example}`, for example"),
    })
}

/// Rejects an async closure that nothing awaits.
fn async_error(key: Key, expr: &Expr) -> Option<syn::Error> {
    let instead = match key {
        Key::Backoff | Key::First | Key::On | Key::Policy | Key::Show => "",
        Key::Until => ", or use `validate`, which may be `async` in an async function",
        Key::GiveUp => ", or use `fallback`, which may be `async` in an async function",
        Key::Observe => ", and send the event to a task of your own",
        _ => return None,
    };
    let closure = as_variant!(expr, Expr::Closure(closure) => closure)?;
    let asyncness = closure.asyncness.as_ref();
    let of_body = as_variant!(&*closure.body, Expr::Async(block) => &block.async_token);
    let asyncness = asyncness.or(of_body)?;
    Some(error!(asyncness.span =>
        "`{key}` can't be `async`, because nothing awaits it: remove `async`{instead}"))
}

/// Rejects `?`, `return`, `break` and the like, which would leave the expression in the middle of a call.
fn jump_error(key: Key, expr: &Expr) -> Option<syn::Error> {
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
    let token = find_outer(tokens.clone(), false, &leaves)?;
    Some(error!(token.span() =>
        "`{token}` would end the call without a retry: `{key}` must always produce a value; use `unwrap_or`, for example"))
}

fn is_jump(token: &TokenTree) -> bool {
    is_ident(token, "break") || is_ident(token, "continue")
}

/// True if the tokens contain `'label:`.
fn is_label(tokens: TokenStream, label: &Ident) -> bool {
    any(tokens, &mut |before, from| {
        let is_lifetime = before.last().is_some_and(|quote| is_punct(quote, '\''));
        is_lifetime
            && matches!(from, [TokenTree::Ident(name), colon, ..] if name == label && is_punct(colon, ':'))
    })
}

/// Keys whose values are evaluated at the start of the call or in the loop itself, where `.await` is possible.
const AWAITABLE_KEYS: [Key; 17] = keys![
    Timeout IdleTimeout Deadline TotalTimeout Until Validate Correct GiveUp Fallback BeforePause BeforeRetry Breaker Limiter Hedge
    Cancel Abort Timer
];

/// Rejects `.await` in a value that is evaluated after a failure, in a closure.
fn await_error(key: Key, expr: &Expr) -> Option<syn::Error> {
    if AWAITABLE_KEYS.contains(&key) {
        return None;
    }
    let is_await = |from: &[TokenTree], _| is_ident(&from[0], "await");
    let token = find_outer(expr.to_token_stream(), false, &is_await)?;
    Some(error!(token.span() =>
        "`{key}` can't contain `.await`: await the value before the call, and pass it as an argument or a field"))
}

/// True if a macro in the expression may contain a `return` that [`jump_error`] can't see. False if there is an
/// `.await`, which can't be moved into a closure.
pub(crate) fn may_return(expr: &Expr) -> bool {
    let tokens = expr.to_token_stream();
    let calls_macro = any(tokens.clone(), &mut |_, from| match from {
        [TokenTree::Ident(name), bang, TokenTree::Group(_), ..] if is_punct(bang, '!') => {
            !is_among(WITHOUT_RETURN, &name.to_string())
        }
        _ => false,
    });
    calls_macro && !mentions(tokens, "await")
}

/// Macros without a `return` in their expansion: those of `std` and of async runtimes.
const WITHOUT_RETURN: &str = "assert assert_eq assert_ne cfg column concat dbg debug_assert debug_assert_eq \
    debug_assert_ne env eprint eprintln file format format_args include_bytes include_str join line matches module_path option_env panic pin \
    print println select stringify todo try_join unimplemented unreachable vec";

/// A condition on a token. Takes the token with all tokens after it, and true if the token is in a loop.
type Test<'a> = dyn Fn(&[TokenTree], bool) -> bool + 'a;

/// The first token that meets the condition, outside of functions, closures and `async` blocks.
fn find_outer(tokens: TokenStream, is_looped: bool, is_match: &Test<'_>) -> Option<TokenTree> {
    let mut tokens = to_vec(tokens);
    let (mut at, mut is_loop) = (0, false);
    while at < tokens.len() {
        let (before, from) = tokens.split_at(at);
        if let Some(after) = skip_function(before, from) {
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
                find_outer(group.stream(), is_looped || is_body, is_match)
            }
            token => is_match(from, is_looped).then(|| token.clone()),
        };
        if found.is_some() {
            return found;
        }
        at += 1;
    }
    None
}

/// The tokens after a function, a closure or an `async` block, if one starts here.
fn skip_function(before: &[TokenTree], from: &[TokenTree]) -> Option<TokenStream> {
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

/// True if a `|` after these tokens is an operator or separates patterns.
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

/// Rejects macro calls and errors as values of keys that take a function.
fn non_function_error(key: Key, expr: &Expr) -> Option<syn::Error> {
    let asked = keys![On Until Validate Correct GiveUp Fallback BeforePause BeforeRetry Show];
    if let (true, Expr::Macro(call)) = (asked.contains(&key), expr) {
        let name = call.mac.path.to_token_stream().to_string();
        if is_among(WITHOUT_RETURN, &name) {
            let example = key.example();
            return Some(error!(in call.mac.path =>
                "`{key}` takes a function, as in `{example}`: wrap `{name}!(…)` in a closure"));
        }
    }
    let patterns = match (key, expr) {
        (Key::On, Expr::Path(_)) => variant_pattern(expr)?,
        (Key::On, Expr::Array(list)) => {
            let variants = list.elems.iter().map(variant_pattern);
            variants.collect::<Option<Vec<_>>>()?.join(" | ")
        }
        _ => return None,
    };
    Some(error!(in expr =>
        "`on` takes a function, not an error: write `on = |error| matches!(error, {patterns})`"))
}

/// A path that looks like an enum variant, as in a pattern.
fn variant_pattern(expr: &Expr) -> Option<String> {
    let path = as_variant!(expr, Expr::Path(path) => path)?;
    let name = path.path.segments.last()?.ident.to_string();
    let is_variant = name.starts_with(char::is_uppercase) && name.contains(char::is_lowercase);
    is_variant.then(|| shown(path))
}

const SHARED_KEYS: [Key; 4] = keys![Budget Breaker Limiter Observe];

/// Rejects a constructor call, which would create a new value for each call.
fn constructor_error(key: Key, expr: &Expr) -> Option<syn::Error> {
    let (path, made) = find_constructor(expr).filter(|_| SHARED_KEYS.contains(&key))?;
    // An observer in a pointer may be stateless, such as a closure.
    if key == Key::Observe && (made == "Arc" || made == "Rc") {
        return None;
    }
    let shown = shown(path);
    Some(error!(in path =>
        "`{shown}(…)` would be created again for each call: store the `{made}` in a `static` or in a field, and pass a reference"))
}

/// Constructors of pointers, and of the runtime's protections and stateful observers.
const CONSTRUCTORS: &[(&str, &[&str])] = &[
    ("Arc", &["new"]),
    ("Rc", &["new"]),
    ("Breaker", &["new", "default"]),
    ("Budget", &["standard", "ratio", "grpc", "default"]),
    ("ConcurrencyLimiter", &["aimd", "fixed", "leased"]),
    ("Progress", &["spinner", "counting"]),
    ("Stats", &["new", "default"]),
    ("RateLimiter", &["adaptive", "fixed", "quota"]),
];

/// The constructor call within an expression, and the name of its type.
fn find_constructor(expr: &Expr) -> Option<(&Path, String)> {
    match expr {
        Expr::MethodCall(call) => find_constructor(&call.receiver),
        Expr::Reference(reference) => find_constructor(&reference.expr),
        Expr::Paren(inner) => find_constructor(&inner.expr),
        Expr::Call(call) => {
            let function = as_variant!(&*call.func, Expr::Path(function) => function)?;
            let mut segments = function.path.segments.iter().rev();
            let [maker, made] =
                [segments.next()?, segments.next()?].map(|name| name.ident.to_string());
            if made == "WithCost" {
                return find_constructor(call.args.first()?);
            }
            let mut makers = CONSTRUCTORS.iter();
            let makes =
                makers.any(|(name, makers)| made == *name && makers.contains(&maker.as_str()));
            makes.then_some((&function.path, made))
        }
        _ => None,
    }
}
