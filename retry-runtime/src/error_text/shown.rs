//! Texts of others on their way out: errors, messages of servers, names. Whatever shows one shows it through `shown`.

use alloc::string::String;
use core::fmt::{self, Write};
use core::ops::Range;

use crate::error_text::secrets::{self, ELLIPSIS};

/// The most bytes of a text.
const LIMIT: usize = 1024;

/// How many times that are looked at: a URL's query, which is left out, may be longer than all that is shown.
const LOOKED_AT: usize = 16;

/// The most bytes of a name in a list of names.
#[cfg(feature = "plan")]
const NAME_LIMIT: usize = 96;

/// What the note about a cut may take.
const NOTE: usize = 40;

/// What may follow a URL in a sentence.
const PUNCTUATION: &[u8] = b")]}>\"',.;:!";

/// The text without what may be a secret in URLs, on one line, and no longer than a record can bear.
///
/// A text with a note about a cut is short enough not to be cut again where an error shows another's text.
pub(crate) fn shown<D: fmt::Display>(text: D) -> Shown<D> {
    shown_within(text, LIMIT)
}

/// So, too, in at most that many bytes.
pub(crate) fn shown_within<D: fmt::Display>(text: D, limit: usize) -> Shown<D> {
    Shown { text, limit }
}

/// The whole text, only escaped: one of this crate, with names of the user's.
#[cfg(feature = "plan")]
pub(crate) fn escaped(text: &str, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    text.chars().try_for_each(|char| {
        if is_escaped(char) {
            return write!(f, "{}", char.escape_default());
        }
        f.write_char(char)
    })
}

/// A name among others, as it is shown.
#[cfg(feature = "plan")]
pub(crate) fn shown_name<D: fmt::Display>(name: D) -> Shown<D> {
    shown_within(name, NAME_LIMIT)
}

pub(crate) struct Shown<D> {
    text: D,
    limit: usize,
}

impl<D: fmt::Display> fmt::Display for Shown<D> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (line, cut) = clean(&self.text, self.limit);
        f.write_str(&line)?;
        match cut {
            0 => Ok(()),
            cut => write!(f, "{ELLIPSIS} ({cut} bytes cut)"),
        }
    }
}

/// The start of a text that was cut already: nobody knows how long it was.
#[cfg(feature = "http")]
pub(crate) fn shown_start(text: &dyn fmt::Display, limit: usize) -> String {
    let (mut line, cut) = clean(text, limit);
    if cut > 0 {
        line.push_str(ELLIPSIS);
    }
    line
}

/// The text, and how many bytes of it were cut.
fn clean(text: &dyn fmt::Display, limit: usize) -> (String, usize) {
    let mut start = Start::of(text, LOOKED_AT * limit);
    let mut raw = core::mem::take(&mut start.text);
    let mut line = Line::new(limit);
    if secrets::are_shown() {
        line.keep(&raw, 0);
        return line.end(raw.len(), start.total);
    }
    let beyond = start.total - raw.len();
    if let Some(hidden) = secrets::hide(&raw) {
        raw = hidden;
    }
    let mut place = 0;
    for word in raw.split_inclusive(char::is_whitespace) {
        let end = place + word.len();
        line.word(word, place, start.user_follows && end == raw.len());
        place = end;
    }
    line.end(raw.len(), raw.len() + beyond)
}

/// The start of a text, and how long the whole is. What is beyond the start is never in memory.
pub(crate) struct Start {
    text: String,
    limit: usize,
    total: usize,
    /// The word that the cut goes through has not ended.
    in_word: bool,
    /// Beyond the cut, that word has an `@`: what is before it may be a password.
    user_follows: bool,
}

impl Start {
    pub(crate) fn of(text: &dyn fmt::Display, limit: usize) -> Self {
        let mut start = Self {
            text: String::new(),
            limit,
            total: 0,
            in_word: false,
            user_follows: false,
        };
        // A `Display` that fails has said what it could.
        let _ = write!(start, "{text}");
        start
    }

    /// The text, unless it is longer.
    pub(crate) fn whole(&self) -> Option<&str> {
        (self.total == self.text.len()).then_some(&self.text)
    }
}

impl Write for Start {
    fn write_str(&mut self, piece: &str) -> fmt::Result {
        let mut beyond = piece;
        if self.total == self.text.len() {
            let mut room = piece.len().min(self.limit - self.text.len());
            while !piece.is_char_boundary(room) {
                room -= 1;
            }
            self.text.push_str(&piece[..room]);
            beyond = &piece[room..];
            self.in_word = !self.text.ends_with(char::is_whitespace);
        }
        self.total = self.total.saturating_add(piece.len());
        if self.in_word && !beyond.is_empty() {
            let end = beyond.find(char::is_whitespace);
            self.user_follows |= beyond[..end.unwrap_or(beyond.len())].contains('@');
            self.in_word = end.is_none();
        }
        Ok(())
    }
}

/// What is shown.
struct Line {
    text: String,
    limit: usize,
    /// The index where the text ends if it has to be cut: in `text`, and in what it was made of.
    cut: (usize, usize),
    is_full: bool,
}

impl Line {
    fn new(limit: usize) -> Self {
        Self {
            text: String::new(),
            limit,
            cut: (0, 0),
            is_full: false,
        }
    }

    /// The line, and how many bytes of the text are not in it.
    fn end(mut self, place: usize, total: usize) -> (String, usize) {
        if !self.is_full {
            self.mark(place);
        }
        if !self.is_full && place == total {
            return (self.text, 0);
        }
        let (end, place) = self.cut;
        self.text.truncate(end);
        (self.text, total.saturating_sub(place))
    }

    fn mark(&mut self, place: usize) {
        if self.text.len() <= self.limit - NOTE {
            self.cut = (self.text.len(), place);
        }
    }

    /// A part of a text that begins there.
    #[inline(never)]
    fn keep_part(&mut self, text: &str, part: Range<usize>, place: usize) {
        let start = part.start;
        self.keep(text.get(part).unwrap_or_default(), place + start);
    }

    fn keep(&mut self, text: &str, mut place: usize) {
        for char in text.chars() {
            self.mark(place);
            if self.is_full {
                return;
            }
            let end = self.text.len();
            if is_escaped(char) {
                self.text.extend(char.escape_default());
            } else {
                self.text.push(char);
            }
            if self.text.len() > self.limit {
                self.text.truncate(end);
                self.is_full = true;
                return;
            }
            place += char.len_utf8();
        }
    }

    /// A word and the white space after it. Where `user_follows`, it goes on beyond what is there, with an `@`.
    fn word(&mut self, word: &str, place: usize, user_follows: bool) {
        let bare = word.strip_suffix(char::is_whitespace).unwrap_or(word);
        let mut start = 0;
        while start < bare.len() {
            let rest = &bare[start..];
            let quote = closing(rest.as_bytes()[0]);
            let quoted = usize::from(quote.is_some());
            let rest = &rest[quoted..];
            let len = match quote {
                Some(quote) => quoted_len(rest, quote),
                None => unquoted_len(rest),
            };
            self.keep_part(bare, start..start + quoted, place);
            start += quoted;
            self.segment(
                &rest[..len],
                place + start,
                user_follows && len == rest.len(),
            );
            start += len;
            let closed = quoted.min(bare.len() - start);
            self.keep_part(bare, start..start + closed, place);
            start += closed;
        }
        self.keep_part(word, bare.len()..word.len(), place);
    }

    /// What may be a URL, with or without a scheme. Of that, user info, query and fragment are left out.
    fn segment(&mut self, mut text: &str, mut place: usize, user_follows: bool) {
        // A text of others may be one URL after another: what is not shown is not looked at.
        while let Some(next) = next_url(text).filter(|_| !self.is_full) {
            self.url(&text[..next], place, false);
            text = &text[next..];
            place += next;
        }
        self.url(text, place, user_follows);
    }

    /// Keeps a text with at most one scheme, without what may be a secret in it.
    fn url(&mut self, text: &str, place: usize, user_follows: bool) {
        let (scheme, start) = scheme(text);
        let query = query(text, scheme);
        let end = query.unwrap_or(text.len());
        let path = |from| find(&text[..end], from, b"/\\").unwrap_or(end);
        // A password may have a `/` in it: the last `@` counts, but where what is before the path is whole without one.
        let user = after_last(&text[..end], b'@').filter(|user| *user > start);
        let user = user.filter(|user| match scheme {
            Some(_) => !is_authority(&text[start..path(start)]),
            None => has(&text[..*user], b":") || has(&text[*user..end], b"/"),
        });
        let host = user.unwrap_or(start);
        let before = after_last(&text[..start], b'@').unwrap_or(0);
        self.keep_part(text, before..start, place);
        if user_follows {
            return self.keep(ELLIPSIS, place + host);
        }
        if scheme.is_some() && !is_authority(&text[host..path(host)]) {
            self.keep(ELLIPSIS, place + host);
            self.keep_part(text, path(host)..end, place);
        } else {
            self.keep_part(text, host..end, place);
        }
        let tail = end + trim_end(&text[end..], |byte| PUNCTUATION.contains(&byte)).len();
        self.keep_part(text, tail..text.len(), place);
    }
}

// What is looked for in a text is ASCII, by these few functions: those of the standard library are made anew for each pattern,
// and every program that retries anything has this code.

/// The index of the first of those bytes from a start on.
#[inline(never)]
fn find(text: &str, from: usize, bytes: &[u8]) -> Option<usize> {
    let mut rest = text.as_bytes()[from..].iter();
    let found = rest.position(|byte| bytes.contains(byte));
    found.map(|found| from + found)
}

fn has(text: &str, bytes: &[u8]) -> bool {
    find(text, 0, bytes).is_some()
}

/// The index behind the last such byte.
#[inline(never)]
fn after_last(text: &str, byte: u8) -> Option<usize> {
    let last = text.bytes().rposition(|other| other == byte);
    last.map(|last| last + 1)
}

/// The text without the bytes at its end that are so, all of them ASCII.
#[inline(never)]
fn trim_end(text: &str, is_so: fn(u8) -> bool) -> &str {
    let last = text.bytes().rposition(|byte| !is_so(byte));
    &text[..last.map_or(0, |last| last + 1)]
}

/// The index behind a scheme's `://`.
#[inline(never)]
fn after_scheme(text: &str) -> Option<usize> {
    let scheme = text.as_bytes().windows(3).position(|bytes| bytes == b"://");
    scheme.map(|scheme| scheme + 3)
}

/// The indices where the scheme ends, and where what follows its slashes begins, however many: clients take `http:///host` for
/// `http://host`.
fn scheme(text: &str) -> (Option<usize>, usize) {
    let scheme = after_scheme(text);
    let start = scheme.map_or(0, |scheme| {
        let mut rest = text.as_bytes()[scheme..].iter();
        let slashes = rest.position(|byte| !b"/\\".contains(byte));
        slashes.map_or(text.len(), |slashes| scheme + slashes)
    });
    (scheme, start)
}

/// The index where another URL begins, outside of the first one's query.
fn next_url(text: &str) -> Option<usize> {
    let (scheme, start) = scheme(text);
    scheme?;
    let rest = &text[start..];
    let before = &rest[..after_scheme(rest)? - 3];
    let before = trim_end(before, |byte| byte.is_ascii_alphanumeric());
    (!before.is_empty() && !has(before, b"?#")).then_some(start + before.len())
}

/// The index where the query or the fragment begins. Without a scheme, `?` and `#` also stand in other texts than URLs, and `&`
/// where a space within a query parted it.
fn query(text: &str, scheme: Option<usize>) -> Option<usize> {
    if let Some(start) = scheme {
        return find(text, start, b"?#");
    }
    let mut from = 0;
    while let Some(mark) = find(text, from, b"?#&") {
        let is_in_path = !text[mark..].starts_with('&') && has(&text[..mark], b"/");
        if is_in_path || has(&text[mark..], b"=") {
            return Some(mark);
        }
        from = mark + 1;
    }
    None
}

/// Whether these are hosts, each with or without a port. If not, there is user info in it, or a part of one.
fn is_authority(text: &str) -> bool {
    let hosts = trim_end(text, |byte| byte != b']' && PUNCTUATION.contains(&byte));
    let mut hosts = hosts.as_bytes().split(|byte| *byte == b',');
    !has(text, b"@") && hosts.all(is_host)
}

fn is_host(host: &[u8]) -> bool {
    let address = host.iter().rposition(|byte| *byte == b']');
    let port = match address {
        Some(end) => host[end + 1..].strip_prefix(b":"),
        None => host
            .iter()
            .position(|byte| *byte == b':')
            .map(|colon| &host[colon + 1..]),
    };
    let number = port
        .unwrap_or_default()
        .iter()
        .try_fold(0_u16, |number, digit| {
            let digit = digit.is_ascii_digit().then(|| u16::from(digit - b'0'))?;
            number.checked_mul(10)?.checked_add(digit)
        });
    number.is_some()
}

/// What ends a quotation that begins so.
fn closing(quote: u8) -> Option<u8> {
    match quote {
        b'"' | b'\'' | b'`' => Some(quote),
        b'<' => Some(b'>'),
        _ => None,
    }
}

/// Up to the end of the quotation. A quote within a word belongs to the word, and so does every letter that is not ASCII.
fn quoted_len(text: &str, quote: u8) -> usize {
    let is_of_word = |byte: &u8| byte.is_ascii_alphanumeric() || !byte.is_ascii();
    let mut from = 0;
    while let Some(end) = find(text, from, &[quote]) {
        from = end + 1;
        if !text.as_bytes().get(from).is_some_and(is_of_word) {
            return end;
        }
    }
    text.len()
}

/// Up to the next quotation, unless it is within a URL.
fn unquoted_len(text: &str) -> usize {
    let end = find(text, 0, b"\"'`<").unwrap_or(text.len());
    let is_url = after_scheme(&text[..end]).is_some() || has(&text[..end], b"@?#&");
    if is_url { text.len() } else { end }
}

/// Whether a character would begin a line of its own, move the cursor, turn the direction of writing, or say unseen what a program
/// reads. Joiners and variation selectors belong to letters and to emoji.
fn is_escaped(char: char) -> bool {
    let is_mark = matches!(char, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    let is_unseen = matches!(char, '\u{ad}' | '\u{180e}' | '\u{200b}' | '\u{2060}'..='\u{2065}' | '\u{206a}'..='\u{206f}'
        | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}' | '\u{e0100}'..='\u{e01ef}');
    is_mark || is_unseen || char.is_control()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn is_shown(text: &str, expected: &str) {
        assert_eq!(shown(text).to_string(), expected, "{text}");
        assert_eq!(shown(expected).to_string(), expected, "again: {text}");
    }

    #[test]
    fn a_url_loses_user_info_query_and_fragment() {
        is_shown(
            "for url (http://user:pw@host:80/v1/models?key=AIza): refused",
            "for url (http://host:80/v1/models): refused",
        );
        is_shown("https://h/x#access_token=t.", "https://h/x.");
        is_shown("https://u:p/w@h/x", "https://h/x");
        is_shown("https://u:p@w@h/x", "https://h/x");
        is_shown("https://u:p?w@h/x", "https://…");
        is_shown("https://u:p@w/x@h", "https://h");
        is_shown("https://host/@scope/name", "https://host/@scope/name");
        is_shown("http://host:80/a@b?c=d@e", "http://host:80/a@b");
        is_shown("https://u:p%40h/x", "https://…/x");
        is_shown("https://a@h/?to=https://b:c@d", "https://h/");
        is_shown("https://a/x,https://b:c@d/y", "https://a/x,https://d/y");
        is_shown("https://a/https://b:c@d?e", "https://a/https://d");
        is_shown("redis://:pw@h:6379/0", "redis://h:6379/0");
        is_shown("mongodb://u:p@a:1,b:2/db?x=y", "mongodb://a:1,b:2/db");
        is_shown("mongodb://a:1,b:2/db", "mongodb://a:1,b:2/db");
        is_shown("http://[::1]:80/x?a", "http://[::1]:80/x");
        is_shown("http://[::1]", "http://[::1]");
        is_shown("//u:p@h/x?k=v", "h/x");
        is_shown("https:\\\\u:p@h\\x", "h\\x");
        is_shown("url=https://u:p@h/x;", "url=https://h/x;");
        is_shown("http:///u:p@h/x", "http:///h/x");
        is_shown("http:////\\u:p@h/x?k", "http:////\\h/x");
        is_shown("file:///etc/hosts", "file:///etc/hosts");
    }

    #[test]
    fn however_many_urls_are_cut() {
        for many in ["://-", "a://b:c@d,", "/:", "://"] {
            let line = shown(many.repeat(LOOKED_AT * LIMIT)).to_string();
            assert!(
                line.ends_with("bytes cut)") && !line.contains("b:c"),
                "{line}"
            );
        }
    }

    #[test]
    fn what_follows_a_long_query_is_shown() {
        let query = "k".repeat(4 * LIMIT);
        is_shown(
            &format!("for url (https://h/x?{query}): refused"),
            "for url (https://h/x): refused",
        );
    }

    #[test]
    fn so_does_one_without_a_scheme() {
        is_shown("GET user:pw@host/path?key=secret: no", "GET host/path: no");
        is_shown("token@host/path", "host/path");
        is_shown("/v1/models?key=AIza", "/v1/models");
        is_shown("host/p?AIza", "host/p");
        is_shown("v1?q=hello world&key=secret", "v1 world");
    }

    #[test]
    fn a_url_ends_with_its_quotes() {
        is_shown(
            r#"{"url":"https://u:p@h/x?key=1","status":503}"#,
            r#"{"url":"https://h/x","status":503}"#,
        );
        is_shown(
            "<https://u:p@h/x?k> 'h/x?k' `h/x?k`",
            "<https://h/x> 'h/x' `h/x`",
        );
        is_shown(r#"http://h/x?k="secret""#, r#"http://h/x""#);
        is_shown(r#""http://h/x?k="secret"""#, r#""http://h/x"""#);
        is_shown(r#"https://u:p"w@h/x"#, "https://h/x");
    }

    #[test]
    fn other_texts_stay() {
        for text in [
            "503 overloaded",
            "what? no; C# and a && b",
            "mail to alice@example.com",
            "issue#12 at 12:30, a::b::C { d: 1 }",
            "can't say \"why\"; unknown word `ful`: did you mean `full`?",
            "http://localhost:8080/a/b, then tcp://127.0.0.1:5432: refused",
            "Überlastet … 混雑しています",
        ] {
            is_shown(text, text);
        }
    }

    #[test]
    fn controls_are_escaped() {
        is_shown("a\nb\r\tc\0d", r"a\nb\r\tc\u{0}d");
        is_shown("\x1b[2J\u{9b}2J\u{7f}", r"\u{1b}[2J\u{9b}2J\u{7f}");
        is_shown("\u{202e}\u{2028}\u{2066}", r"\u{202e}\u{2028}\u{2066}");
    }

    #[test]
    fn long_texts_are_cut() {
        let cut = shown("é".repeat(1 << 19)).to_string();
        let kept = "é".repeat((LIMIT - NOTE) / 2);
        assert_eq!(
            cut,
            format!("{kept}… ({} bytes cut)", (1 << 20) - kept.len())
        );
        is_shown(&"x".repeat(LIMIT), &"x".repeat(LIMIT));
        is_shown(&cut, &cut);
        let escaped = shown("\0".repeat(LIMIT)).to_string();
        assert!(escaped.len() <= LIMIT && escaped.ends_with("bytes cut)"));
        is_shown(&escaped, &escaped);
    }

    #[test]
    fn a_cut_leaves_no_part_of_a_password() {
        for url in ["https://user:password@host/path", "user:password@host/path"] {
            for end in [LIMIT, LOOKED_AT * LIMIT] {
                for before in end - url.len()..=end {
                    // Of a query nothing is shown, so that the line still has room where the text is cut.
                    let query = "x".repeat(before.saturating_sub(LIMIT + 1));
                    let text = "x".repeat(before - 1 - query.len());
                    let text = match query.as_str() {
                        "" => text,
                        query => format!("{} h://h?{query}", &text[8..]),
                    };
                    let text = format!("{text} {url} {}", "y ".repeat(99));
                    let text = shown(text).to_string();
                    assert!(!text.contains("pass") && !text.contains("user:"), "{text}");
                    assert!(text.len() <= LIMIT, "{text}");
                }
            }
        }
    }

    proptest! {
        /// Whatever is shown is one bounded line, which is not cut again.
        #[test]
        fn any_text_can_be_shown(text in r#"([a-c:/@?&#="'<. \n\x1b…é]|://|\PC){0,100}"#, times in 1..20_usize) {
            let once = shown(text.repeat(times)).to_string();
            prop_assert!(once.len() <= LIMIT && !once.contains(char::is_control), "{once:?}");
            let again = shown(&once).to_string();
            prop_assert!(once.contains(" bytes cut)") || !again.contains(" bytes cut)"), "{again:?}");
        }

        #[test]
        fn what_parses_as_a_url_has_no_secrets(
            user in "SECRET[a-z0-9:._%-]{0,5}",
            slashes in "[/\\\\]{0,3}",
            host in "[a-z]{1,5}(:[0-9]{1,4})?",
            path in "(/[a-z@]{0,3}){0,3}",
            query in "([?#][a-z=&?#/@:]{0,4}SECRET)?",
            around in 0..4_usize,
        ) {
            let (before, after) = [("", ""), ("(", ")"), ("\"", "\","), ("url=", ";")][around];
            let text = format!("x {before}https://{slashes}{user}@{host}{path}{query}{after} y");
            let shown = shown(text).to_string();
            prop_assert!(!shown.contains("SECRET"), "{shown}");
        }
    }

    #[test]
    fn a_display_that_fails_is_shown_as_far_as_it_came() {
        struct Broken;

        impl fmt::Display for Broken {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("half")?;
                Err(fmt::Error)
            }
        }

        assert_eq!(shown(Broken).to_string(), "half");
    }
}
