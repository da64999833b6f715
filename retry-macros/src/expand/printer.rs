//! Code that several parts of an expansion share: paths, types, and the user's expressions.
//!
//! The names of local variables start with `retry_`: if a constant or static had the same name, the binding would
//! become a pattern that matches its value.

use proc_macro2::{Delimiter, Ident, Literal, TokenStream, TokenTree};
use quote::ToTokens;
use retry_vocabulary::key::Key;
use syn::Expr;
use syn::spanned::Spanned;

use crate::attribute::argument::{ATTEMPT_KEYS, KeyValue};
use crate::attribute::expression;
use crate::expand::model::Model;
use crate::tokens::{
    Code, code, find_use, if_else, is_punct, ours, ours_at, stream, to_vec, with_content,
};

/// Prints the loop of one function.
pub(crate) struct Printer<'a> {
    pub(crate) model: &'a Model,
    /// True if the loop can await.
    pub(crate) is_async: bool,
    /// The name of `self` in the attempt, if it is renamed.
    pub(crate) this: Option<Ident>,
}

impl Printer<'_> {
    /// The state of the call, of type `&Call`. Its methods are called by path, because a user's trait may have methods
    /// with the same names for every type.
    pub(crate) fn full_call(&self) -> Code {
        let counted = ours!(&retry_call.full(__RETRY_SITE));
        if_else(self.model.is_driven, ours!(&retry_call.call()), counted)
    }

    /// The function's error type.
    pub(crate) fn error(&self) -> Code {
        let err_type = &self.model.err_type;
        ours!(<#err_type as __retry::OutcomeTypes>::Error)
    }

    /// The type of the function's `Ok` value.
    pub(crate) fn value(&self) -> Code {
        let ok_type = &self.model.ok_type;
        ours!(<#ok_type as __retry::OutcomeTypes>::Value)
    }

    /// The timer from the key `timer`.
    pub(crate) fn named_timer(&self) -> Option<Code> {
        let timer = self.model.expr(Key::Timer)?;
        let function = match timer {
            Expr::Closure(_) => code!(TimerFn::new),
            _ if self.is_async => code!(IntoTimer::into_timer),
            _ => code!(IntoBlockingTimer::into_timer),
        };
        Some(code!(__retry::#function(#(self.isolated(timer)))))
    }

    /// Binds the timer from the key `timer`.
    pub(crate) fn bound_timer(&self) -> Option<Code> {
        let timer = self.named_timer()?;
        Some(ours!(let retry_timer = #timer;))
    }

    pub(crate) fn names_timer(&self) -> bool {
        self.model.expr(Key::Timer).is_some()
    }

    /// The timer, or a reference to it.
    pub(crate) fn timer(&self) -> Code {
        if_else(self.names_timer(), ours!(&retry_timer), self.own_timer())
    }

    /// The timer from the key `timer`, or the default of the runtime's features.
    pub(crate) fn own_timer(&self) -> Code {
        let default = code!(__retry::default_timer::<__retry::Features>());
        let default = if_else(self.is_async, default, code!(__retry::DefaultTimer));
        self.named_timer().unwrap_or(default)
    }

    /// The timer trait for this kind of function.
    pub(crate) fn timer_trait(&self) -> Code {
        let blocking = code!(__retry::BlockingTimer);
        if_else(self.is_async, code!(__retry::Timer), blocking)
    }

    /// The function's own budget.
    pub(crate) fn own_budget(&self) -> Option<Code> {
        let own = code!(
            static __RETRY_BUDGET: __retry::Budget = __retry::Budget::standard();
        );
        let budget = self.model.arguments.value(Key::Budget);
        let is_own = matches!(budget, Some(KeyValue::NoValue));
        is_own.then_some(own)
    }

    /// Binds the attempt to the user's name for it.
    pub(crate) fn attempt_binding(&self) -> Option<Code> {
        let name = self.model.attempt()?;
        // The body need not use the attempt if a key's function can.
        let is_shared = self.model.has(&[Key::Validate])
            || ATTEMPT_KEYS.into_iter().any(|key| self.uses_attempt(key));
        let is_unused = name.to_string().starts_with('_');
        Some(ours! {
            #?(is_shared) { #[allow(unused_variables)] }
            #?(is_unused) { #[allow(clippy::no_effect_underscore_binding)] }
            let #name = &retry_history;
        })
    }

    /// Binds the attempt for the function of a key that uses it.
    pub(crate) fn attempt_for(&self, key: Key) -> Option<Code> {
        self.attempt_binding().filter(|_| self.uses_attempt(key))
    }

    fn uses_attempt(&self, key: Key) -> bool {
        let named = self.model.attempt().zip(self.model.expr(key));
        named.is_some_and(|(attempt, function)| {
            find_use(function.to_token_stream(), &attempt.to_string()).is_some()
        })
    }

    /// The user's expression, in a closure if a `return` in it could end the function.
    pub(crate) fn isolated(&self, expr: &Expr) -> Code {
        Self::isolate(expr, self.user_expr(expr))
    }

    /// Code that contains the user's expression, in a closure if a `return` in it could end the function. A call that
    /// takes the expression must be inside the closure. Otherwise, the compiler couldn't infer the argument types of a
    /// closure in the expression. The code may return a future that borrows mutably.
    pub(crate) fn isolate(expr: &Expr, code: Code) -> Code {
        let contained = ours_at!(expr.span()=> __retry::once(|| #code));
        if_else(Self::may_return(expr), contained, code)
    }

    /// The user's function for a key. A variable or a field is borrowed, because every attempt needs it. Functions are
    /// not, so that the compiler shows their signature if it is wrong.
    pub(crate) fn user_fn(&self, expr: &Expr) -> Code {
        let user = self.user_expr(expr);
        let borrowed = ours_at!(expr.span()=> &#user);
        if_else(self.model.may_be_variable(expr), borrowed, user)
    }

    fn may_return(expr: &Expr) -> bool {
        !matches!(expr, Expr::Closure(_)) && expression::may_return(expr)
    }

    /// The user's expression, with `self` renamed if necessary.
    pub(crate) fn user_expr(&self, expr: &impl ToTokens) -> Code {
        match &self.this {
            Some(this) => rename_self(expr.to_token_stream(), this),
            None => expr.to_token_stream(),
        }
    }
}

/// Renames `self` to `this`, except in nested items, which have their own `self`.
pub(crate) fn rename_self(tokens: TokenStream, this: &Ident) -> TokenStream {
    let mut trees = to_vec(tokens);
    let mut is_item = false;
    for index in 0..trees.len() {
        let (before, from) = trees.split_at(index);
        let renamed = match &from[0] {
            // In a path, `self` is the module.
            TokenTree::Ident(ident) if ident == "self" => {
                let in_path = from.get(1).is_some_and(|next| is_punct(next, ':'));
                let mut this = if in_path { ident.clone() } else { this.clone() };
                this.set_span(this.span().located_at(ident.span()));
                TokenTree::Ident(this)
            }
            TokenTree::Ident(ident) if ident == "impl" || ident == "trait" => {
                is_item = true;
                continue;
            }
            TokenTree::Group(group) if is_item => {
                is_item = group.delimiter() != Delimiter::Brace;
                continue;
            }
            TokenTree::Group(group) => {
                let mut content = rename_self(group.stream(), this);
                if matches!(before, [.., TokenTree::Ident(_), bang] if is_punct(bang, '!')) {
                    content = content
                        .into_iter()
                        .map(|token| rename_captured(token, this))
                        .collect();
                }
                with_content(group, content).into()
            }
            _ => continue,
        };
        trees[index] = renamed;
    }
    stream(&trees)
}

/// Renames `{self}` in a format string.
fn rename_captured(token: TokenTree, this: &Ident) -> TokenTree {
    let TokenTree::Literal(text) = &token else {
        return token;
    };
    let own = |text: &str| {
        let text = text.replace("{self}", &format!("{{{this}}}"));
        text.replace("{self:", &format!("{{{this}:"))
    };
    // Doubled braces are text, not a capture.
    let renamed: Vec<_> = text.to_string().split("{{").map(own).collect();
    match renamed.join("{{").parse::<Literal>() {
        Ok(mut renamed) => {
            renamed.set_span(this.span().located_at(text.span()));
            TokenTree::Literal(renamed)
        }
        Err(_) => token,
    }
}
