//! What is to be generated: every decision, none of the printing.

use proc_macro2::{Literal, Span, TokenStream};
use quote::{ToTokens, TokenStreamExt, format_ident, quote, quote_spanned};
use syn::{Expr, Type};

use crate::argument::{Argument, Value};
use crate::function::Function;
use crate::key::Key;
use crate::outcome::{self, Delivery};
use crate::parse::Arguments;
use crate::stream::Stream;
use crate::tokens::Path;

pub(crate) struct Model {
    pub(crate) function: Function,
    /// The path to the runtime crate.
    pub(crate) krate: Path,
    /// The path to what expansions call.
    pub(crate) support: Path,
    /// Whether the user named it.
    pub(crate) names_crate: bool,
    /// The type of an attempt's outcome, without `impl Trait`.
    pub(crate) outcome: Type,
    /// A type with the same error, where nothing is left to be inferred.
    pub(crate) failing: Type,
    /// Where a complaint about the error type points.
    pub(crate) error_span: Span,
    pub(crate) delivery: Delivery,
    /// Where the function returns a stream and says what to do with it.
    pub(crate) stream: Option<Stream>,
    /// Of type `&str`.
    pub(crate) name: TokenStream,
    /// Of type `Policy`.
    pub(crate) policy: TokenStream,
    /// Its `max`, where it and the name are known when compiling.
    pub(crate) known_max: Option<TokenStream>,
    /// Whether delays depend on more than the number of retries.
    pub(crate) tracked: bool,
    pub(crate) on: Option<Expr>,
    pub(crate) until: Option<Expr>,
    /// With where a complaint points that the error type is not made from `TimedOut`.
    pub(crate) timeout: Option<(TokenStream, Span)>,
    /// Of type `Option<Instant>`.
    pub(crate) deadline: Option<TokenStream>,
    pub(crate) idempotent: Option<TokenStream>,
    /// What the body calls its `&Attempt`.
    pub(crate) attempt: Option<syn::Ident>,
    pub(crate) validate: Option<Expr>,
    pub(crate) correct: Option<Expr>,
    pub(crate) repeats: Option<Expr>,
    pub(crate) budget: Option<Expr>,
    pub(crate) ending: Ending,
    pub(crate) observe: Option<Expr>,
    /// Of a type that implements `Timer`, where the user named one.
    pub(crate) timer: Option<TokenStream>,
    /// In a decorator, the arguments that are cloned for every attempt but the last.
    pub(crate) owned: Option<Vec<syn::Ident>>,
}

/// What is particular to a method of a decorator.
pub(crate) struct Decorated<'a> {
    /// The arguments of the trait's attribute, and of the method's.
    pub(crate) of_trait: &'a Arguments,
    pub(crate) own: Arguments,
    /// The decorator, which may have a policy.
    pub(crate) this: Option<syn::Token![self]>,
    pub(crate) owned: Vec<syn::Ident>,
}

/// Where a decorator keeps an owned argument for the last attempt.
pub(crate) fn slot(argument: &syn::Ident) -> syn::Ident {
    format_ident!("retry_argument_{}", argument, span = Span::mixed_site())
}

/// The path to the runtime crate.
pub(crate) fn krate(arguments: &Arguments) -> Path {
    match arguments.value(Key::Crate) {
        Some(Value::Path(path)) => Path::new(path.clone()),
        _ => Path::new(quote!(::retry_runtime)),
    }
}

/// How a call ends that gives up.
pub(crate) enum Ending {
    Error,
    GiveUp(Expr),
    Fallback(Expr),
}

impl Model {
    pub(crate) fn new(arguments: Arguments, function: Function) -> Self {
        let krate = krate(&arguments);
        let support = Path::new(quote!(#krate::macro_support));
        // The check refused functions without.
        let unit = Type::Tuple(syn::TypeTuple {
            attrs: Vec::new(),
            paren_token: syn::token::Paren::default(),
            elems: syn::punctuated::Punctuated::new(),
        });
        let returned = function.return_type().unwrap_or(&unit);
        let (outcome, delivery) = outcome::of(returned);
        let expr = |key| match arguments.value(key) {
            Some(Value::Expr(expr)) => Some(expr.clone()),
            _ => None,
        };
        let ending = match (expr(Key::GiveUp), expr(Key::Fallback)) {
            (Some(give_up), _) => Ending::GiveUp(give_up),
            (None, Some(fallback)) => Ending::Fallback(fallback),
            (None, None) => Ending::Error,
        };
        let constant = is_constant(&arguments);
        let policy = policy(&arguments, constant, &krate, &support);
        let stream = Stream::new(&arguments, outcome);
        let failing = outcome::stream(outcome)
            .filter(|_| stream.is_some())
            .map_or(outcome, |streamed| streamed.item);
        let deadline = match (arguments.value(Key::Deadline), arguments.get(Key::Policy)) {
            (Some(deadline), _) => {
                let deadline = tokens(Key::Deadline, deadline, &krate, &support);
                Some(quote!(#support::deadline(#deadline)))
            }
            (None, Some(_)) => Some(quote!(#support::policy_deadline(&#policy))),
            (None, None) => None,
        };
        Self {
            outcome: outcome::erase_impl_trait(outcome),
            failing: outcome::without_value(failing),
            error_span: outcome::error_span(failing),
            delivery,
            stream,
            name: name(&arguments, &function),
            tracked: is_tracked(&arguments.given),
            on: expr(Key::On),
            until: expr(Key::Until),
            timeout: arguments.get(Key::Timeout).map(|argument| {
                let timeout = tokens(Key::Timeout, &argument.value, &krate, &support);
                (timeout, argument.ident.span())
            }),
            deadline,
            idempotent: arguments
                .value(Key::Idempotent)
                .map(|value| tokens(Key::Idempotent, value, &krate, &support)),
            attempt: arguments.value(Key::Attempt).and_then(|value| match value {
                Value::Name(name) => Some(name.clone()),
                _ => None,
            }),
            validate: expr(Key::Validate),
            correct: expr(Key::Correct),
            repeats: expr(Key::Repeats),
            budget: expr(Key::Budget),
            ending,
            observe: expr(Key::Observe),
            timer: expr(Key::Timer).map(|timer| match timer {
                Expr::Closure(_) => quote!(#support::timer_fn(#timer)),
                _ => quote!(#support::timer(#timer)),
            }),
            policy,
            known_max: constant.then(|| max(&arguments, &support)),
            names_crate: arguments.get(Key::Crate).is_some(),
            owned: None,
            krate,
            support,
            function,
        }
    }

    /// The model of a decorator's method: a policy that the decorator was made with stands in place of that of
    /// the trait's attribute, and the method's own numbers on top of either.
    pub(crate) fn decorated(
        arguments: Arguments,
        function: Function,
        decorated: Decorated<'_>,
    ) -> Self {
        let mut model = Self::new(arguments, function);
        model.owned = Some(decorated.owned);
        model.tracked = true;
        let (Some(this), None) = (decorated.this, decorated.own.get(Key::Policy)) else {
            return model;
        };
        let (krate, support) = (&model.krate, &model.support);
        let of_trait = policy(decorated.of_trait, false, krate, support);
        let own = setters(&numbers(&decorated.own), krate, support);
        model.known_max = None;
        model.policy = quote!(#support::policy_or(&#this.policy, #of_trait)#own);
        if decorated.own.get(Key::Deadline).is_none() {
            let of_trait = model
                .deadline
                .unwrap_or_else(|| quote!(::core::option::Option::None));
            model.deadline = Some(quote! {
                match &#this.policy {
                    ::core::option::Option::Some(retry_policy) => #support::policy_deadline(retry_policy),
                    ::core::option::Option::None => #of_trait,
                }
            });
        }
        model
    }

    /// Whether the name and the policy are known when compiling.
    pub(crate) fn is_constant(&self) -> bool {
        self.known_max.is_some()
    }

    /// Whether earlier errors and the start of the call are kept.
    pub(crate) fn keeps_history(&self) -> bool {
        self.attempt.is_some() || self.repeats.is_some() || !matches!(self.ending, Ending::Error)
    }
}

fn name(arguments: &Arguments, function: &Function) -> TokenStream {
    match arguments.value(Key::Name) {
        Some(Value::Text(text)) => text.to_token_stream(),
        Some(Value::Expr(expr)) => {
            let span = syn::spanned::Spanned::span(expr);
            quote_spanned!(span=> ::core::convert::AsRef::<str>::as_ref(&(#expr)))
        }
        _ => {
            let ident = function.signature.ident.to_string();
            let path = format!("::{}", ident.trim_start_matches("r#"));
            quote!(::core::concat!(::core::module_path!(), #path))
        }
    }
}

fn policy(arguments: &Arguments, constant: bool, krate: &Path, support: &Path) -> TokenStream {
    if let Some(Value::Expr(expr)) = arguments.value(Key::Policy) {
        return quote!(#support::policy(#expr));
    }
    let (literals, expressions): (Vec<_>, Vec<_>) = numbers(arguments)
        .into_iter()
        .partition(|argument| is_literal(&argument.value));
    let literals = setters(&literals, krate, support);
    if constant {
        // In a constant of the whole.
        return quote!(#krate::Policy::new()#literals);
    }
    let expressions = setters(&expressions, krate, support);
    quote!(const { #krate::Policy::new()#literals }#expressions)
}

fn max(arguments: &Arguments, support: &Path) -> TokenStream {
    match arguments.value(Key::Max) {
        Some(Value::Count(count)) => count.to_token_stream(),
        _ => quote!(#support::DEFAULT_MAX),
    }
}

/// The arguments that a policy is made of. A deadline is reckoned at the call's start, beside the policy.
fn numbers(arguments: &Arguments) -> Vec<&Argument> {
    let given = arguments.given.iter();
    given
        .filter(|argument| Key::OF_POLICY.contains(&argument.key) && argument.key != Key::Deadline)
        .collect()
}

fn setters(arguments: &[&Argument], krate: &Path, support: &Path) -> TokenStream {
    let mut setters = TokenStream::new();
    for argument in arguments {
        let setter = &argument.ident;
        let value = tokens(argument.key, &argument.value, krate, support);
        setters.append_all(quote!(.#setter(#value)));
    }
    setters
}

/// Whether neither the name nor the policy is an expression.
fn is_constant(arguments: &Arguments) -> bool {
    let is_known = |key| arguments.value(key).is_none_or(is_literal);
    let mut numbers = numbers(arguments).into_iter();
    numbers.all(|argument| is_literal(&argument.value))
        && is_known(Key::Name)
        && is_known(Key::Policy)
}

fn is_literal(value: &Value) -> bool {
    match value {
        Value::Expr(_) => false,
        Value::Section(inner) => inner.iter().all(|argument| is_literal(&argument.value)),
        _ => true,
    }
}

/// A value, of the type that the runtime takes for that key.
fn tokens(key: Key, value: &Value, krate: &Path, support: &Path) -> TokenStream {
    match value {
        Value::Count(count) => count.to_token_stream(),
        Value::Duration(duration) => {
            let (seconds, nanos) = (duration.as_secs(), duration.subsec_nanos());
            quote!(::core::time::Duration::new(#seconds, #nanos))
        }
        Value::Number(number) => {
            let number = Literal::f64_suffixed(*number);
            match key {
                Key::Jitter => quote!(#krate::Jitter::Ratio(#number)),
                _ => quote!(#number),
            }
        }
        Value::Word(_, variant) => quote!(#krate::#variant),
        Value::Text(text) => text.to_token_stream(),
        Value::Bool(bool) => bool.to_token_stream(),
        Value::Expr(expr) => match key {
            Key::Max => {
                let span = syn::spanned::Spanned::span(expr);
                quote_spanned!(span=> #support::count(#expr))
            }
            Key::Factor => quote!(#support::factor(#expr)),
            Key::Jitter => quote!(::core::convert::Into::<#krate::Jitter>::into(#expr)),
            _ => expr.to_token_stream(),
        },
        Value::Name(name) => name.to_token_stream(),
        Value::Path(path) => path.clone(),
        Value::Section(inner) => {
            let inner: Vec<_> = inner.iter().collect();
            let setters = setters(&inner, krate, support);
            quote!(#krate::Section::new()#setters)
        }
    }
}

/// A policy known at run time may ask for anything, and so may a jitter. Values that are rejected have a count of their
/// own.
fn is_tracked(given: &[Argument]) -> bool {
    given
        .iter()
        .any(|argument| match (&argument.key, &argument.value) {
            (Key::Policy | Key::Validate, _)
            | (Key::Jitter, Value::Expr(_) | Value::Word("decorrelated", _)) => true,
            (_, Value::Section(inner)) => {
                is_tracked(inner) || inner.iter().any(|argument| argument.key == Key::Max)
            }
            _ => false,
        })
}
