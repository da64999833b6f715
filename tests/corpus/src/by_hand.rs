//! The loop that a user would write around a body by hand.

use syn::spanned::Spanned;
use syn::visit::{self, Visit};
use syn::{ExprAsync, ExprClosure, ExprReturn, ExprTry, Item, Macro};

use crate::functions::{Edit, Function, Shape};

/// Two ways to write it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Way {
    /// The body itself, whose `return` and `?` leave a labelled block.
    Labelled,
    /// A closure, or an `async` block.
    Closed,
}

/// The edits that put a loop around a body, if that way can be written.
pub(crate) fn around(function: &Function, way: Way) -> Option<Vec<Edit>> {
    let body = function.block.span().byte_range();
    let is_named = !function.returned.contains("impl ");
    // Text with the type, if it can be written.
    let typed = |before: &str, after: &str| {
        let text = is_named.then(|| format!("{before}{}{after}", function.returned));
        text.unwrap_or_default()
    };
    let ty = typed(": ", "");
    let mut edits = Vec::new();
    let (before, after) = match (way, function.shape) {
        (Way::Labelled, Shape::Blocking | Shape::Async) => (
            format!("let corpus_outcome{ty} = 'corpus: {{"),
            "};".to_owned(),
        ),
        (Way::Labelled, Shape::Future | Shape::BoxedFuture) => (
            format!("let corpus_future{ty} = 'corpus: {{"),
            "}; let corpus_outcome = corpus_future.await;".to_owned(),
        ),
        (Way::Closed, Shape::Blocking) => {
            let returned = typed("-> ", "");
            (
                format!("let corpus_outcome{ty} = (|| {returned} {{"),
                "})();".to_owned(),
            )
        }
        (Way::Closed, Shape::Async) => {
            let never = " = loop {}; return corpus_never; }";
            let hint = typed("if false { let corpus_never: ", never);
            (
                format!("let corpus_outcome{ty} = async {{ {hint}"),
                "}.await;".to_owned(),
            )
        }
        (Way::Closed, Shape::Future | Shape::BoxedFuture) => (
            format!("let corpus_future{ty} = (|| {{"),
            "})(); let corpus_outcome = corpus_future.await;".to_owned(),
        ),
    };
    if way == Way::Labelled {
        let mut exits = Exits::default();
        exits.visit_block(&function.block);
        if exits.is_hidden {
            return None;
        }
        edits.append(&mut exits.found);
    }
    let (open, close) = match function.shape {
        Shape::Blocking | Shape::Async => ("", ""),
        Shape::Future => ("async move {", "}"),
        Shape::BoxedFuture => ("::std::boxed::Box::pin(async move {", "})"),
    };
    let open =
        format!("{{ {open} let mut corpus_attempt = 0; loop {{ corpus_attempt += 1; {before}");
    let close = format!(
        "{after} if corpus_outcome.is_ok() || corpus_attempt > 2 {{ break corpus_outcome; }} }} {close} }}"
    );
    // In place of the braces.
    edits.push((body.start..body.start + 1, open));
    edits.push((body.end - 1..body.end, close));
    Some(edits)
}

/// The `return`s and `?`s of a body, but not those of what is within.
#[derive(Default)]
struct Exits {
    found: Vec<Edit>,
    /// True if a macro's tokens may contain another one.
    is_hidden: bool,
}

impl Visit<'_> for Exits {
    fn visit_expr_return(&mut self, expr: &ExprReturn) {
        let keyword = expr.return_token.span().byte_range();
        self.found.push((keyword, String::from("break 'corpus")));
        visit::visit_expr_return(self, expr);
    }

    fn visit_expr_try(&mut self, expr: &ExprTry) {
        let start = expr.expr.span().byte_range().start;
        self.found.push((start..start, String::from("(match ")));
        visit::visit_expr_try(self, expr);
        self.found.push((
            expr.question_token.span().byte_range(),
            String::from(
                " { Ok(corpus_value) => corpus_value, Err(corpus_error) => break 'corpus Err(::core::convert::From::from(corpus_error)) })",
            ),
        ));
    }

    fn visit_macro(&mut self, found: &Macro) {
        let text = found.tokens.to_string();
        self.is_hidden |= text.contains('?') || text.contains("return");
        // A macro that ends the function by its own means.
        let last = found.path.segments.last();
        let name = last.map_or_else(String::new, |last| last.ident.to_string());
        let ends = ["bail", "ensure", "fail", "try"];
        self.is_hidden |= ends.iter().any(|part| name.contains(part));
    }

    fn visit_expr_closure(&mut self, _: &ExprClosure) {}

    fn visit_expr_async(&mut self, _: &ExprAsync) {}

    fn visit_item(&mut self, _: &Item) {}
}
