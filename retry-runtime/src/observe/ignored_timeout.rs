//! The warning about a policy's `timeout` that a call doesn't enforce.

use crate::observe::fields::Fields;
#[cfg(feature = "std")]
use crate::observe::once_per_name::OncePerName;
use crate::observe::report::report_line;

/// Warns that the call's attempts have no time limit: once per name or, without `std`, at every call.
#[cold]
#[inline(never)]
pub fn tell(call: &str) {
    #[cfg(feature = "std")]
    {
        static WARNED: OncePerName = OncePerName::new();

        if !WARNED.is_new(call) {
            return;
        }
    }
    let fields = Fields {
        reason: Some("the call names no `timeout`, or can't have one"),
        ..Fields::new("ignoring the policy's timeout", &call, None)
    };
    report_line!(Warn, call, fields);
}
