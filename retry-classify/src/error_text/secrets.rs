//! Hides secrets in text: values after names such as `password`, and tokens of well-known shapes.

use alloc::string::String;
use core::ops::Range;
use core::sync::atomic::{AtomicBool, Ordering};

use super::{ELLIPSIS, prefix_len, slice, trim_end};

static ARE_SHOWN: AtomicBool = AtomicBool::new(false);

/// Sets whether secrets are shown, in all texts of the program.
pub(crate) fn set_shown(are_shown: bool) {
    ARE_SHOWN.store(are_shown, Ordering::Relaxed);
}

pub(super) fn are_shown() -> bool {
    ARE_SHOWN.load(Ordering::Relaxed)
}

// Each list is one text, because every program that retries contains it, and a slice of slices would be several times
// as large.

/// Endings of secrets' names, without the characters of [`is_name_byte`].
const NAMES: &str = "password passwd passphrase passcode pwd secret token apikey accesskey accountkey authkey \
    encryptionkey functionskey masterkey privatekey secretkey sharedkey signingkey subscriptionkey sessid sessionid \
    authorization cookie";

/// Whole words that also precede ordinary values. After them, only a random-looking value is a secret.
const WORDS: &str = "auth credential credentials jwt pass session sid sig signature";

/// Words that follow the name of a secret in a sentence.
const PROSE: &str = "a an and are at bad be can cannot caused connection contains could denied did does empty expected \
    expired failed false flag for has in incorrect invalid is it malformed mismatch missing must nil no none not null of \
    option permission rejected request required revoked the this timed timeout to too true undefined unexpected unknown \
    unset was wrong your";

/// Words that precede the name of a secret in a sentence about a failure. Words that end with `-ing` also count.
const SENTENCE: &str = "a an any cannot no not the to";

/// Token prefixes of well-known services.
// JWTs, AWS, Google, SendGrid; OpenAI, Anthropic and many more, Groq, xAI, Hugging Face, Replicate, Perplexity, NVIDIA;
// GitHub, GitLab, npm, PyPI, Docker; Slack, Stripe, Shopify, DigitalOcean, Vault.
const TOKEN_PREFIXES: &str = "eyJ AKIA ASIA AIza ya29. SG. sk- gsk_ xai- hf_ r8_ pplx- nvapi- ghp_ gho_ ghu_ ghs_ ghr_ \
    github_pat_ glpat- npm_ pypi- dckr_pat_ xoxa- xoxb- xoxp- xapp- sk_live_ sk_test_ rk_live_ whsec_ shpat_ dop_v1_ \
    hvs.";

/// Words in the header `Authorization` after which its value continues.
const SCHEMES: &str = "apikey aws4-hmac-sha256 basic bearer digest key negotiate sharedkey token";

/// Schemes that also precede a secret outside of this header.
const BARE_SCHEMES: &str = "basic bearer";

/// The minimum length of a token's random-looking part.
const MIN_PART: usize = 8;
/// The minimum length of that part after a prefix that also starts ordinary words. Any part this long looks random.
const MIN_LONG: usize = 16;

/// The maximum number of nested wrappers around a value.
const MAX_WRAPPERS: usize = 8;

/// The maximum number of bytes inspected from any position, so that the time grows linearly with the text's length.
const MAX_SCAN: usize = 64;

/// The text with an ellipsis in place of each secret. `None` if the text has no secret.
pub(super) fn hide(text: &str) -> Option<String> {
    let bytes = text.as_bytes();
    let mut hidden = String::new();
    let (mut kept, mut at) = (0, 0);
    while at < bytes.len() {
        let begins_word = at == 0 || !bytes[at - 1].is_ascii_alphanumeric();
        let secret = match bytes[at] {
            b':' | b'=' | b'>' => value_after(text, at),
            b'-' if begins_word => pem_key(text, at).or_else(|| flag_value(text, at)),
            byte if begins_word && byte.is_ascii_alphabetic() => token(text, at),
            _ => None,
        };
        at += 1;
        if let Some(secret) = secret {
            hidden.push_str(slice(text, kept..secret.start));
            hidden.push_str(ELLIPSIS);
            kept = secret.end;
            at = at.max(kept);
        }
    }
    (kept > 0).then(|| {
        hidden.push_str(slice(text, kept..text.len()));
        hidden
    })
}

/// Returns true if `text` ends with a secret's name and `: `, so that the text after it would be hidden.
pub(super) fn ends_with_name(text: &str) -> bool {
    let separator = text.len().checked_sub(2);
    let name = separator.and_then(|separator| name_before(text.as_bytes(), separator));
    name.is_some_and(|name| name != Name::Word) && !are_shown()
}

/// The secret in the token, or after the scheme, that starts at `at`. Excludes the token's prefix.
fn token(text: &str, at: usize) -> Option<Range<usize>> {
    let rest = &text.as_bytes()[at..];
    let word = prefix_len(rest, MAX_SCAN, u8::is_ascii_alphanumeric);
    let (start, min_len) = if is_one_of(BARE_SCHEMES, &rest[..word]) {
        (word + 1, MIN_PART)
    } else {
        let shape = words_of(TOKEN_PREFIXES).find(|shape| rest.starts_with(shape))?;
        let may_be_word = shape[0].is_ascii_uppercase();
        (shape.len(), if may_be_word { MIN_LONG } else { MIN_PART })
    };
    let token_len = |rest, most| {
        prefix_len(rest, most, |byte| {
            byte.is_ascii_alphanumeric() || b"-_.+/=~%".contains(byte)
        })
    };
    let token = rest.get(start..)?;
    is_random(&token[..token_len(token, MAX_SCAN)], min_len).then(|| {
        let token = &token[..token_len(token, usize::MAX)];
        let start = at + start;
        start..start + trim_end(token, |byte| *byte == b'.').len()
    })
}

fn words_of(texts: &'static str) -> impl Iterator<Item = &'static [u8]> {
    texts.as_bytes().split(|byte| *byte == b' ')
}

fn is_one_of(texts: &'static str, text: &[u8]) -> bool {
    words_of(texts).any(|other| other.eq_ignore_ascii_case(text))
}

/// The PEM private key that starts at `at`.
fn pem_key(text: &str, at: usize) -> Option<Range<usize>> {
    let label = text.as_bytes()[at..].strip_prefix(b"-----BEGIN ")?;
    let label = &label[..prefix_len(label, MAX_SCAN, |byte| *byte != b'-')];
    if !label.windows(11).any(|part| part == b"PRIVATE KEY") {
        return None;
    }
    let start = at + "-----BEGIN -----".len() + label.len();
    let key = text.as_bytes().get(start..)?;
    let end = key.windows(8).position(|part| part == b"-----END");
    Some(start..start + end.unwrap_or(key.len()))
}

/// The value of a command-line flag that starts at `at`, such as `--password hunter2`.
fn flag_value(text: &str, at: usize) -> Option<Range<usize>> {
    let rest = text.as_bytes()[at..].strip_prefix(b"--")?;
    let name = prefix_len(rest, MAX_SCAN, |byte| is_word_byte(*byte));
    (rest.get(name) == Some(&b' ')).then(|| value_after(text, at + 2 + name))?
}

/// The kind of name before a separator.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Name {
    /// The value is a secret.
    Secret,
    /// The value is a secret, unless it is a number.
    Token,
    /// The value is a secret of several words.
    Header,
    /// The value may be a secret.
    Word,
    /// The name ends a sentence such as `refreshing the token`, which is usually followed by a cause, not a value.
    InSentence,
}

/// The secret after the separator at this index, if a secret's name precedes the separator.
fn value_after(text: &str, separator: usize) -> Option<Range<usize>> {
    let bytes = text.as_bytes();
    let name = name_before(bytes, separator)?;
    let mut start = separator + 1;
    match (bytes[separator], *bytes.get(start)?) {
        // A path, such as `token::refresh`.
        (b':', b':') => return None,
        (b':' | b'=', b'=' | b'>') => start += 1,
        _ => {}
    }
    start += prefix_len(&bytes[start..], MAX_SCAN, |byte| *byte == b' ');
    start = unwrapped_start(bytes, start);
    // Python and Rust write bytes as `b'…'` and `b"…"`.
    let is_bytes = matches!(bytes[start..], [b'b', quote, ..] if is_quote(quote));
    start += usize::from(is_bytes);
    let quote = *bytes.get(start)?;
    let is_quoted = is_quote(quote);
    start += usize::from(is_quoted);
    let rest = &bytes[start..];
    let near = word(&rest[..rest.len().min(MAX_SCAN)], b"");
    let is_value = is_quoted || is_random(near, 6) && near.iter().any(u8::is_ascii_digit);
    match name {
        Name::Word if !is_random(near, 6) => return None,
        Name::InSentence if !is_value => return None,
        _ => {}
    }
    let len = match name {
        _ if is_quoted => quoted_len(bytes, start, quote),
        _ if is_in_list(bytes, start) && numbers_len(rest) > 0 => numbers_len(rest),
        Name::Header => header_len(rest),
        _ => without_punctuation(word(rest, b";&")).len(),
    };
    let value = slice(text, start..start + len);
    let is_value = value.bytes().any(|byte| byte.is_ascii_alphanumeric())
        || !value.is_ascii() && value != ELLIPSIS;
    let is_other = !is_quoted
        && match name {
            Name::Token if value.bytes().all(|byte| byte.is_ascii_digit()) => true,
            _ => is_one_of(PROSE, value.as_bytes()),
        };
    (is_value && !is_other).then(|| start..start + len)
}

/// The index where a value starts within the wrappers of `Debug` and JSON: `Some("…")`, `Config { key: Key([…]) }`.
/// Wrappers count only before a text or a list, because a secret may also contain brackets.
fn unwrapped_start(bytes: &[u8], start: usize) -> usize {
    let skip = |at: usize, is_match: fn(&u8) -> bool| {
        let rest = bytes.get(at..).unwrap_or_default();
        at + prefix_len(rest, MAX_SCAN, is_match)
    };
    let is_of_type = |byte: &u8| byte.is_ascii_alphanumeric() || b"_<>".contains(byte);
    let mut at = start;
    for _ in 0..MAX_WRAPPERS {
        let opened = skip(at, |byte| b"[(\\ \n".contains(byte));
        let named = skip(opened, is_of_type);
        let brace = skip(named, |byte| *byte == b' ');
        let field = skip(brace + 1, u8::is_ascii_whitespace);
        let colon = skip(field, |byte| is_word_byte(*byte) || is_quote(*byte));
        at = match (bytes.get(named), bytes.get(brace), bytes.get(colon)) {
            (_, Some(b'{'), Some(b':')) => skip(colon + 1, |byte| *byte == b' '),
            (_, Some(b'{'), _) => break,
            (Some(b'('), ..) if named > opened => named,
            (_, Some(b'['), _) if named > opened => brace,
            _ => {
                at = opened;
                break;
            }
        };
    }
    let is_text = matches!(bytes[at..], [b'b', quote, ..] | [quote, ..] if is_quote(quote));
    if is_text || at > start && is_in_list(bytes, at) {
        return at;
    }
    let some = bytes[start..].strip_prefix(b"Some(");
    let start = some.map_or(start, |rest| bytes.len() - rest.len());
    skip(start, |byte| b"[(\\".contains(byte))
}

fn is_in_list(bytes: &[u8], start: usize) -> bool {
    trim_end(&bytes[..start], u8::is_ascii_whitespace).ends_with(b"[")
}

/// The length up to the bracket that closes a list of several numbers, such as bytes. Zero if there is no such list.
fn numbers_len(rest: &[u8]) -> usize {
    let len = prefix_len(rest, usize::MAX, |byte| {
        byte.is_ascii_digit() || b", \n".contains(byte)
    });
    let is_list = rest[..len].contains(&b',') && matches!(rest.get(len), None | Some(b']'));
    if is_list { len } else { 0 }
}

fn name_before(bytes: &[u8], separator: usize) -> Option<Name> {
    let before = &bytes[separator.saturating_sub(MAX_SCAN)..separator];
    let before = trim_end(before, |byte| is_name_byte(*byte));
    let before = trim_end(before, u8::is_ascii_digit);
    let word = trim_end(before, |byte| is_word_byte(*byte)).len();
    match (before[..word].last(), bytes[separator]) {
        (Some(b'<'), b'>') => {}
        // The name is the end of a path, and the text after the path is the result of the request.
        (Some(b'/'), _) | (_, b'>') => return None,
        _ => {}
    }
    let name = trim_end(before, |byte| {
        byte.is_ascii_alphabetic() || is_name_byte(*byte)
    });
    let mut name = before[name.len()..].to_ascii_lowercase();
    name.retain(u8::is_ascii_alphabetic);
    let is_followed = bytes[separator..].starts_with(b": ");
    match words_of(NAMES).find(|ending| name.ends_with(ending)) {
        Some(name) if is_followed && is_sentence(before, name) => Some(Name::InSentence),
        Some(b"authorization" | b"cookie") => Some(Name::Header),
        Some(b"token") => Some(Name::Token),
        Some(_) => Some(Name::Secret),
        None => {
            let word = before[word..].rsplit(|byte| b"-_".contains(byte)).next()?;
            is_one_of(WORDS, word).then_some(Name::Word)
        }
    }
}

/// Returns true if the words up to a name form a sentence.
fn is_sentence(before: &[u8], name: &[u8]) -> bool {
    let words = trim_end(before, |byte| byte.is_ascii_alphabetic() || *byte == b' ');
    let mut words = before[words.len()..].split(|byte| *byte == b' ');
    let may_end = name != b"signingkey";
    words.any(|word| may_end && word.ends_with(b"ing") || is_one_of(SENTENCE, word))
}

/// Returns true if a byte may occur in, before or after a name.
fn is_name_byte(byte: u8) -> bool {
    b" _-[]*\\".contains(&byte) || is_quote(byte)
}

fn is_word_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"-_".contains(&byte)
}

fn is_quote(byte: u8) -> bool {
    b"\"'`".contains(&byte)
}

/// The length up to the closing quote, or to the end.
fn quoted_len(bytes: &[u8], start: usize, quote: u8) -> usize {
    let rest = &bytes[start..];
    if start > 1 && bytes[start - 2] == b'\\' {
        let end = prefix_len(rest, usize::MAX, |byte| *byte != quote);
        return trim_end(&rest[..end], |byte| *byte == b'\\').len();
    }
    let mut is_escaped = false;
    let end = rest.iter().position(|byte| {
        let is_end = *byte == quote && !is_escaped;
        is_escaped = *byte == b'\\' && !is_escaped;
        is_end
    });
    end.unwrap_or(rest.len())
}

/// The length of a header's value, including the words after a scheme or in a list.
fn header_len(rest: &[u8]) -> usize {
    let mut start = 0;
    loop {
        let word = word(&rest[start..], b"");
        let end = start + word.len();
        let goes_on = is_one_of(SCHEMES, word) || matches!(word.last(), Some(b',' | b';'));
        if !goes_on || rest.get(end) != Some(&b' ') || rest.len() == end + 1 {
            return start + without_punctuation(word).len();
        }
        start = end + 1;
    }
}

/// The bytes up to the end of the word, or to one of `ends`.
fn word<'a>(rest: &'a [u8], ends: &[u8]) -> &'a [u8] {
    let ends_word =
        |byte: u8| byte.is_ascii_whitespace() || is_quote(byte) || b"<\\".contains(&byte);
    let is_inside = |byte: &u8| !ends_word(*byte) && !ends.contains(byte);
    &rest[..prefix_len(rest, usize::MAX, is_inside)]
}

/// The word without trailing punctuation of a sentence or a structure.
fn without_punctuation(word: &[u8]) -> &[u8] {
    trim_end(word, |byte| b",.:;)]}>".contains(byte))
}

/// Returns true if any part of at least `min_len` bytes doesn't look like a word: it contains a digit or an inner
/// capital, or is long.
fn is_random(token: &[u8], min_len: usize) -> bool {
    let mut parts = token.split(|byte| !byte.is_ascii_alphanumeric());
    parts.any(|part| {
        let is_mixed =
            || part.iter().any(u8::is_ascii_digit) || part[1..].iter().any(u8::is_ascii_uppercase);
        part.len() >= MIN_LONG || part.len() >= min_len && is_mixed()
    })
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;
    use proptest::sample::select;

    use super::*;

    /// Pieces of secrets and of similar texts.
    const PARTS: [&str; 38] = [
        "the ",
        "Key(",
        "Key { a: ",
        "104, ",
        "password",
        "token",
        "cookie",
        "sig",
        "sk-",
        "eyJ",
        "Bearer ",
        "--",
        "-----BEGIN ",
        "PRIVATE KEY-----",
        "-----END",
        "Some(",
        "aB3dE6gH",
        "=",
        ":",
        ">",
        "<",
        "\"",
        "'",
        "\\",
        "[",
        ",",
        ";",
        "&",
        "/",
        " ",
        "\n",
        ".",
        "-",
        "_",
        "1",
        "é",
        "…",
        "is",
    ];

    /// If the time grew with the square of the length, these texts would take minutes.
    #[test]
    fn the_time_is_proportional_to_the_length() {
        for part in [
            "sig=",
            "sk-",
            "token: ",
            "pwd=,",
            "auth='\\",
            "cookie=,",
            "--a ",
            "-----BEGIN ",
            "-token ",
            "pwd: A { pwd: ",
            "pwd=[A(",
            "pwd=[1,",
        ] {
            hide(&part.repeat((1 << 18) / part.len()));
        }
    }

    #[test]
    fn a_value_may_be_on_a_line_of_its_own() {
        let pretty = "Login {\n    token: Some(\n        Token(\n            \"abc\",\n        ),\n    ),\n}";
        assert_eq!(hide(pretty), Some(pretty.replace("abc", ELLIPSIS)));
        let bytes = "Login {\n    secret: Key(\n        [\n            104,\n            117,\n        ],\n    ),\n}";
        let hidden = hide(bytes).unwrap();
        assert!(
            !hidden.contains("117") && hidden.ends_with("],\n    ),\n}"),
            "{hidden}"
        );
    }

    proptest! {
        #[test]
        fn any_text_is_searched(parts in vec(select(&PARTS[..]), 0..40)) {
            let text = parts.concat();
            let hidden = hide(&text);
            prop_assert!(hidden.is_none_or(|hidden| hidden.contains(ELLIPSIS)), "{text}");
        }
    }
}
