//! `#[classify(…)]` on an enum, a variant or a struct.

use proc_macro2::{Ident, Span};
use retry_vocabulary::word::Word;
use retry_vocabulary::{messages, words};
use syn::ext::IdentExt;
use syn::parse::ParseStream;
use syn::spanned::Spanned;
use syn::{Attribute, Member as FieldName, Path, Token};

use crate::errors::{Errors, error};
use crate::tokens::is_among;

words! {
    /// The verdicts.
    pub(super) VerdictWord {
        Stop = "stop",
        Transient = "transient",
        Throttled = "throttled",
        Timeout = "timeout",
        Invalid = "invalid",
    }
}

/// The words that are not verdicts.
const OTHER_WORDS: [&str; 4] = ["ambiguous", "after", "transparent", "crate"];

/// Other libraries' names for these words.
const ALIASES: [(&str, &str); 6] = [
    (
        "stop",
        "fatal permanent no_retry non_retryable not_retryable unrecoverable",
    ),
    ("transient", "recoverable retry retryable temporary"),
    (
        "throttled",
        "rate_limit rate_limited throttle too_many_requests",
    ),
    ("timeout", "timed_out"),
    ("after", "hint retry_after"),
    ("transparent", "forward from inner"),
];

/// The content of `#[classify(…)]`, with spans.
#[derive(Default)]
pub(super) struct Mark {
    pub(super) kind: Option<(VerdictWord, Span)>,
    pub(super) ambiguous: Option<Span>,
    pub(super) after: Option<(FieldName, Span)>,
    pub(super) transparent: Option<Span>,
    pub(super) krate: Option<Path>,
    /// True if a part could not be parsed. That part may be the one that seems to be missing.
    pub(super) has_errors: bool,
}

impl Mark {
    pub(super) fn read(attributes: &[Attribute], errors: &mut Errors) -> Self {
        let mut mark = Self::default();
        for attribute in attributes {
            if !attribute.path().is_ident("classify") {
                continue;
            }
            if let Err(error) = attribute.parse_args_with(|input: ParseStream| mark.fill(input)) {
                errors.push(error);
                mark.has_errors = true;
            }
        }
        mark
    }

    fn fill(&mut self, input: ParseStream) -> syn::Result<()> {
        while !input.is_empty() {
            let word = input.call(Ident::parse_any).map_err(|error| {
                error!(error.span() =>
                    "expected a word without quotes, as in `#[classify(transient)]`")
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
                    let wrong = |span| {
                        error!(span =>
                            "`after` names the field with the hint, as in `after = retry_after`")
                    };
                    input.parse::<Token![=]>().map_err(|_| wrong(span))?;
                    let field: FieldName = input
                        .parse()
                        .map_err(|error: syn::Error| wrong(error.span()))?;
                    let span = field.span();
                    self.after = Some((field, span));
                }
                "crate" => {
                    input.parse::<Token![=]>()?;
                    self.krate = Some(input.call(Path::parse_mod_style)?);
                }
                _ => {
                    let Some(kind) = VerdictWord::of(&name) else {
                        let words = [VerdictWord::words(), OTHER_WORDS.to_vec()].concat();
                        let known = ALIASES.iter().find(|(_, words)| is_among(words, &name));
                        let suggestion = match known {
                            Some((here, _)) => format!("use `{here}`"),
                            None => messages::suggestion(&name, &words),
                        };
                        return Err(error!(span =>
                            "unknown word `{name}`: {suggestion}"));
                    };
                    if self.kind.is_some() {
                        return Err(error!(span =>
                            "`{name}` is a second verdict: keep only one"));
                    }
                    self.kind = Some((kind, span));
                }
            }
            if !input.is_empty() {
                input.parse::<Token![,]>()?;
            }
        }
        Ok(())
    }
}
