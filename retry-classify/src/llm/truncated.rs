use serde_json::Value;

/// Parses JSON. If the text is truncated, parses its complete part.
pub(super) fn parse(text: &str) -> Option<Value> {
    match serde_json::from_str(text) {
        Ok(value) => Some(value),
        Err(error) if error.is_eof() => serde_json::from_str(&complete(text)).ok(),
        Err(_) => None,
    }
}

/// The text up to its last complete value, with all open brackets closed.
fn complete(text: &str) -> String {
    let (mut end, mut open) = (0, Vec::new());
    for (position, byte) in structure(text) {
        end = position + 1;
        match byte {
            b'{' => open.push('}'),
            b'[' => open.push(']'),
            b',' => end = position,
            _ => _ = open.pop(),
        }
    }
    text[..end].chars().chain(open.into_iter().rev()).collect()
}

/// The brackets and commas outside of strings, with their positions.
fn structure(text: &str) -> impl Iterator<Item = (usize, u8)> {
    let mut quoted = false;
    let mut escaped = false;
    text.bytes().enumerate().filter(move |&(_, byte)| {
        if quoted {
            quoted = escaped || byte != b'"';
            escaped = !escaped && byte == b'\\';
            return false;
        }
        quoted = byte == b'"';
        matches!(byte, b'{' | b'}' | b'[' | b']' | b',')
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    #[test]
    fn complete_values_before_the_cut_are_kept() {
        let table = [
            (r#"{"a":1,"b":{"c":[1,2"#, json!({"a":1,"b":{"c":[1]}})),
            (r#"{"a":"x","b":"tex"#, json!({"a":"x"})),
            (r#"{"a":"x\"},","b":"#, json!({"a":"x\"},"})),
            (r#"{"a":"x\\","b":tr"#, json!({"a":"x\\"})),
            (r#"{"a":{"b":1}"#, json!({"a":{"b":1}})),
            (r#"{"a"#, json!({})),
            ("[", json!([])),
        ];
        for (text, expected) in table {
            assert_eq!(parse(text), Some(expected), "{text}");
        }
        for text in ["", "tru", "{]", "text", "{\"a\" 1, "] {
            assert_eq!(parse(text), None, "{text}");
        }
    }

    proptest! {
        #[test]
        fn any_prefix_keeps_its_complete_fields(
            message in ".*",
            rest in "[a-z{}\\[\\],:\"\\\\é]{0,40}",
            cut in any::<prop::sample::Index>(),
        ) {
            let whole = json!({"a": message, "z": {"rest": [rest, {}]}}).to_string();
            let mut end = cut.index(whole.len() + 1);
            while !whole.is_char_boundary(end) {
                end -= 1;
            }
            let after_a = json!({"a": message}).to_string().len();
            match parse(&whole[..end]) {
                Some(value) if end >= after_a => prop_assert_eq!(value["a"].as_str(), Some(&*message)),
                Some(value) => prop_assert_eq!(value, json!({})),
                None => prop_assert_eq!(end, 0),
            }
        }

        #[test]
        fn no_text_panics(text in ".*") {
            parse(&text);
        }
    }
}
