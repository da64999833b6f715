//! Lets editors show the documentation of a key.

use proc_macro2::{Ident, Span};

use crate::attribute::argument::Argument;
use crate::expand::model::Model;
use crate::tokens::{Code, code};
use retry_vocabulary::key::Key;

/// Imports a documented constant for each key, with the key's location and without binding a name. An editor that
/// looks up the location finds the documentation.
pub(crate) fn mentions(model: &Model) -> Code {
    let mut keys = Code::new();
    mention(&model.arguments.given, &mut keys);
    let krate = model.arguments.krate();
    code!(#?(!keys.is_empty()) { use #krate::macro_support::keys::{#keys}; })
}

fn mention(given: &[Argument], keys: &mut Code) {
    for argument in given {
        // Has the key's location, and mixed-site hygiene so that lints ignore the import.
        let span = Span::mixed_site().located_at(argument.ident.span());
        // The constant has the key's name, except for a keyword.
        let name = match argument.key {
            Key::Crate => "crate_",
            key => key.name(),
        };
        keys.extend(code!(#(Ident::new(name, span)) as _,));
        mention(argument.value.section(), keys);
    }
}

#[cfg(test)]
mod tests {
    use proc_macro2::{TokenStream, TokenTree};

    /// Collects each identifier and its column, including those in groups.
    fn idents(tokens: TokenStream, found: &mut Vec<(String, usize)>) {
        for token in tokens {
            match token {
                TokenTree::Ident(ident) => {
                    found.push((ident.to_string(), ident.span().start().column));
                }
                TokenTree::Group(group) => idents(group.stream(), found),
                _ => {}
            }
        }
    }

    #[test]
    fn each_key_is_mentioned_at_its_place() {
        let attribute = r#"max = 5, throttled(base = "5s"), crate = other"#;
        let expanded = crate::retry_item(
            attribute.parse().unwrap(),
            "fn call() -> Result<(), Error> { Ok(()) }".parse().unwrap(),
        );
        let mut found = Vec::new();
        idents(expanded, &mut found);
        let keys = found.iter().position(|(name, _)| name == "keys").unwrap();
        let mentions = found[keys + 1..]
            .iter()
            .filter(|(name, _)| name != "as" && name != "_");
        let mentions: Vec<_> = mentions
            .take(4)
            .map(|(name, column)| (&**name, *column))
            .collect();
        let column = |key| attribute.find(key).unwrap();
        assert_eq!(
            mentions,
            [
                ("max", column("max")),
                ("throttled", column("throttled")),
                ("base", column("base")),
                ("crate_", column("crate")),
            ]
        );
    }
}
