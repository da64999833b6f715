//! The warning where a policy has a `timeout` that a call does not honour.

use crate::observe::fields::Fields;
use crate::observe::report::report_line;

/// Says that nothing ends the attempts of that call: once for each name or, without `std`, at every call.
#[cold]
#[inline(never)]
pub(crate) fn tell(call: &str) {
    if is_new(call) {
        let fields = Fields {
            reason: Some("the call names no `timeout`, or can't have one"),
            ..Fields::new("ignoring the policy's timeout", &call, None)
        };
        report_line!(WARN, call, fields);
    }
}

#[cfg(feature = "std")]
fn is_new(call: &str) -> bool {
    use alloc::borrow::ToOwned;
    use alloc::string::String;
    use alloc::vec::Vec;
    use std::sync::Mutex;

    use crate::sync::lock;

    /// The names that were told of. A name that is made anew for each call must not fill the memory.
    static TOLD: Mutex<Vec<String>> = Mutex::new(Vec::new());
    const MOST: usize = 1000;

    let mut told = lock(&TOLD);
    let is_new = told.len() < MOST && !told.iter().any(|name| name == call);
    if is_new {
        told.push(call.to_owned());
    }
    is_new
}

/// There is no lock to remember names behind, and it is better said again than never.
#[cfg(not(feature = "std"))]
fn is_new(_: &str) -> bool {
    true
}
