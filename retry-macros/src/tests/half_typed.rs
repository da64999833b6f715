//! An unfinished line in a body appears unchanged in the expansion, each token once and with its location. So
//! completion works while the user types, and the compiler's errors point at the line.

use proc_macro2::{LineColumn, TokenStream, TokenTree};

const ON: &str = "on = |_| true";

/// Tokens that a line may contain before it is finished.
const HALVES: [&str; 12] = [
    "client.",
    "client.;",
    "client.get().",
    "client.get().await.",
    "client.get(,);",
    "Client::",
    "let answer =",
    "let answer = client.",
    "if client.get()",
    "match client.",
    "for answer in client.",
    "return",
];

/// Code in which the unfinished line replaces `HALF`. It is always the third line.
const FORMS: [&str; 6] = [
    "async fn call(client: &Client) -> Result<u32, String> {
        let first = 1;
        HALF
        Ok(first)
    }",
    "fn call(client: &Client) -> Result<u32, String> {
        let first = 1;
        HALF
        Ok(first)
    }",
    "fn call(client: &Client) -> impl Future<Output = Result<u32, String>> { async move {
        let first = 1;
        HALF
        Ok(first)
    } }",
    "fn call(client: &Client) -> Pin<Box<dyn Future<Output = Result<u32, String>> + '_>> { Box::pin(async move {
        let first = 1;
        HALF
        Ok(first)
    }) }",
    "impl Client { async fn call(&self) -> Result<u32, String> {
        let client = self;
        HALF
        Ok(first)
    } }",
    "on = |_| true, async {
        let client = self;
        HALF
        Ok(first)
    }",
];

/// Collects each token, except the delimiters of groups, and its location.
fn leaves(tokens: TokenStream, found: &mut Vec<(String, LineColumn)>) {
    for token in tokens {
        match token {
            TokenTree::Group(group) => leaves(group.stream(), found),
            token => found.push((token.to_string(), token.span().start())),
        }
    }
}

#[test]
fn a_half_typed_line_stays_as_it_is() {
    for form in FORMS {
        for half in HALVES {
            let source = form.replace("HALF", half);
            let Ok(tokens) = source.parse::<TokenStream>() else {
                panic!("{source}");
            };
            let expanded = if form.starts_with("on") {
                crate::retry_expression(tokens.clone())
            } else {
                crate::retry_item(ON.parse().unwrap(), tokens.clone())
            };
            let [typed, kept] = [tokens, expanded].map(|tokens| {
                let mut found = Vec::new();
                leaves(tokens, &mut found);
                found
            });
            assert!(
                kept.iter().all(|(token, _)| token != "compile_error"),
                "{source}"
            );
            let [typed, kept] = [typed, kept].map(|mut tokens| {
                tokens.retain(|(_, place)| place.line == 3);
                tokens
            });
            assert!(!typed.is_empty(), "{source}");
            assert_eq!(kept, typed, "{source}");
        }
    }
}
