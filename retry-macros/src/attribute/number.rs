use syn::{Expr, Lit, UnOp};

use crate::as_variant::as_variant;

/// The literal that an expression is.
pub(crate) fn literal(expr: &Expr) -> Option<&Lit> {
    as_variant!(expr, Expr::Lit(literal) => &literal.lit)
}

/// What stands after a minus sign.
pub(crate) fn negated(expr: &Expr) -> Option<&Expr> {
    as_variant!(expr, Expr::Unary(unary) if matches!(unary.op, UnOp::Neg(_)) => &unary.expr)
}

/// The number that a literal, with or without a minus sign, is. `None` where it is no literal number.
pub(crate) fn number(expr: &Expr) -> Option<syn::Result<f64>> {
    match literal(expr) {
        Some(Lit::Int(lit)) if is_number_type(lit.suffix()) => Some(lit.base10_parse()),
        Some(Lit::Float(lit)) if is_number_type(lit.suffix()) => Some(lit.base10_parse()),
        _ => number(negated(expr)?).map(|number| number.map(|number| -number)),
    }
}

/// Whether a literal ends as Rust's numbers do, and not in a unit.
pub(crate) fn is_number_type(suffix: &str) -> bool {
    let bits = suffix.strip_prefix(['u', 'i', 'f']);
    suffix.is_empty() || bits.is_some_and(|bits| bits == "size" || bits.parse::<u8>().is_ok())
}
