//! `#[derive(Classify)]`: marks on variants → a verdict for each → a `match`.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, TokenStreamExt, quote, quote_spanned};
use syn::ext::IdentExt;
use syn::parse::ParseStream;
use syn::spanned::Spanned;
use syn::{
    Attribute, Data, DeriveInput, Field, Fields, Generics, Member, Path, Token, parse_quote,
};

use crate::nearest;
use crate::tokens::mentions;

const KINDS: &[(&str, &str)] = &[
    ("stop", "STOP"),
    ("transient", "TRANSIENT"),
    ("throttled", "THROTTLED"),
    ("timeout", "TIMEOUT"),
    ("invalid", "INVALID"),
];
const WORDS: &[&str] = &[
    "stop",
    "transient",
    "throttled",
    "timeout",
    "invalid",
    "ambiguous",
    "after",
    "transparent",
    "crate",
];

pub(crate) fn derive(item: &DeriveInput) -> syn::Result<TokenStream> {
    let mut errors = Vec::new();
    let outer = Mark::read(&item.attrs, &mut errors);
    let krate = outer
        .krate
        .as_ref()
        .map_or_else(|| quote!(::retry_runtime), ToTokens::to_token_stream);
    let mut derivation = Derivation {
        krate,
        generics: item.generics.clone(),
        errors,
    };
    let mut arms = TokenStream::new();
    match &item.data {
        Data::Struct(data) => {
            let pattern = quote!(Self);
            arms = derivation.arm(&item.ident, &pattern, &data.fields, &outer, None);
        }
        Data::Enum(data) => {
            derivation.check_default(&outer);
            for variant in &data.variants {
                let mark = Mark::read(&variant.attrs, &mut derivation.errors);
                if let Some(krate) = &mark.krate {
                    derivation.error(krate.span(), "`crate` goes on the enum");
                }
                let ident = &variant.ident;
                let pattern = quote!(Self::#ident);
                let arm = derivation.arm(ident, &pattern, &variant.fields, &mark, Some(&outer));
                arms.append_all(arm);
            }
        }
        Data::Union(data) => {
            return Err(syn::Error::new(
                data.union_token.span,
                "a union doesn't know its own variant: write `impl Classify` by hand",
            ));
        }
    }
    derivation.finish(&item.ident, &arms)
}

/// What stands for the `impl` where the marks are wrong.
pub(crate) fn stand_in(item: &DeriveInput) -> TokenStream {
    let outer = Mark::read(&item.attrs, &mut Vec::new());
    let krate = outer
        .krate
        .as_ref()
        .map_or_else(|| quote!(::retry_runtime), ToTokens::to_token_stream);
    let ident = &item.ident;
    let (parameters, arguments, bounds) = item.generics.split_for_impl();
    quote! {
        impl #parameters #krate::Classify for #ident #arguments #bounds {
            fn classify(&self) -> #krate::Verdict {
                #krate::Verdict::STOP
            }
        }
    }
}

struct Derivation {
    krate: TokenStream,
    generics: Generics,
    errors: Vec<syn::Error>,
}

impl Derivation {
    fn error(&mut self, span: Span, message: &str) {
        self.errors.push(syn::Error::new(span, message));
    }

    fn check_default(&mut self, default: &Mark) {
        if let Some((_, span)) = &default.after {
            self.error(
                *span,
                "`after` names a field: put it on the variants that have it",
            );
        }
        if let Some(span) = default.transparent {
            self.error(span, "`transparent` goes on the variants with one field");
        }
    }

    /// `Self::Variant { field: after, .. } => verdict`
    fn arm(
        &mut self,
        ident: &Ident,
        pattern: &TokenStream,
        fields: &Fields,
        mark: &Mark,
        default: Option<&Mark>,
    ) -> TokenStream {
        let krate = self.krate.clone();
        for field in fields {
            if let Some(mark) = field
                .attrs
                .iter()
                .find(|mark| mark.path().is_ident("classify"))
            {
                self.error(
                    mark.path().span(),
                    "`#[classify(…)]` goes on the variant, where `after = field` names a field",
                );
            }
        }
        if let Some(span) = mark.transparent {
            return self.transparent(span, ident, pattern, fields, mark);
        }
        let (kind, ambiguous) = match (mark.kind, default) {
            (Some(kind), _) => (Some(kind), mark.ambiguous),
            (None, Some(default)) => (default.kind, mark.ambiguous.or(default.ambiguous)),
            (None, None) => (None, mark.ambiguous),
        };
        let Some((kind, _)) = kind else {
            let of_enum = |default: &Mark| default.broken || default.transparent.is_some();
            if mark.broken || default.is_some_and(of_enum) {
                return TokenStream::new();
            }
            let place = match default {
                Some(_) => " on it, or on the enum for all that have none",
                None => "",
            };
            let message = format!(
                "`{ident}` has no verdict: put `#[classify(stop)]`, or `transient`, `throttled`, `timeout` or `transparent`,{place}"
            );
            self.error(ident.span(), message.trim_end_matches(','));
            return TokenStream::new();
        };
        let constant = Ident::new(kind, Span::call_site());
        let mut verdict = quote!(#krate::Verdict::#constant);
        if let Some(span) = ambiguous {
            if kind == "STOP" {
                self.error(
                    span,
                    "`ambiguous` has no effect with `stop`: remove one of the two",
                );
            }
            verdict.extend(quote!(.ambiguous()));
        }
        let Some((member, span)) = &mark.after else {
            return quote!(#pattern { .. } => #verdict,);
        };
        if kind == "STOP" {
            self.error(
                *span,
                "`after` has no effect with `stop`: remove one of the two",
            );
        }
        if !fields.members().any(|known| known == *member) {
            let names: Vec<_> = fields.members().map(|known| name_of(&known)).collect();
            let name = name_of(member);
            let message = if names.is_empty() {
                format!("`{ident}` has no field `{name}`: it has none")
            } else {
                let names: Vec<_> = names.iter().map(String::as_str).collect();
                let suggestion = nearest::suggestion(&name, &names);
                format!("`{ident}` has no field `{name}`: {suggestion}")
            };
            self.error(*span, &message);
        }
        let after = quote_spanned!(*span=> #krate::macro_support::after(#verdict, after));
        quote!(#pattern { #member: ref after, .. } => #after,)
    }

    fn transparent(
        &mut self,
        span: Span,
        ident: &Ident,
        pattern: &TokenStream,
        fields: &Fields,
        mark: &Mark,
    ) -> TokenStream {
        if let Some((_, span)) = mark.kind {
            self.error(
                span,
                "`transparent` takes the verdict of the field: remove one of the two",
            );
        }
        if let Some((_, span)) = &mark.after {
            self.error(
                *span,
                "`transparent` takes the hint of the field: remove one of the two",
            );
        }
        if let Some(span) = mark.ambiguous {
            self.error(
                span,
                "`transparent` takes the verdict of the field: remove one of the two",
            );
        }
        let (Some(field), Some(member), 1) =
            (fields.iter().next(), fields.members().next(), fields.len())
        else {
            let count = fields.len();
            let message =
                format!("`transparent` needs exactly one field, and `{ident}` has {count}");
            self.error(span, &message);
            return TokenStream::new();
        };
        let krate = &self.krate;
        if self.is_generic(field) {
            let ty = &field.ty;
            let bound = parse_quote!(#ty: #krate::Classify);
            self.generics.make_where_clause().predicates.push(bound);
        }
        let krate = &self.krate;
        let classify =
            quote_spanned!(field.ty.span()=> #krate::macro_support::classify_field(inner));
        quote!(#pattern { #member: ref inner } => #classify,)
    }

    fn is_generic(&self, field: &Field) -> bool {
        let mut parameters = self.generics.type_params();
        parameters
            .any(|parameter| mentions(field.ty.to_token_stream(), &parameter.ident.to_string()))
    }

    fn finish(self, ident: &Ident, arms: &TokenStream) -> syn::Result<TokenStream> {
        let all = self.errors.into_iter().reduce(|mut all, error| {
            all.combine(error);
            all
        });
        if let Some(errors) = all {
            return Err(errors);
        }
        let krate = &self.krate;
        let (parameters, arguments, bounds) = self.generics.split_for_impl();
        Ok(quote! {
            #[automatically_derived]
            impl #parameters #krate::Classify for #ident #arguments #bounds {
                fn classify(&self) -> #krate::Verdict {
                    #[allow(deprecated)]
                    match *self {
                        #arms
                    }
                }
            }
        })
    }
}

/// What `#[classify(…)]` says, each part with where it says so.
#[derive(Default)]
struct Mark {
    kind: Option<(&'static str, Span)>,
    ambiguous: Option<Span>,
    after: Option<(Member, Span)>,
    transparent: Option<Span>,
    krate: Option<Path>,
    /// Whether a part could not be read, so that what is missing may have been meant.
    broken: bool,
}

impl Mark {
    fn read(attributes: &[Attribute], errors: &mut Vec<syn::Error>) -> Self {
        let mut mark = Self::default();
        for attribute in attributes {
            if !attribute.path().is_ident("classify") {
                continue;
            }
            if let Err(error) = attribute.parse_args_with(|input: ParseStream| mark.fill(input)) {
                errors.push(error);
                mark.broken = true;
            }
        }
        mark
    }

    fn fill(&mut self, input: ParseStream) -> syn::Result<()> {
        while !input.is_empty() {
            let word = input.call(Ident::parse_any).map_err(|error| {
                let message = "expected a word without quotes, as in `#[classify(transient)]`";
                syn::Error::new(error.span(), message)
            })?;
            let (name, span) = (word.to_string(), word.span());
            let again = || syn::Error::new(span, format!("`{name}` is given twice: keep one"));
            match name.as_str() {
                "ambiguous" if self.ambiguous.is_some() => return Err(again()),
                "ambiguous" => self.ambiguous = Some(span),
                "transparent" if self.transparent.is_some() => return Err(again()),
                "transparent" => self.transparent = Some(span),
                "after" if self.after.is_some() => return Err(again()),
                "after" => {
                    input.parse::<Token![=]>().map_err(|_| {
                        let message =
                            "`after` names the field with the hint, as in `after = retry_after`";
                        syn::Error::new(span, message)
                    })?;
                    let member: Member = input.parse().map_err(|error: syn::Error| {
                        let message =
                            "`after` names the field with the hint, as in `after = retry_after`";
                        syn::Error::new(error.span(), message)
                    })?;
                    let span = member.span();
                    self.after = Some((member, span));
                }
                "crate" => {
                    input.parse::<Token![=]>()?;
                    self.krate = Some(input.call(Path::parse_mod_style)?);
                }
                _ => {
                    let Some((word, constant)) = KINDS.iter().find(|(word, _)| *word == name)
                    else {
                        let suggestion = nearest::suggestion(&name, WORDS);
                        let message = format!("unknown word `{name}`: {suggestion}");
                        return Err(syn::Error::new(span, message));
                    };
                    if self.kind.is_some() {
                        let message = format!("`{word}` is a second verdict: keep one");
                        return Err(syn::Error::new(span, message));
                    }
                    self.kind = Some((constant, span));
                }
            }
            if !input.is_empty() {
                input.parse::<Token![,]>()?;
            }
        }
        Ok(())
    }
}

fn name_of(member: &Member) -> String {
    match member {
        Member::Named(name) => name.to_string(),
        Member::Unnamed(index) => index.index.to_string(),
    }
}
