//! Values: literals checked as far as they go, expressions left to the compiler.

use std::time::Duration;

use proc_macro2::Ident;
use quote::{ToTokens, quote};
use syn::spanned::Spanned;
use syn::{Expr, ExprLit, ExprUnary, Lit, UnOp};

use crate::argument::Value;
use crate::key::Key;
use crate::nearest;

/// The word of each shape, jitter and treatment of hints, and the name of its variant.
const BACKOFFS: &[(&str, &str)] = &[
    ("exp", "Exponential"),
    ("fixed", "Fixed"),
    ("linear", "Linear"),
    ("fibonacci", "Fibonacci"),
    ("none", "None"),
];
const JITTERS: &[(&str, &str)] = &[
    ("full", "Full"),
    ("equal", "Equal"),
    ("decorrelated", "Decorrelated"),
    ("none", "None"),
];
const HINTS: &[(&str, &str)] = &[("honor", "Honor"), ("clamp", "Clamp"), ("ignore", "Ignore")];
/// The modes of `stream`, which the macro itself reads.
const STREAMS: &[(&str, &str)] = &[
    ("first", "First"),
    ("buffer", "Buffer"),
    ("resume", "Resume"),
];

/// What an argument of that key looks like, for messages.
pub(crate) fn example(key: Key) -> &'static str {
    match key {
        Key::Max => "max = 5",
        Key::Backoff => r#"backoff = "exp""#,
        Key::Base => r#"base = "250ms""#,
        Key::Factor => "factor = 2",
        Key::Cap => r#"cap = "30s""#,
        Key::Jitter => r#"jitter = "full""#,
        Key::On => "on = is_retryable",
        Key::Until => "until = |value| !value.is_empty()",
        Key::Hint => r#"hint = "honor""#,
        Key::MaxHint => r#"max_hint = "1m""#,
        Key::Timeout => r#"timeout = "60s""#,
        Key::Deadline => r#"deadline = "2m""#,
        Key::Idempotent => "idempotent = false",
        Key::Throttled => "throttled(max = 10)",
        Key::Transient => "transient(max = 10)",
        Key::TimedOut => "timed_out(max = 1)",
        Key::Invalid => "invalid(max = 2)",
        Key::Attempt => "attempt = attempt",
        Key::Validate => "validate = |value| …",
        Key::Correct => "correct = async |value, error| …",
        Key::GiveUp => "give_up = |gave_up| gave_up.into_error()",
        Key::Fallback => "fallback = async |gave_up| …",
        Key::Repeats => "repeats = 2",
        Key::Budget => "budget = &self.turns",
        Key::Observe => "observe = |event| …",
        Key::Policy => "policy = self.policy",
        Key::Name => r#"name = "model.complete""#,
        Key::Timer => "timer = smol::Timer::after",
        Key::Stream => r#"stream = "first""#,
        Key::Crate => "crate = my_reexports::retry_runtime",
        Key::Wrapper => "wrapper = Retrying",
        Key::Of => "of = other_crate::Model",
    }
}

pub(crate) fn check(key: Key, expr: Expr) -> syn::Result<Value> {
    let expr = ungroup(expr);
    match key {
        Key::Max => count(expr),
        Key::Backoff => word(key, "Backoff", BACKOFFS, expr),
        Key::Hint => word(key, "Hint", HINTS, expr),
        // No expression: what is generated depends on it.
        Key::Stream
            if !matches!(
                &expr,
                Expr::Lit(ExprLit {
                    lit: Lit::Str(_),
                    ..
                })
            ) =>
        {
            Err(wrong_kind(
                key,
                &expr,
                r#"one of the words "first", "buffer", "resume""#,
            ))
        }
        Key::Stream => word(key, "Stream", STREAMS, expr),
        Key::Jitter => match number(&expr) {
            Some(ratio) => in_range(ratio?, 0.0..=1.0)
                .map(Value::Number)
                .ok_or_else(|| range(key, &expr, "a ratio from 0 to 1")),
            None => word(key, "Jitter", JITTERS, expr),
        },
        Key::Base | Key::Cap | Key::MaxHint => duration(key, expr),
        Key::Timeout | Key::Deadline => match duration(key, expr.clone())? {
            Value::Duration(Duration::ZERO) => Err(range(key, &expr, "a duration above zero")),
            value => Ok(value),
        },
        Key::Factor => match number(&expr) {
            Some(factor) => in_range(factor?, 1.0..=f64::MAX)
                .map(Value::Number)
                .ok_or_else(|| range(key, &expr, "a number from 1 up")),
            None => expression(key, "a number", expr),
        },
        Key::Repeats => match number(&expr) {
            Some(times) => in_range(times?, 2.0..=f64::from(u32::MAX))
                .filter(|times| times.fract() == 0.0)
                .map(|_| Value::Expr(expr.clone()))
                .ok_or_else(|| range(key, &expr, "a whole number from 2 up")),
            None => expression(key, "a whole number", expr),
        },
        Key::Idempotent => match &expr {
            Expr::Lit(ExprLit {
                lit: Lit::Bool(lit),
                ..
            }) => Ok(Value::Bool(lit.value)),
            _ => expression(key, "`true` or `false`", expr),
        },
        Key::Name => match &expr {
            Expr::Lit(ExprLit {
                lit: Lit::Str(lit), ..
            }) => Ok(Value::Text(lit.value())),
            _ => expression(key, "a string", expr),
        },
        Key::On | Key::Until | Key::Validate | Key::Correct | Key::GiveUp | Key::Fallback => {
            expression(key, "a function: a path or a closure", expr)
        }
        Key::Budget => expression(key, "a `RetryBudget`", expr),
        Key::Observe => expression(key, "an `Observer` or a closure", expr),
        Key::Policy => expression(key, "a `Policy`", expr),
        Key::Timer => expression(
            key,
            "a `Timer`, or a function from `Duration` to a future",
            expr,
        ),
        // Read by their own grammar.
        Key::Attempt
        | Key::Crate
        | Key::Throttled
        | Key::Transient
        | Key::TimedOut
        | Key::Invalid
        | Key::Wrapper
        | Key::Of => Ok(Value::Expr(expr)),
    }
}

/// `macro_rules!` hands an expression over in an invisible group.
fn ungroup(expr: Expr) -> Expr {
    match expr {
        Expr::Group(group) => ungroup(*group.expr),
        expr => expr,
    }
}

/// Any expression but a literal, which can't be what the key takes.
fn expression(key: Key, wanted: &str, expr: Expr) -> syn::Result<Value> {
    if let Expr::Lit(_) = expr {
        return Err(wrong_kind(key, &expr, wanted));
    }
    Ok(Value::Expr(expr))
}

fn count(expr: Expr) -> syn::Result<Value> {
    const WANTED: &str = "a whole number from 0 to 4294967294, or \"unlimited\"";
    match &expr {
        Expr::Lit(ExprLit {
            lit: Lit::Int(lit), ..
        }) => match lit.base10_parse() {
            Ok(count) if count < u32::MAX && is_number_type(lit.suffix()) => {
                Ok(Value::Count(count))
            }
            _ => Err(range(Key::Max, &expr, WANTED)),
        },
        Expr::Lit(ExprLit {
            lit: Lit::Str(lit), ..
        }) if lit.value() == "unlimited" => Ok(Value::Count(u32::MAX)),
        Expr::Lit(ExprLit {
            lit: Lit::Float(_), ..
        }) => Err(range(Key::Max, &expr, WANTED)),
        _ if number(&expr).is_some() => Err(range(Key::Max, &expr, WANTED)),
        _ => expression(Key::Max, WANTED, expr),
    }
}

/// A word of the configuration vocabulary, or an expression of the enum that the words stand for.
fn word(key: Key, of: &str, words: &[(&'static str, &str)], expr: Expr) -> syn::Result<Value> {
    let Expr::Lit(ExprLit {
        lit: Lit::Str(lit), ..
    }) = &expr
    else {
        let wanted = format!("a word in quotes or a `{of}`, as in `{}`", example(key));
        return expression(key, &wanted, expr);
    };
    let given = lit.value();
    match words.iter().find(|(word, _)| *word == given) {
        Some((word, variant)) => {
            let of = Ident::new(of, lit.span());
            let variant = Ident::new(variant, lit.span());
            Ok(Value::Word(word, quote!(#of::#variant)))
        }
        None => {
            let words: Vec<_> = words.iter().map(|(word, _)| *word).collect();
            let suggestion = nearest::suggestion(&given, &words);
            let message = format!("`{key}` has no `{given}`: {suggestion}");
            Err(syn::Error::new(lit.span(), message))
        }
    }
}

fn duration(key: Key, expr: Expr) -> syn::Result<Value> {
    let text = match &expr {
        Expr::Lit(ExprLit { lit, .. }) => match lit {
            Lit::Str(lit) => lit.value(),
            Lit::Int(_) | Lit::Float(_) => lit.to_token_stream().to_string().replace('_', ""),
            _ => return Err(wrong_kind(key, &expr, "a duration, as in `\"250ms\"`")),
        },
        // A minus sign has no place in a duration, however it goes on.
        Expr::Unary(ExprUnary {
            op: UnOp::Neg(_),
            expr: inner,
            ..
        }) if matches!(**inner, Expr::Lit(_)) => {
            return Err(range(key, &expr, "a duration from zero up"));
        }
        _ => return Ok(Value::Expr(expr)),
    };
    if text.trim().starts_with('-') {
        return Err(range(key, &expr, "a duration from zero up"));
    }
    if text.trim().is_empty() {
        return Err(wrong_kind(key, &expr, "a duration, as in `\"250ms\"`"));
    }
    if text.trim().parse::<f64>().is_ok() {
        let message = format!(
            "`{key} = {}` has no unit: write `\"{}s\"` for seconds, or `ms`, `m`, `h`",
            expr.to_token_stream(),
            text.trim()
        );
        return Err(syn::Error::new(expr.span(), message));
    }
    match humantime::parse_duration(&text) {
        Ok(duration) => Ok(Value::Duration(duration)),
        Err(error) => {
            let message = format!(
                "`{key}` can't be read as a duration: {error}. Write it as in `\"250ms\"`, `\"1.5s\"`, `\"1h30m\"`"
            );
            Err(syn::Error::new(expr.span(), message))
        }
    }
}

/// The number that a literal, with or without a minus sign, is. `None` where it is no literal number.
fn number(expr: &Expr) -> Option<syn::Result<f64>> {
    match expr {
        Expr::Lit(ExprLit {
            lit: Lit::Int(lit), ..
        }) if is_number_type(lit.suffix()) => Some(lit.base10_parse()),
        Expr::Lit(ExprLit {
            lit: Lit::Float(lit),
            ..
        }) if is_number_type(lit.suffix()) => Some(lit.base10_parse()),
        Expr::Unary(ExprUnary {
            op: UnOp::Neg(_),
            expr,
            ..
        }) => number(expr).map(|number| number.map(|number| -number)),
        _ => None,
    }
}

/// Whether a literal ends as Rust's numbers do, and not in a unit.
fn is_number_type(suffix: &str) -> bool {
    let bits = suffix.strip_prefix(['u', 'i', 'f']);
    suffix.is_empty() || bits.is_some_and(|bits| bits == "size" || bits.parse::<u8>().is_ok())
}

fn in_range(number: f64, range: std::ops::RangeInclusive<f64>) -> Option<f64> {
    range.contains(&number).then_some(number)
}

fn range(key: Key, expr: &Expr, wanted: &str) -> syn::Error {
    let given = expr.to_token_stream().to_string().replace("- ", "-");
    syn::Error::new(
        expr.span(),
        format!("`{key} = {given}` is out of range: it takes {wanted}"),
    )
}

fn wrong_kind(key: Key, expr: &Expr, wanted: &str) -> syn::Error {
    let given = expr.to_token_stream();
    syn::Error::new(
        expr.span(),
        format!("`{key}` can't be `{given}`: it takes {wanted}"),
    )
}
