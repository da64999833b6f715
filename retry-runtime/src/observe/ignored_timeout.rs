//! The warning where a policy has a `timeout` that a call does not honour.

use crate::observe::fields::Fields;
#[cfg(feature = "std")]
use crate::observe::once_per_name::OncePerName;
use crate::observe::report::report_line;

/// Says that nothing ends the attempts of that call: once for each name or, without `std`, at every call.
#[cold]
#[inline(never)]
pub fn tell(call: &str) {
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
    static WARNED: OncePerName = OncePerName::new();

    WARNED.is_new(call)
}

/// Without `std` no lock guards a list of names, and it is better said again than never.
#[cfg(not(feature = "std"))]
fn is_new(_: &str) -> bool {
    true
}
