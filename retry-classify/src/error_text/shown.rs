//! Prepares untrusted text for output: errors, servers' messages, names. All such text passes through [`shown`].

use alloc::string::String;
use core::fmt;
use core::fmt::Write;

use crate::error_text::{ELLIPSIS, secrets, text_of, urls};

/// The maximum length of the output, in bytes.
const LIMIT: usize = 1024;

/// The maximum length of the input, as a multiple of the output limit. A URL's query, which is omitted, may be long.
const MAX_READ_FACTOR: usize = 16;

/// The space reserved for the note about cut bytes, in bytes.
const NOTE_SPACE: usize = 40;

/// The text without possible secrets, on one line, and short enough for a log record.
///
/// A text that was already cut is not cut again when another error includes it.
pub fn shown<D: fmt::Display>(text: D) -> LogText<D> {
    shown_within(text, LIMIT)
}

/// Like [`shown`], but in at most `limit` bytes.
pub fn shown_within<D: fmt::Display>(text: D, limit: usize) -> LogText<D> {
    LogText { text, limit }
}

/// Writes the whole text, escaped but neither redacted nor shortened. For this project's own messages, which contain
/// names that users chose.
pub fn escaped(text: &str, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    text.chars().try_for_each(|char| {
        if is_escaped(char) {
            return write!(f, "{}", char.escape_default());
        }
        f.write_char(char)
    })
}

pub struct LogText<D> {
    text: D,
    limit: usize,
}

impl<D: fmt::Display> fmt::Display for LogText<D> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (line, cut) = redact(&self.text, self.limit);
        f.write_str(&line)?;
        match cut {
            0 => Ok(()),
            cut => write!(f, "{ELLIPSIS} ({cut} bytes cut)"),
        }
    }
}

/// The start of a text that was already cut. Its full length is unknown.
#[cfg(feature = "http")]
pub(crate) fn shown_start(text: &dyn fmt::Display, limit: usize) -> String {
    let (mut line, cut) = redact(text, limit);
    if cut > 0 {
        line.push_str(ELLIPSIS);
    }
    line
}

/// The text, and the number of bytes cut from it.
fn redact(text: &dyn fmt::Display, limit: usize) -> (String, usize) {
    let whole = text_of(text);
    let mut end = whole.len().min(MAX_READ_FACTOR * limit);
    while !whole.is_char_boundary(end) {
        end -= 1;
    }
    let (start, beyond) = whole.split_at(end);
    if secrets::are_shown() {
        return single_line(start, beyond.len(), limit);
    }
    // If the word at the cut continues with an `@`, the part before the cut may be a password.
    let rest = beyond.split(char::is_whitespace).next();
    let is_in_word = !start.ends_with(char::is_whitespace);
    let user_follows = is_in_word && rest.is_some_and(|rest| rest.contains('@'));
    let text = urls::hide(start, user_follows);
    single_line(&secrets::hide(&text).unwrap_or(text), beyond.len(), limit)
}

/// The text on one line, and the number of bytes cut, including `beyond`.
fn single_line(text: &str, beyond: usize, limit: usize) -> (String, usize) {
    let mut line = String::new();
    // The end of the line if it has to be cut, and the matching position in the text.
    let mut cut = (0, 0);
    let ends = text.char_indices().map(|(place, char)| (place, Some(char)));
    for (place, char) in ends.chain([(text.len(), None)]) {
        if line.len() <= limit - NOTE_SPACE {
            cut = (line.len(), place);
        }
        match char {
            _ if line.len() > limit => break,
            Some(char) if is_escaped(char) => line.extend(char.escape_default()),
            Some(char) => line.push(char),
            None if beyond == 0 => return (line, 0),
            None => {}
        }
    }
    let (end, place) = cut;
    line.truncate(end);
    (line, text.len() - place + beyond)
}

/// Returns true if a character starts a new line, moves the cursor, changes the writing direction, or is invisible but
/// read by programs. Joiners and variation selectors are kept, because they are parts of letters and emoji.
fn is_escaped(char: char) -> bool {
    let is_mark = matches!(char, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    let is_invisible = matches!(char, '\u{ad}' | '\u{180e}' | '\u{200b}' | '\u{2060}'..='\u{2065}' | '\u{206a}'..='\u{206f}'
        | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}' | '\u{e0100}'..='\u{e01ef}');
    is_mark || is_invisible || char.is_control()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn assert_shown(text: &str, expected: &str) {
        assert_eq!(shown(text).to_string(), expected, "{text}");
        assert_eq!(shown(expected).to_string(), expected, "again: {text}");
    }

    #[test]
    fn a_url_loses_user_info_query_and_fragment() {
        assert_shown(
            "for url (http://user:pw@host:80/v1/models?key=AIza): refused",
            "for url (http://host:80/v1/models): refused",
        );
        assert_shown("https://h/x#access_token=t.", "https://h/x.");
        assert_shown("https://u:p/w@h/x", "https://h/x");
        assert_shown("https://u:p@w@h/x", "https://h/x");
        assert_shown("https://u:p?w@h/x", "https://…");
        assert_shown("https://u:p@w/x@h", "https://h");
        assert_shown("https://host/@scope/name", "https://host/@scope/name");
        assert_shown("http://host:80/a@b?c=d@e", "http://host:80/a@b");
        assert_shown("https://u:p%40h/x", "https://…/x");
        assert_shown("https://a@h/?to=https://b:c@d", "https://h/");
        assert_shown("GET /cb?code=s&to=https://h/x", "GET /cb");
        assert_shown("/p?s&u=https://b/x", "/p");
        assert_shown(r"https:\\u:p@h\x?k", r"https:\\h\x");
        assert_shown(r"\\u@h\x", r"\\h\x");
        assert_shown("//u@h", "//h");
        assert_shown(r"https:/\token:@h#&/x", r"https:/\h");
        assert_shown("see what?https://u:p@h/x", "see what?https://h/x");
        assert_shown("https://a/x,https://b:c@d/y", "https://a/x,https://d/y");
        assert_shown("https://a/https://b:c@d?e", "https://a/https://d");
        assert_shown("redis://:pw@h:6379/0", "redis://h:6379/0");
        assert_shown("mongodb://u:p@a:1,b:2/db?x=y", "mongodb://a:1,b:2/db");
        assert_shown("mongodb://a:1,b:2/db", "mongodb://a:1,b:2/db");
        assert_shown("http://[::1]:80/x?a", "http://[::1]:80/x");
        assert_shown("http://[::1]", "http://[::1]");
        assert_shown("//u:p@h/x?k=v", "//h/x");
        assert_shown("https:\\\\u:p@h\\x", "https:\\\\h\\x");
        assert_shown("url=https://u:p@h/x;", "url=https://h/x;");
        assert_shown("http:///u:p@h/x", "http:///h/x");
        assert_shown("http:////\\u:p@h/x?k", "http:////\\h/x");
        assert_shown("file:///etc/hosts", "file:///etc/hosts");
    }

    #[test]
    fn texts_with_many_urls_are_cut() {
        for many in ["://-", "a://b:c@d,", "/:", "://"] {
            let line = shown(many.repeat(MAX_READ_FACTOR * LIMIT)).to_string();
            assert!(
                line.ends_with("bytes cut)") && !line.contains("b:c"),
                "{line}"
            );
        }
    }

    #[test]
    fn text_after_a_long_query_is_shown() {
        let query = "k".repeat(4 * LIMIT);
        assert_shown(
            &format!("for url (https://h/x?{query}): refused"),
            "for url (https://h/x): refused",
        );
    }

    #[test]
    fn a_url_without_a_scheme_loses_the_same_parts() {
        assert_shown("GET user:pw@host/path?key=secret: no", "GET host/path: no");
        assert_shown("token@host/path", "host/path");
        assert_shown("/v1/models?key=AIza", "/v1/models");
        assert_shown("host/p?AIza", "host/p");
        assert_shown("v1?q=hello world&key=secret", "v1 world");
    }

    #[test]
    fn a_url_ends_at_its_closing_quote() {
        assert_shown(
            r#"{"url":"https://u:p@h/x?key=1","status":503}"#,
            r#"{"url":"https://h/x","status":503}"#,
        );
        assert_shown(
            "<https://u:p@h/x?k> 'h/x?k' `h/x?k`",
            "<https://h/x> 'h/x' `h/x`",
        );
        assert_shown(r#"http://h/x?k="secret""#, r#"http://h/x""#);
        assert_shown(r#""http://h/x?k="secret"""#, r#""http://h/x"""#);
        assert_shown(r#"https://u:p"w@h/x"#, "https://h/x");
    }

    #[test]
    fn other_texts_are_unchanged() {
        for text in [
            "503 overloaded",
            "what? no; C# and a && b",
            "mail to alice@example.com",
            "issue#12 at 12:30, a::b::C { d: 1 }",
            "can't say \"why\"; unknown word `ful`: did you mean `full`?",
            "http://localhost:8080/a/b, then tcp://127.0.0.1:5432: refused",
            "Überlastet … 混雑しています",
        ] {
            assert_shown(text, text);
        }
    }

    #[test]
    fn control_characters_are_escaped() {
        assert_shown("a\nb\r\tc\0d", r"a\nb\r\tc\u{0}d");
        assert_shown("\x1b[2J\u{9b}2J\u{7f}", r"\u{1b}[2J\u{9b}2J\u{7f}");
        assert_shown("\u{202e}\u{2028}\u{2066}", r"\u{202e}\u{2028}\u{2066}");
    }

    #[test]
    fn long_texts_are_cut() {
        let cut = shown("é".repeat(1 << 19)).to_string();
        let kept = "é".repeat((LIMIT - NOTE_SPACE) / 2);
        assert_eq!(
            cut,
            format!("{kept}… ({} bytes cut)", (1 << 20) - kept.len())
        );
        assert_shown(&"x".repeat(LIMIT), &"x".repeat(LIMIT));
        assert_shown(&cut, &cut);
        let query = "k".repeat(LIMIT);
        let cut = shown(format!("{} https://h/x?{query}", "x".repeat(LIMIT))).to_string();
        let shown_of_url = " https://h/x".len();
        let end = format!("x… ({} bytes cut)", NOTE_SPACE + shown_of_url);
        assert!(cut.ends_with(&end), "{cut}");
        let escaped = shown("\0".repeat(LIMIT)).to_string();
        assert!(escaped.len() <= LIMIT && escaped.ends_with("bytes cut)"));
        assert_shown(&escaped, &escaped);
    }

    #[test]
    fn a_cut_leaves_no_part_of_a_password() {
        for url in ["https://user:password@host/path", "user:password@host/path"] {
            for end in [LIMIT, MAX_READ_FACTOR * LIMIT] {
                for before in end - url.len()..=end {
                    // Queries are not shown, so the line still has room where the text is cut.
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
        /// Any text is shown as one bounded line, which is not cut again.
        #[test]
        fn any_text_can_be_shown(text in r#"([a-c:/@?&#="'<. \n\x1b…é]|://|\PC){0,100}"#, times in 1..20_usize) {
            let once = shown(text.repeat(times)).to_string();
            prop_assert!(once.len() <= LIMIT && !once.contains(char::is_control), "{once:?}");
            let again = shown(&once).to_string();
            prop_assert!(once.contains(" bytes cut)") || !again.contains(" bytes cut)"), "{again:?}");
        }

        #[test]
        fn text_that_parses_as_a_url_has_no_secrets(
            user in "SECRET[a-z0-9:._%-]{0,5}",
            scheme in "https:[/\\\\]{2,5}",
            host in "[a-z]{1,5}(:[0-9]{1,4})?",
            path in "(/[a-z@]{0,3}){0,3}",
            query in "([?#][a-z=&?#/@:]{0,4}SECRET)?",
            around in 0..4_usize,
        ) {
            let (before, after) = [("", ""), ("(", ")"), ("\"", "\","), ("url=", ";")][around];
            let text = format!("x {before}{scheme}{user}@{host}{path}{query}{after} y");
            let shown = shown(text).to_string();
            prop_assert!(!shown.contains("SECRET"), "{shown}");
        }
    }

    #[test]
    fn a_display_that_fails_is_shown_up_to_its_failure() {
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
