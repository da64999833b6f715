//! Parts that several places of an expansion share: paths, types, and the user's expressions.
//!
//! Locals begin with `retry_`: a constant or static of the same name in scope would turn them into patterns.

use proc_macro2::{Delimiter, Ident, Literal, TokenStream, TokenTree};
use quote::ToTokens;
use retry_vocabulary::key::Key;
use syn::Expr;
use syn::spanned::Spanned;

use crate::attribute::argument::KeyValue;
use crate::attribute::expression;
use crate::expand::model::{Model, SEE_ATTEMPT};
use crate::target::function::Asyncness;
use crate::tokens::{
    Code, code, if_else, is_punct, mapped, ours, ours_at, stream, trees, uses, with_content,
};

/// Prints the loop of one function.
pub(crate) struct Printer<'a> {
    pub(crate) model: &'a Model,
    /// What the loop can wait with.
    pub(crate) asyncness: Asyncness,
    /// What `self` is called where the attempt is made, where not `self`.
    pub(crate) this: Option<Ident>,
}

impl Printer<'_> {
    /// All that is known of the call, of type `&Call`. Functions are called by their paths: a trait of the user's may have
    /// methods of the same names for every type.
    pub(crate) fn whole_call(&self) -> Code {
        if_else(
            self.model.is_driven(),
            ours!(&retry_call.call()),
            ours!(&retry_call.whole(__RETRY_SITE)),
        )
    }

    /// The function's error type.
    pub(crate) fn error(&self) -> Code {
        let failing = &self.model.failing;
        ours!(<#failing as __retry::OutcomeTypes>::Error)
    }

    /// The type of the function's value.
    pub(crate) fn value(&self) -> Code {
        let valued = &self.model.valued;
        ours!(<#valued as __retry::OutcomeTypes>::Value)
    }

    /// The timer that the user named.
    pub(crate) fn named_timer(&self) -> Option<Code> {
        let timer = self.model.expr(Key::Timer)?;
        let function = match (self.asyncness, timer) {
            (_, Expr::Closure(_)) => code!(TimerFn::new),
            (Asyncness::Async, _) => code!(IntoTimer::into_timer),
            (Asyncness::Blocking, _) => code!(IntoBlockingTimer::into_timer),
        };
        Some(code!(__retry::#function(#(self.kept(timer)))))
    }

    /// Binds the timer that the user named.
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

    /// The timer that the user named, or the one of the runtime's features.
    pub(crate) fn own_timer(&self) -> Code {
        self.named_timer().unwrap_or_else(|| match self.asyncness {
            Asyncness::Async => code!(__retry::default_timer::<__retry::Features>()),
            Asyncness::Blocking => code!(__retry::DefaultTimer),
        })
    }

    /// What a timer implements here.
    pub(crate) fn timer_trait(&self) -> Code {
        match self.asyncness {
            Asyncness::Async => code!(__retry::Timer),
            Asyncness::Blocking => code!(__retry::BlockingTimer),
        }
    }

    /// The budget that all calls of this function share.
    pub(crate) fn own_budget(&self) -> Option<Code> {
        let own = code!(
            static __RETRY_BUDGET: __retry::Budget = __retry::Budget::standard();
        );
        let is_own = matches!(
            self.model.arguments.value(Key::Budget),
            Some(KeyValue::Alone)
        );
        is_own.then_some(own)
    }

    /// Binds what the user calls the attempt.
    pub(crate) fn attempt_binding(&self) -> Option<Code> {
        let name = self.model.attempt()?;
        // Where others use it, the body does not have to.
        let is_shared =
            self.model.is_validated() || SEE_ATTEMPT.into_iter().any(|key| self.uses_attempt(key));
        let is_unused = name.to_string().starts_with('_');
        Some(ours! {
            #?(is_shared) { #[allow(unused_variables)] }
            #?(is_unused) { #[allow(clippy::no_effect_underscore_binding)] }
            let #name = &retry_history;
        })
    }

    /// Binds the attempt for the closure of a key that uses it.
    pub(crate) fn attempt_for(&self, key: Key) -> Option<Code> {
        self.attempt_binding().filter(|_| self.uses_attempt(key))
    }

    fn uses_attempt(&self, key: Key) -> bool {
        let named = self.model.attempt().zip(self.model.expr(key));
        named.is_some_and(|(attempt, function)| {
            uses(function.to_token_stream(), &attempt.to_string())
        })
    }

    /// The user's expression where the function would end with a `return` in it.
    pub(crate) fn kept(&self, expr: &Expr) -> Code {
        Self::contained(expr, self.user(expr))
    }

    /// Code with the user's expression in it, where the function would end with a `return` in that. What takes a function
    /// stands within, or the compiler would not infer the argument of a closure.
    pub(crate) fn contained(expr: &Expr, code: Code) -> Code {
        let contained = ours_at!(expr.span()=> (|| #code)());
        if_else(Self::may_leave(expr), contained, code)
    }

    /// [`Self::contained`] for code that may return a future of what it changes.
    pub(crate) fn contained_future(expr: &Expr, code: Code) -> Code {
        let contained = ours_at!(expr.span()=> __retry::once(|| #code));
        if_else(Self::may_leave(expr), contained, code)
    }

    fn may_leave(expr: &Expr) -> bool {
        !matches!(expr, Expr::Closure(_)) && expression::may_leave(expr)
    }

    /// The user's expression, with `self` called as it is where the expression goes.
    pub(crate) fn user(&self, expr: &impl ToTokens) -> Code {
        match &self.this {
            Some(this) => rename_self(expr.to_token_stream(), this),
            None => expr.to_token_stream(),
        }
    }
}

/// Calls `self` `this`, except in items within, which have a `self` of their own.
pub(crate) fn rename_self(tokens: TokenStream, this: &Ident) -> TokenStream {
    let mut trees = trees(tokens);
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
                    content = mapped(content, &mut |token| rename_captured(token, this));
                }
                with_content(group, content).into()
            }
            _ => continue,
        };
        trees[index] = renamed;
    }
    stream(&trees)
}

/// A format string with `{self}` called as it is there.
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
