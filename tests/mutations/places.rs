//! Finds the places of a file that can be mutated.

use std::ops::Range;

use proc_macro2::Span;
use syn::spanned::Spanned;
use syn::visit::{self, Visit};
use syn::{
    Attribute, BinOp, Block, Expr, ExprBinary, ExprConst, ExprIf, ExprLit, ExprMethodCall,
    ExprRepeat, ExprUnary, GenericArgument, ImplItemConst, ImplItemFn, ItemConst, ItemFn, ItemMod,
    ItemStatic, Lit, Pat, ReturnType, Signature, Stmt, TraitItemConst, TraitItemFn, Type, UnOp,
    Variant,
};

/// A place in a file, and its mutation.
pub(crate) struct Place {
    pub(crate) line: usize,
    /// The mutation in words, and the first line of its code.
    pub(crate) change: String,
    /// The replaced code, in bytes. Empty for a statement that is inserted.
    pub(crate) range: Range<usize>,
    kind: Kind,
}

enum Kind {
    /// This code is evaluated instead of the expression.
    Instead(String),
    /// The statement is not executed.
    Deleted,
    /// The function begins with this statement.
    First(&'static str),
}

impl Place {
    /// The code before the range and the code after it that choose between it and the mutation.
    pub(crate) fn around(&self, number: usize) -> (String, &'static str) {
        match &self.kind {
            Kind::Instead(code) => (
                format!("(if ::mutated::on({number}) {{ {code} }} else {{ "),
                " })",
            ),
            Kind::Deleted => (format!("if !::mutated::on({number}) {{ "), " }"),
            Kind::First(code) => (format!(" if ::mutated::on({number}) {{ {code} }} "), ""),
        }
    }
}

/// Returns all places of a file, each before those inside it. Constants are left out, because they are evaluated by the
/// compiler; so are macros, which syn doesn't parse.
pub(crate) fn places(source: &str) -> syn::Result<Vec<Place>> {
    let mut finder = Finder {
        source,
        places: Vec::new(),
    };
    finder.visit_file(&syn::parse_file(source)?);
    Ok(finder.places)
}

struct Finder<'a> {
    source: &'a str,
    places: Vec<Place>,
}

/// Methods of which one is called instead of the other.
const METHODS: [[&str; 2]; 7] = [
    ["min", "max"],
    ["is_some", "is_none"],
    ["is_ok", "is_err"],
    ["is_some_and", "is_none_or"],
    ["any", "all"],
    ["saturating_add", "saturating_sub"],
    ["first", "last"],
];

impl Finder<'_> {
    fn text(&self, code: &impl Spanned) -> &str {
        &self.source[code.span().byte_range()]
    }

    fn add(&mut self, at: Span, change: &str, kind: Kind) {
        let (line, range) = (at.start().line, at.byte_range());
        let code = self.source.lines().nth(line - 1).unwrap_or_default();
        let change = format!("{change}: {}", code.trim());
        self.places.push(Place {
            line,
            change,
            range,
            kind,
        });
    }

    fn instead(&mut self, expression: &impl Spanned, change: &str, code: String) {
        self.add(expression.span(), change, Kind::Instead(code));
    }

    fn function(&mut self, signature: &Signature, block: &Block) {
        let output = match &signature.output {
            ReturnType::Default => "",
            ReturnType::Type(_, output) => self.text(output),
        };
        let first: &[_] = match output {
            "" => &["return;"],
            "bool" => &["return true;", "return false;"],
            option if option.starts_with("Option<") => &["return None;"],
            _ => &[],
        };
        if block.stmts.is_empty() {
            return;
        }
        for code in first {
            let change = format!("`{}` begins with `{code}`", signature.ident);
            self.add(block.brace_token.span.open(), &change, Kind::First(code));
            let place = self.places.last_mut().expect("the one just added");
            place.range.start = place.range.end;
        }
    }
}

/// Returns true if this condition declares variables for the code after it, so that it can't move into a block.
fn declares(condition: &Expr) -> bool {
    match condition {
        Expr::Let(_) => true,
        Expr::Binary(both) => declares(&both.left) || declares(&both.right),
        _ => false,
    }
}

fn is_for_tests(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        matches!(&attribute.meta, syn::Meta::List(list) if list.path.is_ident("cfg") && list.tokens.to_string().contains("test"))
    })
}

impl<'a> Visit<'a> for Finder<'_> {
    fn visit_attribute(&mut self, _: &'a Attribute) {}
    fn visit_expr_const(&mut self, _: &'a ExprConst) {}
    fn visit_generic_argument(&mut self, _: &'a GenericArgument) {}
    fn visit_impl_item_const(&mut self, _: &'a ImplItemConst) {}
    fn visit_item_const(&mut self, _: &'a ItemConst) {}
    fn visit_item_static(&mut self, _: &'a ItemStatic) {}
    fn visit_pat(&mut self, _: &'a Pat) {}
    fn visit_trait_item_const(&mut self, _: &'a TraitItemConst) {}
    fn visit_type(&mut self, _: &'a Type) {}
    fn visit_variant(&mut self, _: &'a Variant) {}

    fn visit_expr_repeat(&mut self, array: &'a ExprRepeat) {
        self.visit_expr(&array.expr);
    }

    fn visit_item_mod(&mut self, module: &'a ItemMod) {
        if !is_for_tests(&module.attrs) {
            visit::visit_item_mod(self, module);
        }
    }

    fn visit_item_fn(&mut self, function: &'a ItemFn) {
        if function.sig.constness.is_none() && !is_for_tests(&function.attrs) {
            self.function(&function.sig, &function.block);
            visit::visit_item_fn(self, function);
        }
    }

    fn visit_impl_item_fn(&mut self, function: &'a ImplItemFn) {
        if function.sig.constness.is_none() && !is_for_tests(&function.attrs) {
            self.function(&function.sig, &function.block);
            visit::visit_impl_item_fn(self, function);
        }
    }

    fn visit_trait_item_fn(&mut self, function: &'a TraitItemFn) {
        if let Some(block) = &function.default {
            self.function(&function.sig, block);
            visit::visit_trait_item_fn(self, function);
        }
    }

    fn visit_stmt(&mut self, statement: &'a Stmt) {
        // The compiler needs a jump where it needs a value.
        let jumps = |code: &_| matches!(code, Expr::Return(_) | Expr::Break(_) | Expr::Continue(_));
        if let Stmt::Expr(code, Some(_)) = statement
            && !jumps(code)
        {
            self.add(statement.span(), "removed", Kind::Deleted);
        }
        visit::visit_stmt(self, statement);
    }

    fn visit_expr_if(&mut self, branch: &'a ExprIf) {
        let condition = &*branch.cond;
        if !matches!(condition, Expr::Let(_) | Expr::Binary(_) | Expr::Unary(_)) {
            let code = format!("!({})", self.text(condition));
            self.instead(condition, "condition negated", code);
        }
        visit::visit_expr_if(self, branch);
    }

    fn visit_expr_binary(&mut self, both: &'a ExprBinary) {
        let instead = match both.op {
            BinOp::Lt(_) => "<=",
            BinOp::Le(_) => "<",
            BinOp::Gt(_) => ">=",
            BinOp::Ge(_) => ">",
            BinOp::Eq(_) => "!=",
            BinOp::Ne(_) => "==",
            BinOp::And(_) if !declares(&both.left) && !declares(&both.right) => "||",
            BinOp::Or(_) => "&&",
            BinOp::Add(_) => "-",
            BinOp::Div(_) => "*",
            BinOp::Sub(_) => "+",
            BinOp::Mul(_) => "/",
            _ => "",
        };
        if !instead.is_empty() {
            let (left, right) = (self.text(&both.left), self.text(&both.right));
            let code = format!("({left}) {instead} ({right})");
            let change = format!("`{}` becomes `{instead}`", self.text(&both.op));
            self.instead(both, &change, code);
        }
        visit::visit_expr_binary(self, both);
    }

    fn visit_expr_unary(&mut self, negated: &'a ExprUnary) {
        if matches!(negated.op, UnOp::Not(_)) {
            let code = self.text(&negated.expr).to_owned();
            self.instead(negated, "`!` removed", code);
        }
        visit::visit_expr_unary(self, negated);
    }

    fn visit_expr_method_call(&mut self, call: &'a ExprMethodCall) {
        let name = call.method.to_string();
        let pair = METHODS.into_iter().find(|pair| pair.contains(&&*name));
        if let Some([one, other]) = pair {
            let instead = if name == one { other } else { one };
            let receiver = self.text(&call.receiver);
            let end = call.span().byte_range().end;
            let rest = &self.source[call.method.span().byte_range().end..end];
            let code = format!("{receiver}.{instead}{rest}");
            self.instead(call, &format!("`{name}` becomes `{instead}`"), code);
        }
        visit::visit_expr_method_call(self, call);
    }

    fn visit_expr_lit(&mut self, literal: &'a ExprLit) {
        let instead = match &literal.lit {
            Lit::Bool(value) => (!value.value).to_string(),
            Lit::Int(value) => match value.base10_parse::<u128>() {
                Ok(number) => format!("{}{}", number.saturating_add(1), value.suffix()),
                Err(_) => return,
            },
            _ => return,
        };
        let change = format!("`{}` becomes `{instead}`", self.text(literal));
        self.instead(literal, &change, instead);
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn each_place_is_before_those_inside_it_and_constants_have_none() {
        let source = "
            const MOST: u32 = 1;
            const fn most() -> u32 { 2 }
            fn is_few(&self, count: u32) -> bool {
                self.met();
                !(count < MOST && count > 3) || matches!(count, 4)
            }";
        let found = super::places(source).expect("Rust");
        let found: Vec<_> = found
            .iter()
            .map(|place| (place.line, &source[place.range.clone()]))
            .collect();
        let condition = "!(count < MOST && count > 3)";
        let expected = [
            (4, ""),
            (4, ""),
            (5, "self.met();"),
            (6, "!(count < MOST && count > 3) || matches!(count, 4)"),
            (6, condition),
            (6, &condition[2..condition.len() - 1]),
            (6, "count < MOST"),
            (6, "count > 3"),
            (6, "3"),
        ];
        assert_eq!(found, expected);
    }
}
