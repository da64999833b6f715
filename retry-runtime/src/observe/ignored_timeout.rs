//! The warning where a policy has a `timeout` that a call does not honour.

use core::fmt;

use crate::error_text::shown::shown;
use crate::observe::recording;

/// Says that nothing ends the attempts of that call: once for each name or, without `std`, at every call.
#[cold]
#[inline(never)]
pub(crate) fn tell(call: &str) {
    if is_new(call) {
        log(call);
        recording::saw_line(call, &IgnoredTimeout { call });
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

const MESSAGE: &str = "ignoring the policy's timeout";
const REMEDY: &str = "the call names no `timeout`, or can't have one";

struct IgnoredTimeout<'a> {
    call: &'a str,
}

impl fmt::Display for IgnoredTimeout<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{MESSAGE} {} reason={REMEDY}", shown(self.call))
    }
}

/// The fields are those of every record of this crate.
#[cfg(feature = "tracing")]
fn log(call: &str) {
    use tracing::field::Empty;

    tracing::event!(
        target: "retry",
        tracing::Level::WARN,
        call = %shown(call),
        attempt = Empty,
        correction = Empty,
        max = Empty,
        delay = Empty,
        error = Empty,
        reason = REMEDY,
        "{MESSAGE}"
    );
}

#[cfg(not(feature = "tracing"))]
fn log(_: &str) {}
