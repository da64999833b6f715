//! The policy and the name of a call, and the values that they are made of.

use std::time::Duration;

use proc_macro2::{Ident, Literal};
use quote::ToTokens;
use retry_vocabulary::key::{Key, Owner, Takes};
use retry_vocabulary::word::Word;
use syn::Expr;
use syn::spanned::Spanned;

use crate::as_variant::as_variant;
use crate::attribute::argument::{Argument, KeyValue};
use crate::expand::model::{Decider, DefaultName, NESTED, Policy};
use crate::expand::printer::Printer;
use crate::tokens::{Code, code, code_at, if_else, ours, ours_at};

impl Printer<'_> {
    /// The constant part of policy and name, where the whole expansion finds it: an item, which the compiler shares and the
    /// future does not keep.
    pub(crate) fn constants(&self) -> Option<Code> {
        if self.model.decision == Decider::Simple {
            return None;
        }
        let policy = self.constant_policy()?;
        Some(if let Policy::Constant(_) = self.model.policy {
            let site = self.site_of(&code!(&#policy));
            code!(const __RETRY_SITE: &__retry::Site<'_> = &#site;)
        } else {
            code!(const __RETRY_POLICY: __retry::Policy = #policy;)
        })
    }

    /// The constant part of policy and name, bound as `retry_site` after each attempt, where only the code after it needs it:
    /// the compiler takes less time for it than for an item, and evaluates it only when it generates code.
    pub(crate) fn bound_site(&self) -> Option<Code> {
        if self.model.decision != Decider::Simple {
            return None;
        }
        let policy = self.constant_policy()?;
        // In a constant of its own, because what a constant's argument borrows does not outlive it.
        let site = self.site_of(&code!(const { &#policy }));
        Some(ours!(let retry_site = const { &#site };))
    }

    /// What is constant of the policy, of type `Policy`.
    fn constant_policy(&self) -> Option<Code> {
        let policy = match &self.model.policy {
            Policy::Decorator { of_trait, .. } => of_trait,
            policy => policy,
        };
        let numbers = policy.numbers()?;
        let is_literal = |number: &Argument| number.value.is_literal();
        let is_own = |number: &Argument| number.key.owner() == Owner::Schedule;
        let literals = |is_wanted| {
            let is_meant = |number: &_| is_literal(number) && is_own(number) == is_wanted;
            self.setters(numbers, &is_meant)
        };
        let (own, rest) = (literals(true), literals(false));
        let with_own = code!(__retry::policy_of(__retry::Section::new()#own));
        let new = if_else(own.is_empty(), code!(__retry::Policy::new()), with_own);
        Some(code!(#new #rest))
    }

    /// The site of a constant policy, of type `Site`.
    fn site_of(&self, policy: &Code) -> Code {
        let named = code!(__retry::Site::new(#policy, #(self.name())));
        let by_surroundings = code!(__retry::Site::named_by(#policy, __retry_name));
        if_else(
            self.model.is_named_by_surroundings(),
            by_surroundings,
            named,
        )
    }

    /// What [`Self::constants`] or [`Self::bound_site`] call the site.
    pub(crate) fn constant_site(&self) -> Code {
        let is_bound = self.model.decision == Decider::Simple;
        if_else(is_bound, ours!(retry_site), code!(__RETRY_SITE))
    }

    /// The policy, of type `&Policy`.
    pub(crate) fn policy(&self) -> Code {
        match &self.model.policy {
            Policy::Constant(_) => code!(__retry::Site::policy(#(self.constant_site()))),
            Policy::Expr(expr, None) => self.borrowed(expr),
            policy => code!(&#(self.policy_value(policy))),
        }
    }

    /// `with` the policy, of type `&Policy`, which is evaluated once.
    pub(crate) fn with_policy(&self, with: &mut dyn FnMut(Code) -> Code) -> Code {
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

    fn borrowed(&self, expr: &Expr) -> Code {
        let span = expr.span();
        let source = self.user(expr);
        let expr = match expr {
            Expr::Closure(_) => {
                let attempt = self.attempt_for(Key::Policy);
                // A path would be a policy, not a function that chooses one.
                ours_at! {span=> {
                    #attempt
                    #[allow(clippy::redundant_closure)]
                    let retry_chosen = __retry::chosen_policy(&retry_error, #source);
                    retry_chosen
                }}
            }
            _ => source,
        };
        let name = self.name();
        // In a closure, since only policies that are found by it ask for the name.
        ours_at!(span=> __retry::policy(&__retry::PolicySource::find(&(#expr), |retry_tell| retry_tell(#name))))
    }

    /// A policy, of type `Policy`.
    fn policy_value(&self, policy: &Policy) -> Code {
        match policy {
            Policy::Constant(numbers) | Policy::Numbers(numbers) => {
                let setters = self.setters(numbers, &|number| !number.value.is_literal());
                code!(__RETRY_POLICY #setters)
            }
            Policy::Expr(expr, Some(enabled)) => self.enabled_if(&self.borrowed(expr), enabled),
            Policy::Expr(expr, None) => code!(*#(self.borrowed(expr))),
            Policy::Decorator {
                this,
                of_trait,
                own,
                enabled,
            } => {
                let of_trait = self.policy_value(of_trait);
                let own = self.setters(own, &|_| true);
                let policy = code!(__retry::Option::unwrap_or(#this.policy, #of_trait)#own);
                match enabled {
                    Some(enabled) => self.enabled_if(&code!(&#policy), enabled),
                    None => policy,
                }
            }
        }
    }

    /// A `policy`, of type `&Policy`, beside the key `enabled`.
    fn enabled_if(&self, policy: &Code, enabled: &Argument) -> Code {
        code!(__retry::enabled_if(#policy, #(self.argument(enabled))))
    }

    /// What the runtime is told of the function, of type `&Site`.
    pub(crate) fn site(&self, policy: &Code) -> Code {
        if let Policy::Constant(_) = self.model.policy {
            return self.constant_site();
        }
        ours!(&__retry::Site::new(#policy, #(self.name())))
    }

    /// The name of the call, of type `&str`.
    pub(crate) fn name(&self) -> Code {
        match self.model.arguments.value(Key::Name) {
            Some(KeyValue::Text(name)) => name.to_token_stream(),
            Some(KeyValue::Expr(name)) => {
                code_at!(name.span()=> ::core::convert::AsRef::<str>::as_ref(&(#(self.user(name)))))
            }
            _ => match self.client_name() {
                Some(name) => code!(&#name),
                None => self.path(),
            },
        }
    }

    /// What a decorator's method is called after its client, of type `String`.
    pub(crate) fn client_name(&self) -> Option<Code> {
        let client = as_variant!(&self.model.default_name, DefaultName::Client(name) => name)?;
        Some(code!(__retry::client_name::<#client>(#(self.bare_name()))))
    }

    /// Where the function is, of type `&'static str`.
    pub(crate) fn path(&self) -> Code {
        if self.model.default_name == DefaultName::Surroundings {
            return code!(__retry_name());
        }
        let path = format!("::{}", self.bare_name());
        code!(::core::concat!(::core::module_path!(), #path))
    }

    fn bare_name(&self) -> String {
        let name = self.model.function.signature.ident.to_string();
        name.trim_start_matches("r#").to_owned()
    }

    /// The function whose own name says in which function the block stands: no macro can see it.
    pub(crate) fn name_of_surroundings(&self) -> Option<Code> {
        let is_asked = match self.model.arguments.value(Key::Name) {
            None => true,
            Some(KeyValue::Text(_)) => false,
            Some(_) => NESTED,
        };
        (is_asked && self.model.default_name == DefaultName::Surroundings).then(|| {
            code! {
                fn __retry_name() -> &'static ::core::primitive::str {
                    __retry::surroundings(&__retry_name)
                }
            }
        })
    }

    /// The setters for those numbers that are meant.
    pub(crate) fn setters(
        &self,
        numbers: &[Argument],
        is_meant: &dyn Fn(&Argument) -> bool,
    ) -> Code {
        let mut setters = Code::new();
        for number in numbers {
            if is_meant(number) {
                let setter = &number.ident;
                setters.extend(code!(.#setter(#(self.argument(number)))));
            }
        }
        setters
    }

    /// A value, of the type that the runtime takes for its key.
    pub(crate) fn argument(&self, argument: &Argument) -> Code {
        match &argument.value {
            KeyValue::Count(count) => count.to_token_stream(),
            KeyValue::Factor(factor) => Literal::f64_suffixed(*factor).to_token_stream(),
            KeyValue::Duration(delay) => duration(*delay),
            KeyValue::Backoff(backoff) => Self::variant(argument, *backoff),
            KeyValue::List(delays) => {
                let delays = delays.iter().map(|delay| code!(#(duration(*delay)),));
                let duration = code!(::core::time::Duration);
                // An item, because a borrow from a constant lives for ever.
                ours!({
                    const RETRY_DELAYS: &[#duration] = &[#(delays.collect::<Code>())];
                    __retry::Backoff::List(&RETRY_DELAYS)
                })
            }
            KeyValue::Jitter(jitter) => Self::variant(argument, *jitter),
            KeyValue::Ratio(ratio) => {
                code!(__retry::Jitter::Ratio(#(Literal::f64_suffixed(*ratio))))
            }
            KeyValue::Hint(hint) => Self::variant(argument, *hint),
            KeyValue::Bool(bool) => bool.to_token_stream(),
            KeyValue::Section(inner) => {
                code!(__retry::Section::new()#(self.setters(inner, &|_| true)))
            }
            KeyValue::Expr(expr) => {
                let span = expr.span();
                let user = self.kept(expr);
                let value = match argument.key.takes() {
                    Takes::Count => code_at!(span=> __retry::Count::count(#user)),
                    Takes::Factor => code!(__retry::Factor::factor(#user)),
                    Takes::Backoff => code_at!(span=> __retry::IntoBackoff::into_backoff(#user)),
                    Takes::Jitter => code!(::core::convert::Into::<__retry::Jitter>::into(#user)),
                    _ => user,
                };
                let typed = match argument.key.takes() {
                    // A statement's own.
                    Takes::DurationAboveZero => return value,
                    _ if is_place(expr) => return value,
                    Takes::Duration | Takes::UpToCap(_) => Some(code!(: ::core::time::Duration)),
                    Takes::Bool => Some(code!(: bool)),
                    _ => None,
                };
                // A lock that it takes is free again before the next key takes it, and during the pause.
                ours!({
                    let retry_value #typed = #value;
                    retry_value
                })
            }
            // Read by the macro itself.
            _ => Code::new(),
        }
    }

    /// The variant of the runtime that a word stands for.
    fn variant<W: Word>(argument: &Argument, word: W) -> Code {
        let variant = Ident::new(&format!("{word:?}"), argument.span);
        code!(__retry::#(Ident::new(W::ENUM, argument.span))::#variant)
    }
}

/// Whether it names what is there already, so that nothing has to be dropped after it.
fn is_place(expr: &Expr) -> bool {
    match expr {
        Expr::Field(field) => is_place(&field.base),
        expr => matches!(expr, Expr::Path(_) | Expr::Lit(_)),
    }
}

fn duration(duration: Duration) -> Code {
    code!(::core::time::Duration::new(#(duration.as_secs()), #(duration.subsec_nanos())))
}
