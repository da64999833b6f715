//! Code for a call's policy, its settings and its name.

use std::time::Duration;

use proc_macro2::{Ident, Literal};
use quote::ToTokens;
use retry_vocabulary::key::{Key, Owner, ValueType};
use retry_vocabulary::word::Word;
use syn::Expr;
use syn::spanned::Spanned;

use crate::as_variant::as_variant;
use crate::attribute::argument::{Argument, KeyValue};
use crate::expand::model::{DefaultName, NESTED, Policy};
use crate::expand::printer::Printer;
use crate::tokens::{Code, code, code_at, if_else, ours, ours_at};

impl Printer<'_> {
    /// The constant part of the policy and the name, as an item, which is visible in the whole expansion and not stored
    /// in the future.
    pub(crate) fn constants(&self) -> Option<Code> {
        let policy = self
            .constant_policy()
            .filter(|_| !self.model.binds_site())?;
        Some(if let Policy::Constant(_) = self.model.policy {
            let site = self.site_of(&code!(&#policy));
            code!(const __RETRY_SITE: &__retry::Site<'_> = &#site;)
        } else {
            code!(const __RETRY_POLICY: __retry::Policy = #policy;)
        })
    }

    /// The constant part of the policy and the name, bound as `retry_site` after each attempt. Used if only the code
    /// after an attempt needs the site, because a local variable compiles faster than an item.
    pub(crate) fn bound_site(&self) -> Option<Code> {
        let policy = self.constant_policy().filter(|_| self.model.binds_site())?;
        // In a separate constant, because a borrow in a constant's argument doesn't outlive the constant.
        let site = self.site_of(&code!(const { &#policy }));
        Some(ours!(let retry_site = const { &#site };))
    }

    /// The constant part of the policy, of type `Policy`.
    fn constant_policy(&self) -> Option<Code> {
        let policy = match &self.model.policy {
            Policy::Decorator { of_trait, .. } => of_trait,
            policy => policy,
        };
        let settings = policy.settings()?;
        let literals = |is_own| {
            let literals = settings.iter().filter(|number| number.value.is_literal());
            let is_meant = |number: &&Argument| (number.key.owner() == Owner::Schedule) == is_own;
            self.setters(literals.filter(is_meant))
        };
        let (own, rest) = (literals(true), literals(false));
        let with_own = code!(__retry::policy_of(__retry::Section::new()#own));
        let new = if_else(own.is_empty(), code!(__retry::Policy::new()), with_own);
        Some(code!(#new #rest))
    }

    /// The site of a constant policy, of type `Site`.
    fn site_of(&self, policy: &Code) -> Code {
        let is_named = self.model.has(&[Key::Name]);
        if !is_named && self.model.default_name == DefaultName::EnclosingPath {
            return code!(__retry::Site::named_by(#policy, || #(self.path())));
        }
        code!(__retry::Site::new(#policy, #(self.name())))
    }

    /// The name of the site that [`Self::constants`] or [`Self::bound_site`] declares.
    pub(crate) fn constant_site(&self) -> Code {
        let is_bound = self.model.binds_site();
        if_else(is_bound, ours!(retry_site), code!(__RETRY_SITE))
    }

    /// The policy, of type `&Policy`. A run-time policy is combined with the key `enabled`.
    pub(crate) fn policy(&self) -> Code {
        let policy = match &self.model.policy {
            Policy::Constant(_) => {
                return code!(__retry::Site::policy(#(self.constant_site())));
            }
            Policy::Expr(expr) => self.policy_ref(expr),
            policy => code!(&#(self.policy_value(policy))),
        };
        let enabled = self.model.arguments.get(Key::Enabled);
        match enabled.filter(|_| self.model.policy.settings().is_none()) {
            Some(enabled) => code!(&__retry::enabled_if(#policy, #(self.argument(enabled)))),
            None => policy,
        }
    }

    /// Calls `with` with the policy, of type `&Policy`, which is evaluated only once.
    pub(crate) fn with_policy(&self, with: &mut dyn FnMut(Code) -> Code) -> Code {
        let policy = self.policy();
        if let Policy::Constant(_) = self.model.policy {
            return with(policy);
        }
        let with = with(ours!(retry_numbers));
        // A `match` keeps temporaries of the expression, such as a lock's guard, until its end.
        ours! {
            #[allow(clippy::match_single_binding)]
            match #policy { retry_numbers => { #with } }
        }
    }

    fn policy_ref(&self, expr: &Expr) -> Code {
        let span = expr.span();
        let source = self.user_expr(expr);
        let expr = match expr {
            Expr::Closure(_) => {
                let attempt = self.attempt_for(Key::Policy);
                // A closure is required even around a path, because a path alone is a policy, not a function that
                // chooses one.
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
        // In a closure, because only policies that are looked up by name need the name.
        ours_at!(span=> __retry::policy(&__retry::PolicySource::find(&(#expr), |retry_find| retry_find(#name))))
    }

    /// A policy, of type `Policy`.
    fn policy_value(&self, policy: &Policy) -> Code {
        match policy {
            Policy::Constant(settings) | Policy::Settings(settings) => {
                let setters =
                    self.setters(settings.iter().filter(|number| !number.value.is_literal()));
                code!(__RETRY_POLICY #setters)
            }
            Policy::Expr(expr) => code!(*#(self.policy_ref(expr))),
            Policy::Decorator {
                this,
                of_trait,
                own,
            } => {
                let of_trait = self.policy_value(of_trait);
                let has_max = own.iter().any(|number| number.key == Key::Max);
                let setters = self.setters(own.iter());
                let policy = code!(__retry::Option::unwrap_or(#this.policy, #of_trait));
                let without = code!(__retry::without_section_max(#policy));
                if_else(has_max, code!(#without #setters), code!(#policy #setters))
            }
        }
    }

    /// The call's policy and name, of type `&Site`.
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
                code_at!(name.span()=> ::core::convert::AsRef::<str>::as_ref(&(#(self.user_expr(name)))))
            }
            _ => match self.client_name() {
                Some(name) => code!(&#name),
                None => self.path(),
            },
        }
    }

    /// The name of a decorator's method, with its client's type, of type `String`.
    pub(crate) fn client_name(&self) -> Option<Code> {
        let client = as_variant!(&self.model.default_name, DefaultName::Client(name) => name)?;
        Some(code!(__retry::client_name::<#client>(#(self.bare_name()))))
    }

    /// The path of the function, of type `&'static str`.
    pub(crate) fn path(&self) -> Code {
        if self.model.default_name == DefaultName::EnclosingPath {
            let place = if_else(self.names_in_site(), code!(|| ()), code!(__retry_name));
            return code!(__retry::surroundings(&#place));
        }
        let mut path = format!("::{}", self.bare_name());
        if let DefaultName::Function(Some(of)) = &self.model.default_name {
            path.insert_str(0, &format!("::{of}"));
        }
        code!(::core::concat!(::core::module_path!(), #path))
    }

    fn bare_name(&self) -> String {
        let name = self.model.function.signature.ident.to_string();
        name.trim_start_matches("r#").to_owned()
    }

    /// A function whose type name contains the path of the enclosing function, which a macro can't see. In a trait's
    /// provided method, a closure's type name contains the implementing type instead, except inside another item.
    pub(crate) fn name_item(&self) -> Code {
        let name = self.model.arguments.value(Key::Name);
        let is_named = name.is_some_and(|name| !NESTED || name.is_literal());
        let is_local = self.model.default_name == DefaultName::EnclosingPath;
        code!(#?(is_local && !is_named && !self.names_in_site()) { fn __retry_name() {} })
    }

    fn names_in_site(&self) -> bool {
        !NESTED && !self.model.binds_site() && matches!(self.model.policy, Policy::Constant(_))
    }

    /// The setters for these settings.
    pub(crate) fn setters<'n>(&self, settings: impl Iterator<Item = &'n Argument>) -> Code {
        let setters = settings.map(|number| {
            let setter = &number.ident;
            code!(.#setter(#(self.argument(number))))
        });
        setters.collect()
    }

    /// The value of an argument, of the type that the runtime expects.
    pub(crate) fn argument(&self, argument: &Argument) -> Code {
        match &argument.value {
            KeyValue::Count(count) => count.to_token_stream(),
            KeyValue::Factor(factor) => Literal::f64_suffixed(*factor).to_token_stream(),
            KeyValue::Duration(delay) => duration(*delay),
            KeyValue::Backoff(backoff) => Self::variant(argument, *backoff),
            KeyValue::List(delays) => {
                let delays = delays.iter().map(|delay| code!(#(duration(*delay)),));
                let duration = code!(::core::time::Duration);
                // A constant item, because a borrow of it is `'static`.
                ours!({
                    const RETRY_DELAYS: &[#duration] = &[#(delays.collect::<Code>())];
                    __retry::Backoff::List(&RETRY_DELAYS)
                })
            }
            KeyValue::Jitter(jitter) => Self::variant(argument, *jitter),
            KeyValue::Ratio(it) => code!(__retry::Jitter::Ratio(#(Literal::f64_suffixed(*it)))),
            KeyValue::Added(it) => code!(__retry::Jitter::Added(#(Literal::f64_suffixed(*it)))),
            KeyValue::Hint(hint) => Self::variant(argument, *hint),
            KeyValue::Bool(bool) => bool.to_token_stream(),
            KeyValue::Section(inner) => {
                code!(__retry::Section::new()#(self.setters(inner.iter())))
            }
            KeyValue::Expr(expr) => {
                let span = expr.span();
                let user = self.isolated(expr);
                let value = match argument.key.value_type() {
                    ValueType::Count => code_at!(span=> __retry::Count::count(#user)),
                    ValueType::Factor => code!(__retry::Factor::factor(#user)),
                    ValueType::Backoff => {
                        code_at!(span=> __retry::IntoBackoff::into_backoff(#user))
                    }
                    ValueType::Jitter => {
                        code!(::core::convert::Into::<__retry::Jitter>::into(#user))
                    }
                    _ => user,
                };
                let typed = match argument.key.value_type() {
                    // The value is bound by a separate statement, or creates no temporary.
                    takes if takes == ValueType::DurationAboveZero || is_place(expr) => {
                        return value;
                    }
                    ValueType::Duration | ValueType::UpToCap(_) => {
                        Some(code!(: ::core::time::Duration))
                    }
                    ValueType::Bool => Some(code!(: bool)),
                    _ => None,
                };
                // Drops a lock guard in the expression before the next key is evaluated, and before the pause.
                ours!({ let retry_value #typed = #value; retry_value })
            }
            // Read by the macro itself.
            _ => Code::new(),
        }
    }

    /// The runtime's enum variant for a word.
    fn variant<W: Word>(argument: &Argument, word: W) -> Code {
        let variant = Ident::new(&format!("{word:?}"), argument.span);
        code!(__retry::#(Ident::new(W::ENUM, argument.span))::#variant)
    }
}

/// True if the expression creates no temporary that must be dropped.
fn is_place(expr: &Expr) -> bool {
    match expr {
        Expr::Field(field) => is_place(&field.base),
        expr => matches!(expr, Expr::Path(_) | Expr::Lit(_)),
    }
}

fn duration(duration: Duration) -> Code {
    code!(::core::time::Duration::new(#(duration.as_secs()), #(duration.subsec_nanos())))
}
