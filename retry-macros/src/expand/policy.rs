//! The policy and the name of a call, and the values that they are made of.

use std::time::Duration;

use proc_macro2::{Ident, Literal, TokenStream};
use quote::{ToTokens, TokenStreamExt, quote, quote_spanned};
use retry_vocabulary::key::{Key, Owner, Takes};
use retry_vocabulary::word::Word;
use syn::Expr;
use syn::spanned::Spanned;

use crate::attribute::argument::{Argument, Value};
use crate::expand::model::{Decision, DefaultName, Policy};
use crate::expand::printer::Printer;
use crate::tokens::{ours, ours_at};

impl Printer<'_> {
    /// The constant part of policy and name, where the whole expansion finds it: an item, which the compiler shares and the
    /// future does not keep.
    pub(crate) fn constants(&self) -> Option<TokenStream> {
        if self.model.decision == Decision::Simple {
            return None;
        }
        let policy = self.constant_policy()?;
        Some(if let Policy::Constant(_) = self.model.policy {
            let site = self.site_of(&quote!(&#policy));
            quote!(const __RETRY_SITE: &__retry::Site<'_> = &#site;)
        } else {
            quote!(const __RETRY_POLICY: __retry::Policy = #policy;)
        })
    }

    /// The same, bound as `retry_site` after each attempt, where only the code after it needs it: the compiler takes less
    /// time for it than for an item, and evaluates it only when it generates code.
    pub(crate) fn bound_site(&self) -> Option<TokenStream> {
        if self.model.decision != Decision::Simple {
            return None;
        }
        let policy = self.constant_policy()?;
        // In a constant of its own, because what a constant's argument borrows does not outlive it.
        let site = self.site_of(&quote!(const { &#policy }));
        Some(ours!(let retry_site = const { &#site };))
    }

    /// What is constant of the policy, of type `Policy`.
    fn constant_policy(&self) -> Option<TokenStream> {
        let policy = match &self.model.policy {
            Policy::Decorator { of_trait, .. } => of_trait,
            policy => policy,
        };
        let (Policy::Constant(numbers) | Policy::Numbers(numbers)) = policy else {
            return None;
        };
        let literals = numbers.iter().filter(|number| number.value.is_literal());
        let (numbers, rest): (Vec<_>, Vec<_>) =
            literals.partition(|number| number.key.owner() == Owner::Schedule);
        let new = if numbers.is_empty() {
            quote!(__retry::Policy::new())
        } else {
            let numbers = self.setters(numbers);
            quote!(__retry::policy_of(__retry::Section::new()#numbers))
        };
        let rest = self.setters(rest);
        Some(quote!(#new #rest))
    }

    /// The site of a constant policy, of type `Site`.
    fn site_of(&self, policy: &TokenStream) -> TokenStream {
        if self.is_named_by_surroundings() {
            quote!(__retry::site_within(#policy, __retry_name))
        } else {
            let name = self.name();
            quote!(__retry::Site::new(#policy, #name))
        }
    }

    /// What [`Self::constants`] or [`Self::bound_site`] call the site.
    pub(crate) fn constant_site(&self) -> TokenStream {
        if self.model.decision == Decision::Simple {
            ours!(retry_site)
        } else {
            quote!(__RETRY_SITE)
        }
    }

    /// The policy, of type `&Policy`.
    pub(crate) fn policy(&self) -> TokenStream {
        match &self.model.policy {
            Policy::Constant(_) => {
                let site = self.constant_site();
                quote!(__retry::Site::policy(#site))
            }
            Policy::Expr(expr, None) => self.borrowed(expr),
            policy => {
                let policy = self.policy_value(policy);
                quote!(&#policy)
            }
        }
    }

    /// `with` the policy, of type `&Policy`, which is evaluated once.
    pub(crate) fn with_policy(&self, with: impl FnOnce(TokenStream) -> TokenStream) -> TokenStream {
        let policy = self.policy();
        if let Policy::Constant(_) = self.model.policy {
            return with(policy);
        }
        let with = with(ours!(retry_numbers));
        // A `match` keeps what the expression borrows from, such as a lock's guard, until its end.
        ours! {
            #[allow(clippy::match_single_binding)]
            match #policy { retry_numbers => { #with } }
        }
    }

    fn borrowed(&self, expr: &Expr) -> TokenStream {
        let place = expr.span();
        let expr = self.user(expr);
        let name = self.name();
        // In a closure, since only policies that are found by it ask for the name.
        ours_at!(place=> __retry::policy(&__retry::find_policy(&(#expr), |retry_tell| retry_tell(#name))))
    }

    /// A policy, of type `Policy`.
    fn policy_value(&self, policy: &Policy) -> TokenStream {
        match policy {
            Policy::Constant(numbers) | Policy::Numbers(numbers) => {
                let expressions = numbers.iter().filter(|number| !number.value.is_literal());
                let setters = self.setters(expressions);
                quote!(__RETRY_POLICY #setters)
            }
            Policy::Expr(expr, enabled) => {
                let policy = self.borrowed(expr);
                match enabled {
                    Some(enabled) => self.enabled_if(&policy, enabled),
                    None => quote!(*#policy),
                }
            }
            Policy::Decorator {
                this,
                of_trait,
                own,
                enabled,
            } => {
                let of_trait = self.policy_value(of_trait);
                let own = self.setters(own);
                let policy = quote!(__retry::policy_or(&#this.policy, #of_trait)#own);
                match enabled {
                    Some(enabled) => self.enabled_if(&quote!(&#policy), enabled),
                    None => policy,
                }
            }
        }
    }

    /// A `policy`, of type `&Policy`, beside the key `enabled`.
    fn enabled_if(&self, policy: &TokenStream, enabled: &Argument) -> TokenStream {
        let enabled = self.argument(enabled);
        quote!(__retry::enabled_if(#policy, #enabled))
    }

    /// What the runtime is told of the function, of type `&Site`.
    pub(crate) fn site(&self, policy: &TokenStream) -> TokenStream {
        if let Policy::Constant(_) = self.model.policy {
            return self.constant_site();
        }
        let name = self.name();
        ours!(&__retry::Site::new(#policy, #name))
    }

    /// Of type `&str`.
    pub(crate) fn name(&self) -> TokenStream {
        match self.model.arguments.value(Key::Name) {
            Some(Value::Text(name)) => name.to_token_stream(),
            Some(Value::Expr(name)) => {
                let place = name.span();
                let name = self.user(name);
                quote_spanned!(place=> ::core::convert::AsRef::<str>::as_ref(&(#name)))
            }
            _ => match self.client_name() {
                Some(name) => quote!(&#name),
                None => self.path(),
            },
        }
    }

    /// What a decorator's method is called after its client, of type `String`.
    pub(crate) fn client_name(&self) -> Option<TokenStream> {
        let DefaultName::Client(client) = &self.model.default_name else {
            return None;
        };
        let name = self.bare_name();
        Some(quote!(__retry::client_name::<#client>(#name)))
    }

    /// Where the function is, of type `&'static str`.
    pub(crate) fn path(&self) -> TokenStream {
        if self.model.default_name == DefaultName::Surroundings {
            return quote!(__retry_name());
        }
        let path = format!("::{}", self.bare_name());
        quote!(::core::concat!(::core::module_path!(), #path))
    }

    fn bare_name(&self) -> String {
        let name = self.model.function.signature.ident.to_string();
        name.trim_start_matches("r#").to_owned()
    }

    fn is_named_by_surroundings(&self) -> bool {
        self.model.default_name == DefaultName::Surroundings && !self.model.has(&[Key::Name])
    }

    /// The function whose own name says in which function the block stands: no macro can see it.
    pub(crate) fn name_of_surroundings(&self) -> Option<TokenStream> {
        let is_asked = match self.model.arguments.value(Key::Name) {
            None => true,
            Some(Value::Text(_)) => false,
            Some(_) => self.model.nested,
        };
        (is_asked && self.model.default_name == DefaultName::Surroundings).then(|| {
            quote! {
                fn __retry_name() -> &'static ::core::primitive::str {
                    __retry::surroundings(&__retry_name)
                }
            }
        })
    }

    pub(crate) fn setters<'a>(
        &self,
        numbers: impl IntoIterator<Item = &'a Argument>,
    ) -> TokenStream {
        let mut setters = TokenStream::new();
        for number in numbers {
            let setter = &number.ident;
            let value = self.argument(number);
            setters.append_all(quote!(.#setter(#value)));
        }
        setters
    }

    /// A value, of the type that the runtime takes for its key.
    pub(crate) fn argument(&self, argument: &Argument) -> TokenStream {
        match &argument.value {
            Value::Count(count) => count.to_token_stream(),
            Value::Factor(factor) => Literal::f64_suffixed(*factor).to_token_stream(),
            Value::Duration(delay) => duration(*delay),
            Value::Backoff(backoff) => Self::variant(argument, *backoff),
            Value::List(delays) => {
                let delays = delays.iter().map(|delay| duration(*delay));
                let duration = quote!(::core::time::Duration);
                // An item, because a borrow from a constant lives for ever.
                ours!({
                    const RETRY_DELAYS: &[#duration] = &[#(#delays),*];
                    __retry::Backoff::List(&RETRY_DELAYS)
                })
            }
            Value::Jitter(jitter) => Self::variant(argument, *jitter),
            Value::Ratio(ratio) => {
                let ratio = Literal::f64_suffixed(*ratio);
                quote!(__retry::Jitter::Ratio(#ratio))
            }
            Value::Hint(hint) => Self::variant(argument, *hint),
            Value::Bool(bool) => bool.to_token_stream(),
            Value::Section(inner) => {
                let setters = self.setters(inner);
                quote!(__retry::Section::new()#setters)
            }
            Value::Expr(expr) => {
                let place = expr.span();
                let user = self.kept(expr);
                let value = match argument.key.takes() {
                    Takes::Count => quote_spanned!(place=> __retry::count(#user)),
                    Takes::Factor => quote!(__retry::factor(#user)),
                    Takes::Jitter => quote!(::core::convert::Into::<__retry::Jitter>::into(#user)),
                    _ => user,
                };
                let typed = match argument.key.takes() {
                    // A statement's own.
                    Takes::DurationAboveZero => return value,
                    _ if is_place(expr) => return value,
                    Takes::Duration | Takes::UpToCap(_) => Some(quote!(: ::core::time::Duration)),
                    Takes::Bool => Some(quote!(: bool)),
                    _ => None,
                };
                // A lock that it takes is free again before the next key takes it, and during the pause.
                ours!({
                    let retry_value #typed = #value;
                    retry_value
                })
            }
            // Read by the macro itself.
            Value::Stream(_)
            | Value::Text(_)
            | Value::Name(_)
            | Value::Path(_)
            | Value::Alone
            | Value::Delays(_)
            | Value::Wrapper(..)
            | Value::Paths(_) => TokenStream::new(),
        }
    }

    /// The variant of the runtime that a word stands for.
    fn variant<W: Word>(argument: &Argument, word: W) -> TokenStream {
        let of = Ident::new(W::ENUM, argument.span);
        let variant = Ident::new(&format!("{word:?}"), argument.span);
        quote!(__retry::#of::#variant)
    }
}

/// Whether it names what is there already, so that nothing has to be dropped after it.
fn is_place(expr: &Expr) -> bool {
    match expr {
        Expr::Field(field) => is_place(&field.base),
        expr => matches!(expr, Expr::Path(_) | Expr::Lit(_)),
    }
}

fn duration(duration: Duration) -> TokenStream {
    let (seconds, nanos) = (duration.as_secs(), duration.subsec_nanos());
    quote!(::core::time::Duration::new(#seconds, #nanos))
}
