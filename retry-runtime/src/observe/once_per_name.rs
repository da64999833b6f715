use alloc::borrow::ToOwned;
use alloc::string::String;
use alloc::vec::Vec;

use crate::sync::{Mutex, lock};

/// A name that is made anew for each call must not fill the memory.
const MOST: usize = 1000;

/// The calls that a warning named already.
pub(crate) struct OncePerName(Mutex<Vec<String>>);

impl OncePerName {
    pub(crate) const fn new() -> Self {
        Self(Mutex::new(Vec::new()))
    }

    /// Whether the call was not named yet. From now on it was.
    pub(crate) fn is_new(&self, call: &str) -> bool {
        let mut named = lock(&self.0);
        let is_new = named.len() < MOST && !named.iter().any(|name| name == call);
        if is_new {
            named.push(call.to_owned());
        }
        is_new
    }
}
