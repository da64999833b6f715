//! Removes possible secrets from URLs in text.

use alloc::string::String;

use crate::error_text::{ELLIPSIS, prefix_len, slice, trim_end};

/// Punctuation that may follow a URL in a sentence.
const PUNCTUATION: &[u8] = b")]}>\"',.;:!";

/// The slash and the backslash: clients treat them alike, as the URL standard requires.
const SLASHES: &[u8] = b"/\\";

/// The text without the user info, query and fragment of each URL, with or without a scheme. `user_follows` is true if
/// the last word continues after the text and has an `@`, so that the part before the cut may be user info.
pub(super) fn hide(text: &str, user_follows: bool) -> String {
    let mut hidden = String::new();
    let mut words = text.split_inclusive(char::is_whitespace).peekable();
    while let Some(word) = words.next() {
        push_word(word, user_follows && words.peek().is_none(), &mut hidden);
    }
    hidden
}

/// Appends a word and the whitespace after it, without secrets.
fn push_word(word: &str, user_follows: bool, hidden: &mut String) {
    let bare = word.strip_suffix(char::is_whitespace).unwrap_or(word);
    let mut start = 0;
    while start < bare.len() {
        let quote = closing_quote(bare.as_bytes()[start]);
        let from = start + usize::from(quote.is_some());
        let rest = &bare[from..];
        let len = match quote {
            Some(quote) => quoted_len(rest, quote),
            None => unquoted_len(rest),
        };
        hidden.push_str(slice(bare, start..from));
        push_urls(&rest[..len], user_follows && len == rest.len(), hidden);
        let end = from + len;
        start = bare.len().min(end + from - start);
        hidden.push_str(slice(bare, end..start));
    }
    hidden.push_str(slice(word, bare.len()..word.len()));
}

/// Appends a text that may consist of several adjacent URLs, without their secrets.
fn push_urls(mut text: &str, user_follows: bool, hidden: &mut String) {
    while let Some(next) = next_url(text) {
        push_url(&text[..next], false, hidden);
        text = &text[next..];
    }
    push_url(text, user_follows, hidden);
}

/// Appends a text with at most one scheme, without its secrets.
fn push_url(text: &str, user_follows: bool, hidden: &mut String) {
    // A URL in the query of a URL without a scheme is part of that query.
    let scheme = after_scheme(text).filter(|start| query_start(&text[..*start], None).is_none());
    let start = scheme.unwrap_or(0);
    let query = query_start(text, scheme);
    let end = query.unwrap_or(text.len());
    let path = |from| find_any(&text[..end], from, SLASHES).unwrap_or(end);
    // A password may contain a `/`, so the last `@` counts, unless the part before the path is complete without an `@`.
    let user = index_after(&text[..end], b'@').filter(|user| *user > start);
    let user = user.filter(|user| match scheme {
        Some(_) => !is_authority(&text[start..path(start)]),
        None => contains_any(&text[..*user], b":") || contains_any(&text[*user..end], SLASHES),
    });
    let mut host = user.unwrap_or(start);
    let before = index_after(&text[..start], b'@').unwrap_or(0);
    hidden.push_str(slice(text, before..start));
    if user_follows {
        return hidden.push_str(ELLIPSIS);
    }
    if scheme.is_some() && !is_authority(&text[host..path(host)]) {
        hidden.push_str(ELLIPSIS);
        host = path(host);
    }
    hidden.push_str(slice(text, host..end));
    let tail = trim_end(&text.as_bytes()[end..], |byte| PUNCTUATION.contains(byte));
    hidden.push_str(slice(text, end + tail.len()..text.len()));
}

/// The index of the first of these bytes at or after `from`.
#[inline(never)]
fn find_any(text: &str, from: usize, bytes: &[u8]) -> Option<usize> {
    let mut rest = text.as_bytes()[from..].iter();
    let found = rest.position(|byte| bytes.contains(byte));
    found.map(|found| from + found)
}

fn contains_any(text: &str, bytes: &[u8]) -> bool {
    find_any(text, 0, bytes).is_some()
}

/// The index after the last occurrence of the byte.
#[inline(never)]
fn index_after(text: &str, byte: u8) -> Option<usize> {
    let last = text.bytes().rposition(|other| other == byte);
    last.map(|last| last + 1)
}

/// The index after the slashes of a scheme's `://`, or of the `//` of a URL without a scheme. Any number of slashes is
/// skipped, because clients accept `http:///host` as `http://host`.
#[inline(never)]
fn after_scheme(text: &str) -> Option<usize> {
    let is_slash = |byte: &u8| SLASHES.contains(byte);
    let bytes = text.as_bytes();
    let is_scheme = |bytes: &[u8]| bytes[0] == b':' && bytes[1..].iter().all(is_slash);
    let slashes = match prefix_len(bytes, usize::MAX, is_slash) {
        0 | 1 => bytes.windows(3).position(is_scheme)? + 1,
        _ => 0,
    };
    Some(slashes + prefix_len(&bytes[slashes..], usize::MAX, is_slash))
}

/// The index where another URL starts, outside of the first URL's query.
fn next_url(text: &str) -> Option<usize> {
    let start = after_scheme(text)?;
    let next = start + after_scheme(&text[start..])?;
    let colon = index_after(&text[start..next], b':')? - 1;
    let before = trim_end(
        &text.as_bytes()[start..start + colon],
        u8::is_ascii_alphanumeric,
    );
    let is_in_query = before.iter().any(|byte| b"?#".contains(byte));
    (!before.is_empty() && !is_in_query).then_some(start + before.len())
}

/// The index where the query or the fragment starts. Without a scheme, a `?` or `#` must follow a slash or precede a
/// `=`. An `&` before a `=` also counts, because a space may have split the query.
fn query_start(text: &str, scheme: Option<usize>) -> Option<usize> {
    if let Some(start) = scheme {
        return find_any(text, start, b"?#");
    }
    let slash = find_any(text, 0, SLASHES).unwrap_or(text.len());
    let equals = index_after(text, b'=').unwrap_or(0);
    let mut from = 0;
    while let Some(mark) = find_any(text, from, b"?#&") {
        let is_in_path = !text[mark..].starts_with('&') && slash < mark;
        if is_in_path || mark < equals {
            return Some(mark);
        }
        from = mark + 1;
    }
    None
}

/// Returns true if the text lists hosts, with or without ports. If not, it contains user info or a part of it.
fn is_authority(text: &str) -> bool {
    let is_after = |byte: &u8| *byte != b']' && PUNCTUATION.contains(byte);
    let mut hosts = trim_end(text.as_bytes(), is_after).split(|byte| *byte == b',');
    !contains_any(text, b"@") && hosts.all(is_host)
}

fn is_host(host: &[u8]) -> bool {
    let address = host.iter().rposition(|byte| *byte == b']');
    let port = match address {
        Some(end) => host[end + 1..].strip_prefix(b":"),
        None => host.splitn(2, |byte| *byte == b':').nth(1),
    };
    port.is_none_or(|port| port.len() <= 5 && port.iter().all(u8::is_ascii_digit))
}

/// The closing quote for an opening quote.
fn closing_quote(quote: u8) -> Option<u8> {
    match quote {
        b'"' | b'\'' | b'`' => Some(quote),
        b'<' => Some(b'>'),
        _ => None,
    }
}

/// The length up to the end of the quotation. A quote within a word belongs to the word. Every non-ASCII character
/// counts as a letter.
fn quoted_len(text: &str, quote: u8) -> usize {
    let is_word_byte = |byte: &u8| byte.is_ascii_alphanumeric() || !byte.is_ascii();
    let mut from = 0;
    while let Some(end) = find_any(text, from, &[quote]) {
        from = end + 1;
        if !text.as_bytes().get(from).is_some_and(is_word_byte) {
            return end;
        }
    }
    text.len()
}

/// The length up to the next quotation, unless the quote is within a URL.
fn unquoted_len(text: &str) -> usize {
    let end = find_any(text, 0, b"\"'`<").unwrap_or(text.len());
    if may_be_url(&text[..end]) {
        text.len()
    } else {
        end
    }
}

fn may_be_url(text: &str) -> bool {
    contains_any(text, b"@?#&") || after_scheme(text).is_some()
}
