//! Checks values that are literals, and leaves expressions to the compiler.

use std::time::Duration;

use proc_macro2::Span;
use quote::ToTokens;
use retry_vocabulary::key::{Key, ValueType};
use retry_vocabulary::word::Word;
use retry_vocabulary::{duration, messages, range};
use syn::spanned::Spanned;
use syn::{Expr, ExprArray, Lit, LitInt, UnOp, parse_quote};

use crate::as_variant::as_variant;
use crate::attribute::argument::{KeyValue, Mode};
use crate::attribute::expression;
use crate::errors::error;

impl KeyValue {
    pub(crate) fn from_expr(key: Key, expr: Expr) -> syn::Result<Self> {
        let expr = ungroup(expr);
        if let Some(wrong) = expression::find_error(key, &expr) {
            return Err(wrong);
        }
        match key.value_type() {
            ValueType::Count => count(key, expr),
            ValueType::Factor => {
                let value = |number, _| Self::Factor(number);
                number_in_range(key, expr, range::is_factor, range::FACTOR, value)
            }
            ValueType::Repeats => {
                let value = |number, span| Self::Expr(integer(number, span));
                number_in_range(key, expr, range::is_repeat_count, range::REPEATS, value)
            }
            ValueType::Duration | ValueType::UpToCap(_) => duration(key, expr),
            ValueType::DurationAboveZero => match duration(key, expr.clone())? {
                Self::Duration(Duration::ZERO) => {
                    Err(out_of_range(key, &expr, range::POSITIVE_DURATION))
                }
                value => Ok(value),
            },
            ValueType::Backoff => match expr {
                Expr::Array(list) => delays(key, list).map(Self::List),
                Expr::Closure(_) => Ok(Self::Delays(expr)),
                Expr::Path(ref path) if is_function(&path.path) => Ok(Self::Delays(expr)),
                expr => word(key, expr, Self::Backoff),
            },
            ValueType::Hint => word(key, expr, Self::Hint),
            ValueType::Jitter => jitter(key, expr),
            ValueType::Stream if text(&expr).is_none() => {
                let words = r#"one of "first", "buffer" and "resume""#;
                Err(wrong_kind(key, &expr, words))
            }
            ValueType::Stream => word(key, expr, Self::Stream),
            ValueType::Bool => match literal(&expr) {
                Some(Lit::Bool(lit)) => Ok(Self::Bool(lit.value)),
                _ => expression(key, range::BOOL, expr),
            },
            ValueType::Text => string(key, expr),
            ValueType::Expr(wanted) => {
                let wanted = format!("{wanted}, as in `{}`", key.example());
                expression(key, &wanted, expr)
            }
            // The parser checks these types, which have their own grammars.
            _ => Ok(Self::Expr(expr)),
        }
    }

    /// The value to assume if a key's value is missing or can't be read, so that the function isn't checked as if the
    /// key were missing.
    pub(crate) fn dummy(key: Key) -> Option<Self> {
        (key.value_type() == ValueType::Stream).then_some(Self::Stream(Mode::First))
    }
}

fn jitter(key: Key, expr: Expr) -> syn::Result<KeyValue> {
    let added = text(&expr).and_then(|text| range::added_ratio(&text));
    let (ratio, value) = match (number(&expr).transpose()?, added) {
        (Some(ratio), _) => (ratio, KeyValue::Ratio(ratio)),
        (None, Some(ratio)) => (ratio, KeyValue::Added(ratio)),
        (None, None) => return word(key, expr, KeyValue::Jitter),
    };
    let value = range::is_ratio(ratio).then_some(value);
    value.ok_or_else(|| out_of_range(key, &expr, range::RATIO))
}

/// A string literal, or an expression that evaluates to a string.
fn string(key: Key, expr: Expr) -> syn::Result<KeyValue> {
    let Some(text) = text(&expr) else {
        return expression(key, "a string", expr);
    };
    if has_placeholder(&text) {
        let written = source_text(&expr);
        return Err(error!(expr.span() =>
            "`{key}` is used literally, placeholders included: to fill in a value, write `{key} = format!({written})`"));
    }
    Ok(KeyValue::Text(text))
}

/// True if a path with `::` names a function. A single name may be an argument.
fn is_function(path: &syn::Path) -> bool {
    let last = path.segments.last().filter(|_| path.segments.len() > 1);
    last.is_some_and(|last| last.ident.to_string().starts_with(char::is_lowercase))
}

/// Removes the invisible group in which `macro_rules!` passes an expression, and parentheses around a literal.
fn ungroup(expr: Expr) -> Expr {
    match expr {
        Expr::Group(group) => ungroup(*group.expr),
        Expr::Paren(paren) if is_literal(&paren.expr) || matches!(*paren.expr, Expr::Assign(_)) => {
            ungroup(*paren.expr)
        }
        Expr::Unary(mut unary) if matches!(unary.op, UnOp::Neg(_)) && is_literal(&unary.expr) => {
            unary.expr = Box::new(ungroup(*unary.expr));
            Expr::Unary(unary)
        }
        expr => expr,
    }
}

/// True for a literal, with or without signs and parentheses.
fn is_literal(expr: &Expr) -> bool {
    match expr {
        Expr::Lit(_) => true,
        Expr::Group(group) => is_literal(&group.expr),
        Expr::Paren(paren) => is_literal(&paren.expr),
        _ => minus_operand(expr).is_some_and(is_literal),
    }
}

/// True if a text contains a placeholder as in `format!`.
fn has_placeholder(text: &str) -> bool {
    let mut parts = text.split('{').skip(1);
    parts.any(|part| {
        let inner = part.split_once('}').map(|(inner, _)| inner);
        inner.is_some_and(|inner| inner.chars().all(|c| c.is_alphanumeric() || c == '_'))
    })
}

/// Accepts any expression except a literal, which can't have the key's type.
fn expression(key: Key, wanted: &str, expr: Expr) -> syn::Result<KeyValue> {
    if let Expr::Lit(_) = expr {
        return Err(wrong_kind(key, &expr, wanted));
    }
    Ok(KeyValue::Expr(expr))
}

fn text(expr: &Expr) -> Option<String> {
    as_variant!(literal(expr)?, Lit::Str(lit) => lit.value())
}

fn count(key: Key, expr: Expr) -> syn::Result<KeyValue> {
    if text(&expr).is_some_and(|text| text == "unlimited") {
        return Ok(KeyValue::Count(u32::MAX));
    }
    let count = match literal(&expr) {
        Some(Lit::Int(lit)) if is_number_type(lit.suffix()) => lit.base10_parse().ok(),
        Some(Lit::Int(_) | Lit::Float(_)) => None,
        _ if number(&expr).is_none() => return expression(key, range::COUNT, expr),
        _ => None,
    };
    let count = count.filter(|count| *count < u32::MAX).map(KeyValue::Count);
    count.ok_or_else(|| out_of_range(key, &expr, range::COUNT))
}

/// A word in quotes, as in configuration files, or an expression of the corresponding enum type.
fn word<W: Word>(key: Key, expr: Expr, value: fn(W) -> KeyValue) -> syn::Result<KeyValue> {
    let given = match literal(&expr) {
        // Other libraries use `true` and `false` here.
        Some(Lit::Bool(lit)) => Some(lit.value.to_string()),
        _ => text(&expr),
    };
    let Some(given) = given else {
        let (of, example) = (W::ENUM, key.example());
        let wanted = format!("a string or a `{of}`, as in `{example}`");
        return expression(key, &wanted, expr);
    };
    W::of(&given).map(value).ok_or_else(|| {
        let message = messages::unknown_word(key, &key, &given, &W::words());
        syn::Error::new(expr.span(), message)
    })
}

fn duration(key: Key, expr: Expr) -> syn::Result<KeyValue> {
    match literal_duration(key, &expr)? {
        Some(duration) => Ok(KeyValue::Duration(duration)),
        None => Ok(KeyValue::Expr(expr)),
    }
}

/// The duration in a literal. `None` if the expression is not a literal.
fn literal_duration(key: Key, expr: &Expr) -> syn::Result<Option<Duration>> {
    let text = match literal(expr) {
        Some(Lit::Str(lit)) => lit.value(),
        Some(_) => source_text(expr).replace('_', ""),
        None if minus_operand(expr).and_then(literal).is_some() => source_text(expr),
        None => return Ok(None),
    };
    duration::parse(&text).map(Some).map_err(|fault| {
        let message = messages::invalid_duration(&key, &source_text(expr), &text, fault);
        syn::Error::new(expr.span(), message)
    })
}

/// A list of literals.
fn delays(key: Key, list: ExprArray) -> syn::Result<Vec<Duration>> {
    if list.elems.is_empty() {
        return Err(syn::Error::new(list.span(), messages::empty_list(&key)));
    }
    let mut delays = Vec::new();
    for expr in list.elems.into_iter().map(ungroup) {
        let Some(delay) = literal_duration(key, &expr)? else {
            let wanted = "a list of literals: for other delays, write `Backoff::list(&[…])`";
            return Err(wrong_kind(key, &expr, wanted));
        };
        delays.push(delay);
    }
    Ok(delays)
}

/// Rewrites a number of any literal type as an integer literal without a suffix.
fn integer(number: f64, span: Span) -> Expr {
    let digits = LitInt::new(&number.to_string(), span);
    parse_quote!(#digits)
}

/// A literal number in a range, or an expression.
fn number_in_range(
    key: Key,
    expr: Expr,
    is_in: fn(f64) -> bool,
    wanted: &str,
    value: fn(f64, Span) -> KeyValue,
) -> syn::Result<KeyValue> {
    match number(&expr).transpose()? {
        Some(number) if is_in(number) => Ok(value(number, expr.span())),
        Some(_) => Err(out_of_range(key, &expr, wanted)),
        None => expression(key, wanted, expr),
    }
}

fn out_of_range(key: Key, expr: &Expr, wanted: &str) -> syn::Error {
    let message = messages::out_of_range(&key, &source_text(expr), wanted);
    syn::Error::new(expr.span(), message)
}

fn wrong_kind(key: Key, expr: &Expr, wanted: &str) -> syn::Error {
    let message = messages::wrong_kind(&key, &source_text(expr), wanted);
    syn::Error::new(expr.span(), message)
}

/// An expression as the user wrote it.
pub(crate) fn source_text(expr: &Expr) -> String {
    expr.to_token_stream().to_string().replace("- ", "-")
}

/// The literal, if the expression is one.
fn literal(expr: &Expr) -> Option<&Lit> {
    as_variant!(expr, Expr::Lit(literal) => &literal.lit)
}

/// The operand of a minus sign.
fn minus_operand(expr: &Expr) -> Option<&Expr> {
    as_variant!(expr, Expr::Unary(unary) if matches!(unary.op, UnOp::Neg(_)) => &unary.expr)
}

/// The value of a number literal, with or without a minus sign. `None` for other expressions.
pub(crate) fn number(expr: &Expr) -> Option<syn::Result<f64>> {
    match literal(expr) {
        Some(Lit::Int(lit)) if is_number_type(lit.suffix()) => Some(lit.base10_parse()),
        Some(Lit::Float(lit)) if is_number_type(lit.suffix()) => Some(lit.base10_parse()),
        _ => number(minus_operand(expr)?).map(|number| number.map(|number| -number)),
    }
}

/// True if a literal's suffix is a number type, not a unit.
fn is_number_type(suffix: &str) -> bool {
    let bits = suffix.strip_prefix(['u', 'i', 'f']);
    suffix.is_empty() || bits.is_some_and(|bits| bits == "size" || bits.parse::<u8>().is_ok())
}
