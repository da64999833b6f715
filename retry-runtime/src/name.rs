//! The names of calls.

/// Returns true if a name starts with these names: `model` is the start of `model.complete` and `model::complete`, not of
/// `models`.
pub(crate) fn begins_with(name: &str, beginning: &str) -> bool {
    let of_identifier = |letter: char| letter.is_alphanumeric() || letter == '_';
    name.strip_prefix(beginning)
        .is_some_and(|rest| beginning.is_empty() || !rest.starts_with(of_identifier))
}
