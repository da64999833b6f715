//! Derives `Classify`: a `match` that returns the verdict of each variant.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, quote};
use retry_vocabulary::messages;
use retry_vocabulary::word::Word;
use syn::ext::IdentExt;
use syn::spanned::Spanned;
use syn::{Data, DeriveInput, Fields, Generics, Member as FieldName, parse_quote};

use crate::classify::mark::{Mark, VerdictWord};
use crate::errors::{Errors, error};
use crate::tokens::{Code, code, code_at, mentions};

/// `enum E { #[classify(transient)] A, #[classify(stop)] B }`
/// → `impl Classify for E { fn classify(&self) -> Verdict { match *self { Self::A { .. } => Verdict::TRANSIENT, … } } … }`
pub(crate) fn derive(item: &DeriveInput, krate: &str) -> TokenStream {
    let mut errors = Errors::default();
    let outer = Mark::read(&item.attrs, &mut errors);
    let krate = Ident::new(krate, Span::call_site());
    let named = outer.krate.as_ref().map(ToTokens::to_token_stream);
    let mut derivation = Derivation {
        name: item.ident.to_string(),
        krate: named.unwrap_or_else(|| quote!(::#krate)),
        generics: item.generics.clone(),
        final_arms: Code::new(),
        errors,
    };
    let (mut arms, mut names) = (Code::new(), Code::new());
    let of = item.ident.unraw().to_string();
    match &item.data {
        Data::Struct(data) => {
            let pattern = code!(Self);
            names = code!(#pattern { .. } => #of,);
            arms = derivation.arm(&item.ident, &pattern, &data.fields, &outer, None);
        }
        Data::Enum(data) => {
            derivation.check_default(&outer);
            for variant in &data.variants {
                let mark = Mark::read(&variant.attrs, &mut derivation.errors);
                if let Some(krate) = &mark.krate {
                    let errors = &mut derivation.errors;
                    errors.at(
                        krate.span(),
                        "`crate` can only be used on the enum: move it there",
                    );
                }
                let ident = &variant.ident;
                let pattern = code!(Self::#ident);
                let name = format!("{of}::{}", ident.unraw());
                names.extend(code!(#pattern { .. } => #name,));
                let arm = derivation.arm(ident, &pattern, &variant.fields, &mark, Some(&outer));
                arms.extend(arm);
            }
        }
        Data::Union(data) => derivation.errors.at(
            data.union_token.span,
            "`Classify` can't be derived for unions: implement it by hand",
        ),
    }
    derivation
        .finish(&item.ident, &arms, &names)
        .into_token_stream()
}

struct Derivation {
    /// The name of the type.
    name: String,
    krate: TokenStream,
    generics: Generics,
    /// The arms of variants that may be final, because they are marked `stop` or `transparent`.
    final_arms: Code,
    errors: Errors,
}

impl Derivation {
    fn check_default(&mut self, default: &Mark) {
        if let Some((_, span)) = &default.after {
            self.errors.push(error!(*span =>
                "`after` can't be used on the enum: put it on the variants that have the field"));
        }
        if let Some(span) = default.transparent {
            self.errors.push(error!(span =>
                "`transparent` can't be used on the enum: put it on the variants with one field"));
        }
    }

    /// `Self::Variant { field: ref __retry_hint, .. } => verdict`. The bound name is chosen to be unlikely to collide:
    /// if a constant had that name, the binding would become a pattern that matches its value.
    fn arm(
        &mut self,
        ident: &Ident,
        pattern: &Code,
        fields: &Fields,
        mark: &Mark,
        default: Option<&Mark>,
    ) -> Code {
        let krate = self.krate.clone();
        for field in fields {
            let mut marks = field.attrs.iter();
            if let Some(mark) = marks.find(|mark| mark.path().is_ident("classify")) {
                self.errors.push(error!(mark.path().span() =>
                    "`#[classify(…)]` can't be used on a field: put it on the variant, where `after = field` names a field"));
            }
        }
        if let Some(span) = mark.transparent {
            return self.transparent_arm(span, ident, pattern, fields, mark);
        }
        let Some((kind, ambiguous)) = self.verdict(ident, mark, default) else {
            return Code::new();
        };
        let is_stop = kind == VerdictWord::Stop;
        if mark.kind.is_some() && is_stop {
            self.final_arms.extend(code!(#pattern { .. } => true,));
        }
        let after = mark.after.as_ref();
        let void = [
            ("ambiguous", ambiguous),
            ("after", after.map(|(_, span)| *span)),
        ];
        for (word, span) in void {
            if let Some(span) = span.filter(|_| is_stop) {
                self.errors.push(error!(span =>
                    "`{word}` has no effect with `stop`: remove one of them"));
            }
        }
        let constant = Ident::new(&kind.word().to_uppercase(), Span::call_site());
        let verdict = code!(#krate::Verdict::#constant #?(ambiguous.is_some()) { .ambiguous() });
        let Some((member, span)) = after else {
            return code!(#pattern { .. } => #verdict,);
        };
        if !fields.members().any(|known| known == *member) {
            let names: Vec<_> = fields.members().map(|known| field_name(&known)).collect();
            let names: Vec<_> = names.iter().map(String::as_str).collect();
            let name = field_name(member);
            let instead = match names.as_slice() {
                [] => String::from("it has none"),
                names => messages::suggestion(&name, names),
            };
            self.errors.push(error!(*span =>
                "`{ident}` has no field `{name}`: {instead}"));
        }
        // If the field is a macro's argument, it has the caller's hygiene, and so must the binding.
        let hint = Ident::new("__retry_hint", *span);
        let after = code_at!(*span=> #krate::macro_support::after(#verdict, #hint));
        code!(#pattern { #member: ref #hint, .. } => #after,)
    }

    /// The verdict of a mark or of the enum's default, and the span of `ambiguous`.
    fn verdict(
        &mut self,
        ident: &Ident,
        mark: &Mark,
        default: Option<&Mark>,
    ) -> Option<(VerdictWord, Option<Span>)> {
        let below = default.filter(|_| mark.kind.is_none());
        if let Some((kind, _)) = below.map_or(mark.kind, |default| default.kind) {
            let ambiguous = mark.ambiguous.or_else(|| below?.ambiguous);
            return Some((kind, ambiguous));
        }
        let of_enum = |default: &Mark| default.has_errors || default.transparent.is_some();
        if !mark.has_errors && !default.is_some_and(of_enum) {
            let also = match default {
                Some(_) => ", on the variant, or on the enum as the default",
                None => "",
            };
            self.errors.push(error!(ident.span() =>
                "`{ident}` has no verdict: add `#[classify(stop)]`, or `transient`, `throttled`, `timeout` or `transparent`{also}"));
        }
        None
    }

    fn transparent_arm(
        &mut self,
        span: Span,
        ident: &Ident,
        pattern: &Code,
        fields: &Fields,
        mark: &Mark,
    ) -> Code {
        let taken = [
            (mark.kind.map(|(_, span)| span), "verdict"),
            (mark.after.as_ref().map(|(_, span)| *span), "hint"),
            (mark.ambiguous, "verdict"),
        ];
        for (span, what) in taken {
            if let Some(span) = span {
                self.errors.push(error!(span =>
                    "`transparent` uses the {what} of the field: remove one of them"));
            }
        }
        let (Some(field), Some(member), 1) =
            (fields.iter().next(), fields.members().next(), fields.len())
        else {
            let count = fields.len();
            self.errors.push(error!(span =>
                "`transparent` needs exactly one field, but `{ident}` has {count}"));
            return Code::new();
        };
        // A bound on a type that contains the derived type would depend on itself.
        let names = |name: &str| mentions(field.ty.to_token_stream(), name);
        let mut parameters = self.generics.type_params();
        let krate = &self.krate;
        if parameters.any(|one| names(&one.ident.to_string())) && !names(&self.name) {
            let ty = &field.ty;
            let bound = parse_quote!(#ty: #krate::Classify);
            self.generics.make_where_clause().predicates.push(bound);
        }
        let span = field.ty.span();
        let inner = Ident::new("__retry_inner", span);
        let classify =
            code_at!(span=> #krate::macro_support::ClassifyField::classify_field(#inner));
        self.final_arms.extend(code! {
            #pattern { #member: ref #inner } => {
                !#krate::macro_support::invalid(#inner).__retry_verdict().is_retryable()
            }
        });
        code!(#pattern { #member: ref #inner } => #classify,)
    }

    /// The `impl`. It is emitted together with errors, so that the compiler doesn't also report that it is missing.
    fn finish(self, ident: &Ident, arms: &Code, names: &Code) -> Code {
        let krate = &self.krate;
        let errors = self.errors.into_compile_error();
        let verdict = match errors {
            Some(_) => code!(#krate::Verdict::STOP),
            None => code! {
                #[allow(deprecated)]
                match *self { #arms }
            },
        };
        let describe = errors.is_none().then(|| {
            code! {
                #[allow(deprecated, unreachable_code)]
                fn describe(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                    ::core::fmt::Display::fmt(
                        #krate::macro_support::show_named(self, match *self { #names }).__retry_show(),
                        f,
                    )
                }
            }
        });
        let final_arms = &self.final_arms;
        let is_final = (errors.is_none() && !final_arms.is_empty()).then(|| {
            code! {
                #[allow(deprecated, unreachable_patterns)]
                fn is_final(&self) -> bool {
                    match *self { #final_arms _ => false }
                }
            }
        });
        let (parameters, arguments, bounds) = self.generics.split_for_impl();
        code! {
            #errors
            #[automatically_derived]
            impl #parameters #krate::Classify for #ident #arguments #bounds {
                fn classify(&self) -> #krate::Verdict {
                    #verdict
                }

                #is_final

                #describe
            }
        }
    }
}

fn field_name(field: &FieldName) -> String {
    match field {
        FieldName::Named(name) => name.to_string(),
        FieldName::Unnamed(index) => index.index.to_string(),
    }
}
