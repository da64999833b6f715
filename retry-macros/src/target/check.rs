//! Rules that involve the arguments and the annotated function.

mod stream;

use proc_macro2::{Span, TokenTree};
use quote::ToTokens;
use retry_vocabulary::key::Key;
use syn::spanned::Spanned;
use syn::{Expr, ExprClosure, ReturnType, Stmt, Type};

use crate::as_variant::as_variant;
use crate::attribute::argument::{ATTEMPT_KEYS, Argument, Arguments, KeyValue, keys};
use crate::errors::{Errors, error, refuse};
use crate::target::function::{Body, DUPLICATE, Function, is_retry};
use crate::target::outcome::{self, Delivery, is_no_result, is_opaque};
use crate::target::wrapped_body::WrappedBody;
use crate::tokens::{any, find_use, is_ident, is_punct, shown};

/// Checks a target against the arguments in force, and collects the errors.
pub(crate) struct Check<'a> {
    arguments: &'a Arguments,
    function: &'a Function,
    placement: Placement,
    /// The end of messages about a method, with the alternative remedy: `#[retry(skip)]`.
    otherwise: String,
    errors: &'a mut Errors,
}

/// Reports that a block or a trait has nothing to retry, unless another error may be the reason.
pub(crate) fn report_nothing_retried(errors: &mut Errors) {
    if errors.is_empty() {
        errors.push(error!(Span::call_site() =>
            "`#[retry]` has no effect here: no method without `skip` is async or returns a `Result`, future or stream. Remove it, or put `#[retry]` on the method itself"));
    }
}

/// Reports a function whose return type seems to hide a future or a stream. Returns true if it reported one.
pub(crate) fn check_hidden(function: &Function, placement: Placement, errors: &mut Errors) -> bool {
    let returned = function.return_type().filter(|_| !function.is_async());
    let Some(hidden) = returned.and_then(outcome::hidden_future) else {
        return false;
    };
    let is_stream = hidden.to_string().ends_with("Stream");
    let (stream, future) = ("Stream<Item", "Future<Output");
    let kind = if is_stream { stream } else { future };
    let otherwise = placement.skip_remedy(function);
    let (macro_name, _) = placement.names();
    errors.push(error!(hidden.span() =>
        "`{macro_name}` can't see through `{hidden}` here: write the return type out, as `Pin<Box<dyn {kind} = Result<…>> + Send + '_>>`{otherwise}"));
    true
}

/// Reports a method of a block that is not retried although its return type contains a result, or is a macro.
pub(crate) fn report_inner_result(function: &Function, errors: &mut Errors) {
    let name = &function.signature.ident;
    if let Some(Type::Macro(hidden)) = function.return_type() {
        errors.push(error!(hidden.span() =>
            "`#[retry]` can't see through a macro here: write the return type out, or mark `{name}` `#[retry(skip)]`"));
    }
    if let Some(result) = outcome::find_result(function.signature.output.to_token_stream()) {
        errors.push(error!(result.span() =>
            "`#[retry]` can't retry a `{result}` inside another type: return it directly or as a future, or mark `{name}` `#[retry(skip)]`"));
    }
}

/// The place of the attribute, which determines the remedies in messages.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Placement {
    Alone,
    Block,
    /// In a trait, whose decorator calls the client's method.
    Decorator,
    /// In `retrying!`, in front of a block.
    Expression,
}

impl Placement {
    /// The macro's name, and the kind of its target.
    fn names(self) -> (&'static str, &'static str) {
        match self {
            Self::Alone | Self::Block | Self::Decorator => ("#[retry]", "function"),
            Self::Expression => ("retrying!", "block"),
        }
    }

    /// The alternative remedy for a method.
    fn skip_remedy(self, function: &Function) -> String {
        let name = &function.signature.ident;
        match self {
            Self::Alone | Self::Expression => String::new(),
            Self::Block | Self::Decorator => {
                format!(". To leave `{name}` out, mark it `#[retry(skip)]`")
            }
        }
    }
}

impl<'a> Check<'a> {
    pub(crate) fn new(
        arguments: &'a Arguments,
        function: &'a Function,
        placement: Placement,
        errors: &'a mut Errors,
    ) -> Self {
        Self {
            arguments,
            function,
            placement,
            otherwise: placement.skip_remedy(function),
            errors,
        }
    }

    /// Checks a function, or the block of `retrying!`. The arguments have already been checked on their own.
    pub(crate) fn run(mut self) {
        self.check_declaration();
        if self.placement != Placement::Expression {
            check_quotes(&self.arguments.given, self.function, self.errors);
        }
        let Some(returned) = self.function.return_type() else {
            let name = &self.function.signature.ident;
            return self.errors.at(name.span(), self.no_result_message());
        };
        let is_streamed = self.arguments.get(Key::Stream).is_some();
        if !is_streamed && check_hidden(self.function, self.placement, self.errors) {
            return;
        }
        let (outcome, delivery) = outcome::split(returned);
        self.check_stream(outcome);
        self.check_future_lifetime(returned, delivery);
        let is_direct = delivery == Delivery::Direct && !is_streamed;
        let is_blocking = is_direct && !self.function.is_async();
        if is_blocking {
            self.check_blocking();
        } else {
            self.check_hedge();
        }
        self.check_outcome(outcome);
        self.check_closures(is_blocking);
        self.check_attempt();
        self.check_dependencies();
        if self.runs_body() {
            self.check_clone();
            if let Some(shrunk) = self.function.shrunk_argument() {
                self.errors.push(error!(shrunk.span() =>
                    "an attempt can't shrink `{shrunk}` for the next one: take `{shrunk}` without `mut`, and start the body with `let mut {shrunk} = &mut *{shrunk};`, so that each attempt gets all of it"));
            }
        }
        self.check_borrows(outcome);
    }

    /// True if attempts run the body of a function.
    fn runs_body(&self) -> bool {
        matches!(self.placement, Placement::Alone | Placement::Block)
    }

    /// Rejects a function without `self` if a key of its block uses `self`.
    pub(crate) fn check_self(&mut self) {
        let signature = &self.function.signature;
        // In a path, `self` is the module.
        let is_self = |_: &[TokenTree], from: &[TokenTree]| {
            is_ident(&from[0], "self") && !from.get(1).is_some_and(|next| is_punct(next, ':'))
        };
        let reads_self = |key: &&Key| match self.arguments.value(**key) {
            Some(KeyValue::Expr(value)) => any(value.to_token_stream(), &mut { is_self }),
            _ => false,
        };
        let reading = self.arguments.from_block.iter().find(reads_self);
        if let (Some(key), None) = (reading, signature.receiver()) {
            let name = &signature.ident;
            self.errors.push(error!(name.span() =>
                "`{name}` has no `self`, which the block's `{key}` uses: mark `{name}` `#[retry(skip)]`, or give it its own `{key}`"));
        }
    }

    fn no_result_message(&self) -> String {
        let name = &self.function.signature.ident;
        let (target, remedy) = match self.placement {
            Placement::Alone => (format!("`{name}`"), "remove `#[retry]`"),
            Placement::Block | Placement::Decorator => {
                (format!("`{name}`"), "mark it `#[retry(skip)]`")
            }
            Placement::Expression => (String::from("the block"), "remove `retrying!`"),
        };
        format!(
            "{target} doesn't return a `Result`, so there is nothing to retry: return one, or {remedy}"
        )
    }

    /// Rejects an outcome that can't fail, and values that contain an unchecked `Result` or future.
    fn check_outcome(&mut self, outcome: &Type) {
        let ((_, target), otherwise) = (self.placement.names(), &self.otherwise);
        if is_no_result(outcome) {
            self.errors.at(outcome.span(), self.no_result_message());
        } else if is_opaque(outcome)
            && outcome::stream(outcome).is_none()
            && self.arguments.get(Key::Stream).is_none()
        {
            let name = &self.function.signature.ident;
            self.errors.push(error!(outcome.span() =>
                "`{name}` returns an `impl Trait` that hides whether it failed: return `Result<_, _>`, `impl Future<Output = Result<_, _>>` or `impl Stream<Item = Result<_, _>>`{otherwise}"));
        }
        if let Some(future) = outcome::inner_future(outcome) {
            self.errors.push(error!(in future =>
                "the future inside this `Result` would never be retried: await it in the {target} and return its output{otherwise}"));
        }
        let is_judged = self.arguments.has(&keys![Until Validate]);
        if let Some(result) = outcome::inner_result(outcome).filter(|_| !is_judged) {
            self.errors.push(error!(in result =>
                "the `Result` inside this one would never be retried: unwrap it with `?`, or reject such values with `until` or `validate`{otherwise}"));
        }
    }

    /// Rejects an outcome that borrows mutably, which the compiler rejects in every loop.
    fn check_borrows(&mut self, outcome: &Type) {
        let (function, otherwise) = (self.function, &self.otherwise);
        let kept = match (outcome::stream(outcome), self.arguments.get(Key::Stream)) {
            (Some(streamed), Some(_)) => streamed.item,
            _ => outcome,
        };
        if let Some(borrow) = outcome::borrow_in(kept, &|lifetime| function.lends_mutably(lifetime))
        {
            self.errors.push(error!(borrow.span() =>
                "a retried function can't return a value that borrows from a `&mut` argument, because each attempt reborrows it (rust-lang/rust#51132): return an owned value or an index, and borrow after the call; if the value borrows nothing, write `'static` for its lifetime{otherwise}"));
        }
    }

    /// Checks everything before the return type, and that there is a body.
    fn check_declaration(&mut self) {
        let (function, errors, otherwise) = (self.function, &mut *self.errors, &self.otherwise);
        let signature = &function.signature;
        for second in function.attributes.iter().filter(|other| is_retry(other)) {
            errors.at(second.path().span(), DUPLICATE);
        }
        if function.is_retried() {
            errors.push(error!(Span::call_site() =>
                "a second `#[retry]` under another name would multiply the attempts: keep only one; inside a block, call it `retry`"));
        }
        if let (Some(attribute), false) = (function.tracks_caller(), function.is_async()) {
            errors.push(error!(attribute.path().span() =>
                "`#[track_caller]` has no effect with `#[retry]`, because the attempts are called from within this function: remove it, and take the `&'static Location<'static>` as an argument{otherwise}"));
        }
        if let Some(constness) = &signature.constness {
            errors.push(error!(constness.span =>
                "a `const fn` can't wait between attempts: remove `const` or `#[retry]`{otherwise}"));
        }
        if let Some(variadic) = &signature.variadic {
            errors.push(error!(variadic.span() =>
                "a variadic function can't be retried: its arguments can be read only once{otherwise}"));
        }
        match &function.body {
            Body::Missing(semicolon) => {
                let instead = match signature.receiver() {
                    Some(_) => "the method of the `impl`",
                    None => "a function that calls it",
                };
                errors.push(error!(semicolon.span =>
                    "this function has no body: put `#[retry]` on {instead}"));
            }
            Body::Block(body)
                if !function.is_async() && WrappedBody::builds_runtime(&body.stream()) =>
            {
                errors.push(error!(signature.ident.span() =>
                    "each attempt would build a runtime and block its thread, because `#[tokio::main]` or `#[tokio::test]` above `#[retry]` makes the function blocking: move `#[retry]` above it"));
            }
            Body::Block(_) => {}
        }
    }

    /// Rejects a `'static` future that would have to keep a borrowed argument.
    fn check_future_lifetime(&mut self, returned: &Type, delivery: Delivery) {
        let keeps = self.runs_body() && delivery != Delivery::Direct;
        if keeps && outcome::is_static(returned) && self.function.borrows() {
            self.errors.push(error!(returned.span() =>
                "this future keeps the arguments for the retries, so it can't be `'static` if one of them is borrowed: return a future that borrows, such as `BoxFuture<'_, …>`, or take the arguments by value"));
        }
    }

    /// Rejects names in `clone` that can't be cloned for each attempt.
    fn check_clone(&mut self) {
        let Some(Argument {
            ident,
            value: KeyValue::Names(names),
            ..
        }) = self.arguments.get(Key::Clone)
        else {
            return;
        };
        if self.arguments.from_block.contains(&Key::Clone) {
            return self.errors.push(error!(ident.span() =>
                "`clone` can't be used on a block, because it names the arguments of one method: put it on that method, as in `#[retry(clone(request))]`"));
        }
        for name in names {
            match self.function.is_reference(name) {
                Some(false) => {}
                Some(true) => self.errors.push(error!(name.span() =>
                    "`{name}` is a reference, which every attempt can use without cloning: remove it from `clone`")),
                None => self.errors.push(error!(name.span() =>
                    "`{}` has no argument `{name}`: use the name of an argument that the body consumes", self.function.signature.ident)),
            }
        }
    }

    /// Rejects keys that have no effect without another key. Checked with a block's keys, because a block may set one
    /// key and its member the other.
    fn check_dependencies(&mut self) {
        let arguments = self.arguments;
        let all_is_read = arguments.errors.is_empty();
        // A decorator may be created with a policy.
        let has_policy = arguments.has(&keys![Policy Wrapper]);
        let is_alone = matches!(arguments.value(Key::Timeout), Some(KeyValue::NoValue));
        // If the error selects the policy, there is none before a failure.
        let by_error = arguments
            .value(Key::Policy)
            .is_some_and(KeyValue::is_closure);
        refuse! {arguments, self.errors;
            Correct if arguments.get(Key::Validate).is_none() && all_is_read =>
                "`correct` has no effect without `validate`, which rejects values: add `validate = |value| …`, or remove `correct`"
            Rejected if !arguments.has(&keys![Breaker Limiter]) && all_is_read =>
                "`rejected` has no effect without a `breaker` or a `limiter`, which reject attempts: add one of them, or remove `rejected`"
            Timeout if is_alone && !has_policy && all_is_read =>
                "`timeout` without a value uses the policy's timeout, but there is no `policy`: add one, or write a duration, as in `timeout = \"60s\"`"
            Until if by_error =>
                "`policy = |error| …` can't be combined with `until`, whose rejected values have no error: use `validate`, or a policy that is not a function"
            Hedge if by_error =>
                "`policy = |error| …` can't be combined with `hedge`, which needs a policy before an attempt has failed: remove `hedge`, or use a policy that is not a function"
            Timeout if is_alone && by_error =>
                "`policy = |error| …` can't be combined with a `timeout` without a value, which needs a policy before an attempt has failed: write a duration, as in `timeout = \"60s\"`, or use a policy that is not a function"
        }
    }

    /// Rejects `hedge` on functions whose attempts can't run at once.
    fn check_hedge(&mut self) {
        let (arguments, otherwise) = (self.arguments, &self.otherwise);
        let is_streamed = arguments.get(Key::Stream).is_some();
        let does_harm = arguments.is_off(Key::Idempotent);
        let is_single = matches!(arguments.value(Key::Max), Some(KeyValue::Count(0)));
        let shared = self.function.mutable_argument().filter(|_| !is_streamed);
        let (is_shared, argument) = (shared.is_some(), shared.unwrap_or_default());
        refuse! {arguments, self.errors;
            Hedge if is_streamed =>
                "`hedge` can't be combined with `stream`, because the items of one attempt can't replace those of another: remove one of them"
            Hedge if does_harm =>
                "`hedge` sends duplicate requests, which `idempotent = false` forbids: remove one of them"
            Hedge if is_single =>
                "`hedge` has no effect with `max = 0`, because a hedged attempt counts as a retry: remove one of them"
            Hedge if is_shared =>
                "`hedge` runs several attempts at once, which can't share {argument}: borrow it without `mut`, use a lock or an atomic for what changes, or remove `hedge`{otherwise}"
        }
    }

    /// Rejects keys that a blocking function can't have.
    fn check_blocking(&mut self) {
        let ((_, target), otherwise) = (self.placement.names(), &self.otherwise);
        refuse! {self.arguments, self.errors;
            Timeout if true =>
                "`timeout` can't be used on a blocking {target}, which can't be stopped while it runs: make it `async`, or pass a timeout to the call it makes{otherwise}"
            TotalTimeout if true =>
                "`total_timeout` can't be used on a blocking {target}, which can't be stopped while it runs: make it `async`, or use `deadline`, which ends pauses{otherwise}"
            Abort if true =>
                "`abort` can't be used on a blocking {target}, which can't be stopped while it runs: make it `async`, or use `cancel`, which ends pauses{otherwise}"
            Hedge if true =>
                "`hedge` can't be used on a blocking {target}, which makes one attempt at a time: make it `async`, or remove `hedge`{otherwise}"
        }
    }

    /// Rejects async closures that nothing awaits, closures that don't return a future although one is awaited, and
    /// hooks that end with an `Ok(())` of unknown error type.
    fn check_closures(&mut self, is_blocking: bool) {
        let (_, target) = self.placement.names();
        for key in keys![Validate Correct BeforePause BeforeRetry Fallback] {
            let Some(KeyValue::Expr(Expr::Closure(closure))) = self.arguments.value(key) else {
                continue;
            };
            let end = non_future_end(&closure.body)
                .filter(|_| !matches!(key, Key::Validate | Key::Correct));
            let is_hook = matches!(key, Key::BeforePause | Key::BeforeRetry);
            match (closure.asyncness, end) {
                (Some(asyncness), _) if is_blocking => self.errors.push(error!(asyncness.span =>
                    "the `{key}` of a blocking {target} can't be `async`: remove `async` here, or make the {target} `async`")),
                (None, Some(end)) if !is_blocking => self.errors.push(error!(end =>
                    "the `{key}` of an async {target} must be async: write `{}`", key.example())),
                (_, Some(end)) if is_hook && is_always_ok(closure) => self.errors.push(error!(end =>
                    "`{key}` may return `()`: remove this `Ok(())`, whose error type is unknown")),
                _ => {}
            }
        }
    }

    /// Rejects the attempt in keys that can't use it, except in closures, which may have a variable of that name.
    fn check_attempt(&mut self) {
        let Some(KeyValue::Name(attempt)) = self.arguments.value(Key::Attempt) else {
            return;
        };
        for Argument { key, value, .. } in &self.arguments.given {
            let expr = as_variant!(value, KeyValue::Expr(expr) => expr.to_token_stream());
            let expr = expr.filter(|_| !ATTEMPT_KEYS.contains(key) && !value.is_closure());
            let used = expr.and_then(|expr| find_use(expr, &attempt.to_string()));
            if let Some(used) = used.filter(|_| self.function.is_reference(attempt).is_none()) {
                self.errors.push(error!(used.span() =>
                    "`{key}` can't use `{attempt}`: only the body, `on`, `policy`, `validate`, `correct`, `before_pause` and `before_retry` can"));
            }
        }
    }
}

/// The end of a closure's body if it is certainly not a future: `Ok(…)`, `Err(…)`, `…;` or `{}`.
fn non_future_end(expr: &Expr) -> Option<Span> {
    match expr {
        Expr::Block(block) => match block.block.stmts.last() {
            Some(Stmt::Expr(last, None)) => non_future_end(last),
            Some(Stmt::Expr(Expr::Return(_), _) | Stmt::Macro(_)) => None,
            _ => Some(block.span()),
        },
        Expr::Call(call) => {
            let name = as_variant!(&*call.func, Expr::Path(path) => path.path.get_ident()?)?;
            (*name == "Ok" || *name == "Err").then(|| name.span())
        }
        _ => None,
    }
}

/// True if a closure's only result is an `Ok(())` of unknown error type.
fn is_always_ok(closure: &ExprClosure) -> bool {
    let body = shown(&closure.body);
    let may_fail = ["?", "!", "return", "Err"]
        .iter()
        .any(|word| body.contains(word));
    let is_typed = matches!(closure.output, ReturnType::Type(..));
    body.trim_end_matches('}').ends_with("Ok(())") && !may_fail && !is_typed
}

/// Rejects words without quotes, unless they are arguments.
fn check_quotes(given: &[Argument], function: &Function, errors: &mut Errors) {
    for Argument { key, value, .. } in given {
        check_quotes(value.section(), function, errors);
        if let KeyValue::Expr(Expr::Path(path)) = value {
            let words = key.value_type().words();
            let word = path.path.get_ident();
            let word = word.filter(|word| words.iter().any(|known| word == known));
            if let Some(word) = word.filter(|word| function.is_reference(word).is_none()) {
                errors.push(error!(word.span() =>
                    "this value must be a string: write `{key} = \"{word}\"`"));
            }
        }
    }
}
