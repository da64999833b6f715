//! The names of calls.

#[cfg(feature = "std")]
use alloc::collections::BTreeMap;

#[cfg(feature = "std")]
use retry_classify::macro_support::plain_name;

#[cfg(feature = "std")]
use crate::sync::{Mutex, lock};

/// Returns true if a name starts with these components: `model.complete` and `model::complete` begin with `model`, but
/// `models` doesn't.
pub(crate) fn begins_with(name: &str, beginning: &str) -> bool {
    let of_identifier = |letter: char| letter.is_alphanumeric() || letter == '_';
    name.strip_prefix(beginning)
        .is_some_and(|rest| beginning.is_empty() || !rest.starts_with(of_identifier))
}

/// Returns the path of a function, given the type name of the function or of a closure in it.
pub(crate) fn function_in(mut name: &'static str) -> &'static str {
    // `trim_end_matches` is not used, because its searcher would add 1,500 instructions to the program.
    let inner = ["::{{closure}}", "::__retry_name", "::__RETRY_SITE"];
    while let Some(around) = inner.iter().find_map(|part| name.strip_suffix(part)) {
        name = around;
    }
    // Plain names are never dropped, because sites borrow their names for as long as the program runs.
    #[cfg(feature = "std")]
    if name.as_bytes().contains(&b'<') || name.as_bytes().contains(&b'{') {
        static PLAIN: Mutex<BTreeMap<&str, &str>> = Mutex::new(BTreeMap::new());
        let mut names = lock(&PLAIN);
        return names.entry(name).or_insert_with(|| plain_name(name).leak());
    }
    name
}
