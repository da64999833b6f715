//! The names of calls.

/// Whether a name begins with these names: `model` is the beginning of `model.complete` and `model::complete`, not of
/// `models`.
pub(crate) fn begins_with(name: &str, beginning: &str) -> bool {
    let of_identifier = |letter: char| letter.is_alphanumeric() || letter == '_';
    name.strip_prefix(beginning)
        .is_some_and(|rest| beginning.is_empty() || !rest.starts_with(of_identifier))
}
