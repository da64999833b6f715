//! Invisible groups, in which `macro_rules!` passes tokens on, and types in parentheses are parsed like their content.

use proc_macro2::{Delimiter, Group, TokenStream, TokenTree};

/// Replaces each `held!(…)` with its content, in a group with this delimiter or, for `None`, without one.
fn hold(tokens: TokenStream, within: Option<Delimiter>) -> TokenStream {
    let mut held: Vec<TokenTree> = Vec::new();
    for token in tokens {
        let TokenTree::Group(group) = token else {
            held.push(token);
            continue;
        };
        let inner = hold(group.stream(), within);
        let is_marked = matches!(
            held.as_slice(),
            [.., TokenTree::Ident(name), TokenTree::Punct(_)] if name == "held"
        );
        if !is_marked {
            held.push(Group::new(group.delimiter(), inner).into());
            continue;
        }
        held.truncate(held.len() - 2);
        match within {
            Some(delimiter) => held.push(Group::new(delimiter, inner).into()),
            None => held.extend(inner),
        }
    }
    held.into_iter().collect()
}

/// The output of the attribute for the item, without parentheses.
fn expanded(arguments: &str, item: &str, within: Option<Delimiter>) -> String {
    let arguments = arguments.parse().expect("tokens");
    let item = hold(item.parse().expect("tokens"), within);
    let expanded = crate::retry_item(arguments, item).to_string();
    let is_kept = |char: &char| !char.is_whitespace() && !['(', ')'].contains(char);
    expanded.chars().filter(is_kept).collect()
}

#[test]
fn a_grouped_type_is_read_like_its_contents() {
    for (arguments, item) in [
        (
            "",
            "fn f() -> held!(Result<held!(u8), held!(Error)>) { body }",
        ),
        (
            "",
            "fn f() -> held!(impl Future<Output = held!(Result<u8, Error>)>) { body }",
        ),
        (
            "",
            "fn f<'a>() -> held!(Pin<held!(Box<held!(dyn Future<Output = Result<u8, Error>> + 'a)>)>) { body }",
        ),
        (
            "until = |_| true",
            "async fn f() -> held!(Result<held!([held!(impl Display)]), held!(&held!(impl Error))>) { body }",
        ),
        (
            "until = |_| true",
            "async fn f() -> Result<(held!(*const held!(_)), held!([_; 2])), Error> { body }",
        ),
        (
            "stream = \"first\"",
            "fn f() -> held!(impl Stream<Item = Result<u8, Error>>) { body }",
        ),
        (
            "stream = \"first\"",
            "fn f<'a>() -> held!(Pin<held!(Box<held!(dyn Stream<Item = Result<u8, Error>> + 'a)>)>) { body }",
        ),
        (
            "stream = \"first\"",
            "async fn f<'a>() -> held!(Result<held!(Pin<Box<held!(dyn Stream<Item = Result<u8, Error>> + 'a)>>), Error>) { body }",
        ),
        (
            "",
            "fn f(&mut self, a: held!(&mut u8)) -> Result<held!((held!(&mut u8), u8)), Error> { body }",
        ),
        (
            "",
            "fn f<'a>(a: &'a mut u8) -> Result<held!(&'a held!(&'a mut u8)), Error> { body }",
        ),
        // Rejected: there is no result, or the macro can't see it.
        ("", "fn f() -> held!(Option<u8>) { body }"),
        ("", "fn f() -> held!(RedisFuture<u8>) { body }"),
        ("", "fn f() -> held!(Box<held!(dyn Future)>) { body }"),
        ("", "fn f() -> held!(impl Display) { body }"),
    ] {
        let plain = expanded(arguments, item, None);
        for within in [Delimiter::Parenthesis, Delimiter::None] {
            let grouped = expanded(arguments, item, Some(within));
            assert_eq!(grouped, plain, "{within:?}: {item}");
        }
    }
}

#[test]
fn a_grouped_member_is_read_like_its_contents() {
    let methods = "held!(pub fn a() -> Result<u8, Error> { body }) \
        held!(const B: u8 = { 1 };) \
        held!(held!(#[retry(skip)] pub async fn c() -> Result<u8, Error> { body })) \
        #[inline] held!(#[retry(max = 1)] held!(pub) fn d() -> Result<u8, Error> { body })";
    let declared = "held!(async fn a(&self) -> Result<u8, Error>;) \
        held!(type B;) \
        held!(#[retry(skip)] async fn c(&self) -> Result<u8, Error>;) \
        #[must_use] held!(#[retry(max = 1)] fn d(&self) -> Result<u8, Error>;)";
    for (arguments, item) in [
        (
            "",
            format!("impl Client {{ fn first() -> Result<u8, Error> {{ body }} {methods} }}"),
        ),
        ("", format!("held!(impl Client {{ {methods} }})")),
        (
            "wrapper = Retrying",
            format!("trait Model {{ {declared} }}"),
        ),
        (
            "wrapper = Retrying",
            format!("held!(trait Model {{ {declared} }})"),
        ),
    ] {
        let plain = expanded(arguments, &item, None);
        let grouped = expanded(arguments, &item, Some(Delimiter::None));
        assert_eq!(grouped, plain, "{item}");
        assert!(!plain.contains("compile_error"), "{plain}");
    }
}
