//! The target of `retrying!`: keys, and then the block that is retried.

use proc_macro2::{Delimiter, Group, Ident, Span, TokenStream, TokenTree};
use retry_vocabulary::key::Key;
use syn::{Expr, Pat, ReturnType, Signature, Token, Type, Visibility, parse_quote_spanned};

use crate::as_variant::as_variant;
use crate::attribute::argument::{Arguments, KeyValue};
use crate::errors::{Errors, error};
use crate::target::function::{Body, Function};
use crate::target::outcome;
use crate::tokens::{Code, RUNTIME, braces, code, code_at, is_ident, is_punct, stream, to_vec};

const NO_BLOCK: &str = "`retrying!` takes the block to retry after its keys, as in `retrying!(max = 5, async { … })`, or `retrying!(max = 5, { … })` for blocking code";
const CLOSURE: &str =
    "`retrying!` takes a block, not a closure: remove the `||`, as in `async { … }` or `{ … }`";
const NO_COMMA: &str = "expected `,` between the keys and the block";
const NOT_LAST: &str = "the block must come last in `retrying!`: move the keys before it";
const NOTHING_AFTER: &str = "nothing can follow the block in `retrying!`: move it, such as `.await`, after the macro's closing parenthesis";

/// The content of `retrying!(…)`. The block is kept as tokens, so that incomplete code still expands.
pub(crate) struct Expression {
    /// The keys, as written.
    pub(crate) arguments: TokenStream,
    /// The errors outside of the keys.
    pub(crate) errors: Errors,
    pub(crate) block: Option<Block>,
}

/// `async -> Result<T, E> { … }`; only the braces are required.
pub(crate) struct Block {
    asyncness: Option<Token![async]>,
    /// Set if the future owns the variables that the block uses. An attempt always borrows them.
    ownership: Option<Token![move]>,
    returned: Option<Type>,
    pub(crate) body: Group,
}

impl Expression {
    pub(crate) fn parse(tokens: TokenStream) -> Self {
        let tokens = ungrouped(without_comma(to_vec(tokens)));
        let mut errors = Errors::default();
        let Some((begin, at, braces, wrong)) = find_block(&tokens) else {
            let end = tokens
                .last()
                .map_or_else(Span::call_site, |last| match last {
                    TokenTree::Group(group) => group.span_close(),
                    last => last.span(),
                });
            errors.at(end, NO_BLOCK);
            return Self {
                arguments: TokenStream::new(),
                errors,
                block: None,
            };
        };
        let block = Block::parse(&tokens[begin..at], braces.clone(), &mut errors);
        if let Some(wrong) = wrong {
            errors.at(block.span(), wrong);
        }
        Self {
            arguments: stream(&without_comma(tokens[..begin].to_vec())),
            errors,
            block: Some(block),
        }
    }
}

/// Finds the block: the index of its start and of its braces, the braces, and the error in its position.
fn find_block(tokens: &[TokenTree]) -> Option<(usize, usize, &Group, Option<&'static str>)> {
    let found = (0..tokens.len()).rev().find_map(|at| {
        let begin = block_start(&tokens[..at]);
        let wrong = tokens.get(at + 1).map(|next| match next {
            next if is_punct(next, ',') => NOT_LAST,
            _ => NOTHING_AFTER,
        });
        let begins = begin == 0 || is_punct(&tokens[begin - 1], ',');
        as_braces(&tokens[at])
            .filter(|_| begins)
            .map(|braces| (begin, at, braces, wrong))
    });
    found.or_else(|| {
        let (last, before) = tokens.split_last()?;
        let (begin, at, braces) = (block_start(before), before.len(), as_braces(last)?);
        match closure_start(before).or_else(|| closure_start(&before[..begin])) {
            Some(begin) => Some((begin, at, braces, Some(CLOSURE))),
            None => (begin < at).then_some((begin, at, braces, Some(NO_COMMA))),
        }
    })
}

impl Block {
    /// Parses a block from the words before its braces.
    fn parse(words: &[TokenTree], body: Group, errors: &mut Errors) -> Self {
        let find = |name| words.iter().find(|word| is_ident(word, name));
        let span = |name| find(name).map(TokenTree::span);
        let (asyncness, ownership) = (span("async"), span("move"));
        if let (None, Some(ownership)) = (asyncness, ownership) {
            errors.push(error!(ownership =>
                "`move` has no effect on a blocking block: remove it, or write `async move {{ … }}`"));
        }
        Self {
            asyncness: asyncness.map(Token![async]),
            ownership: ownership.filter(|_| asyncness.is_some()).map(Token![move]),
            returned: find_arrow(words).and_then(|arrow| parse_type(&words[arrow..], errors)),
            body,
        }
    }

    pub(crate) fn is_async(&self) -> bool {
        self.asyncness.is_some()
    }

    /// The span for errors about an unknown type.
    pub(crate) fn span(&self) -> Span {
        let word = self.asyncness.map(|word| word.span);
        word.unwrap_or_else(|| self.body.span_open())
    }

    /// The block as a function without arguments.
    pub(crate) fn as_function(&self, arguments: &Arguments) -> Function {
        let span = self.span();
        let asyncness = self.asyncness;
        let name = Ident::new("block", span);
        let mut signature: Signature = parse_quote_spanned!(span=> #asyncness fn #name());
        let returned = self.returned.clone();
        let returned = returned.unwrap_or_else(|| inferred_result(arguments, span));
        signature.output = ReturnType::Type(Token![->](span), Box::new(returned));
        Function {
            attributes: Vec::new(),
            visibility: Visibility::Inherited,
            defaultness: None,
            signature,
            body: Body::Block(self.body.clone()),
        }
    }

    /// A block of the same kind with other content.
    pub(crate) fn with_content(&self, content: Code) -> Code {
        code!(#(self.asyncness) #(self.ownership) #(braces(content, self.body.span())))
    }

    /// The block alone, as the user wrote it.
    pub(crate) fn without_retries(&self) -> Code {
        let statements = self.body.stream();
        let edge = self.returned.as_ref().map(|returned| {
            code_at! {Span::mixed_site()=>
                if false {
                    let unretried = || -> #returned { ::core::unreachable!() };
                    return unretried();
                }
            }
        });
        let arrow = self.returned.as_ref().map(|returned| code!(-> #returned));
        match self.asyncness {
            None => code!((|| #arrow { #statements })()),
            Some(_) => self.with_content(code!(#edge #statements)),
        }
    }
}

/// The type of a block whose type isn't written: a `Result`, with the error type from the closure of `on` if known.
fn inferred_result(arguments: &Arguments, span: Span) -> Type {
    let span = Span::mixed_site().located_at(span);
    let runtime = Ident::new(RUNTIME, span);
    match error_type_of_on(arguments) {
        Some(error) => parse_quote_spanned!(span=> #runtime::Result<_, #error>),
        None => parse_quote_spanned!(span=> #runtime::Result<_, _>),
    }
}

/// The `E` of `on = |error: &E| …`.
fn error_type_of_on(arguments: &Arguments) -> Option<&Type> {
    let on = arguments.value(Key::On)?;
    let on = as_variant!(on, KeyValue::Expr(Expr::Closure(on)) => on)?;
    let argument = as_variant!(on.inputs.first()?, Pat::Type(argument) => argument)?;
    outcome::as_reference(&argument.ty).map(|error| &*error.elem)
}

/// The index at which a block starts. `tokens` are the tokens before its braces.
fn block_start(tokens: &[TokenTree]) -> usize {
    let mut begin = find_arrow(tokens).unwrap_or(tokens.len());
    while begin > 0 && is_word(&tokens[begin - 1]) {
        begin -= 1;
    }
    begin
}

/// The index of the block's `->`. An arrow in a key's value comes after other tokens.
fn find_arrow(tokens: &[TokenTree]) -> Option<usize> {
    let begins = |at: usize| {
        let before = tokens[..at].last();
        before.is_none_or(|before| is_word(before) || is_punct(before, ','))
    };
    let is_arrow = |at: usize| is_punct(&tokens[at], '-') && is_punct(&tokens[at + 1], '>');
    (0..tokens.len().saturating_sub(1)).rfind(|at| is_arrow(*at) && begins(*at))
}

/// The type after a `->`.
fn parse_type(written: &[TokenTree], errors: &mut Errors) -> Option<Type> {
    if written.len() == 2 {
        errors.push(error!(written[1].span() =>
            "expected a type after `->`, as in `async -> Result<String, ApiError> {{ … }}`"));
        return None;
    }
    syn::parse2(stream(&written[2..]))
        .map_err(|error| errors.push(error))
        .ok()
}

/// The index at which the block should start, if the tokens end with a closure's `||` or `|…|`.
fn closure_start(tokens: &[TokenTree]) -> Option<usize> {
    let last = tokens.len().checked_sub(1)?;
    let first = tokens[..last]
        .iter()
        .rposition(|token| is_punct(token, '|'))?;
    let begin = block_start(&tokens[..first]);
    let begins = begin == 0 || is_punct(&tokens[begin - 1], ',');
    (is_punct(&tokens[last], '|') && begins).then_some(begin)
}

/// Removes the invisible group in which `macro_rules!` passes a block.
fn ungrouped(mut tokens: Vec<TokenTree>) -> Vec<TokenTree> {
    while let Some(TokenTree::Group(last)) = tokens.last() {
        if last.delimiter() != Delimiter::None {
            break;
        }
        let within = last.stream();
        tokens.pop();
        tokens.extend(within);
    }
    tokens
}

fn without_comma(mut tokens: Vec<TokenTree>) -> Vec<TokenTree> {
    if tokens.last().is_some_and(|last| is_punct(last, ',')) {
        tokens.pop();
    }
    tokens
}

fn as_braces(token: &TokenTree) -> Option<&Group> {
    as_variant!(token, TokenTree::Group(group) if group.delimiter() == Delimiter::Brace => group)
}

fn is_word(token: &TokenTree) -> bool {
    is_ident(token, "async") || is_ident(token, "move")
}
