use alloc::borrow::ToOwned;
use alloc::string::String;
use alloc::vec::Vec;

use crate::sync::{Mutex, lock};

/// Names that are created for each call must not fill the memory.
const MOST: usize = 1000;

/// The names of calls that a warning has already mentioned.
pub(crate) struct OncePerName(Mutex<Vec<String>>);

impl OncePerName {
    pub(crate) const fn new() -> Self {
        Self(Mutex::new(Vec::new()))
    }

    /// Returns true if the call was not mentioned yet, and remembers it.
    pub(crate) fn is_new(&self, call: &str) -> bool {
        let mut named = lock(&self.0);
        let is_new = named.len() < MOST && !named.iter().any(|name| name == call);
        if is_new {
            named.push(call.to_owned());
        }
        is_new
    }
}
