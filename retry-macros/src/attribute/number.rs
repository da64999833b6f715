use syn::{Expr, ExprLit, ExprUnary, Lit, UnOp};

/// The number that a literal, with or without a minus sign, is. `None` where it is no literal number.
pub(crate) fn number(expr: &Expr) -> Option<syn::Result<f64>> {
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
pub(crate) fn is_number_type(suffix: &str) -> bool {
    let bits = suffix.strip_prefix(['u', 'i', 'f']);
    suffix.is_empty() || bits.is_some_and(|bits| bits == "size" || bits.parse::<u8>().is_ok())
}
