//! Functions called from derived code and from this project's other crates. Not public API: they change without notice.
//! Hidden methods of public types that only those crates call are in `macro_support/verdict.rs`.

mod derived;
mod requirements;
mod same;
mod show;
mod verdict;

// For the derive.
pub use self::derived::{ClassifyField, HintField, after, invalid};
pub use self::show::{plain_name, show, show_by, show_named};
// For generated code of the runtime's macros.
pub use self::requirements::{FromCancelled, FromRejected, FromTimedOut, IntoVerdict, required};
pub use self::same::same;
// For the runtime's own method calls that select a candidate in the same way as `show`.
pub use crate::__else_by as else_by;
// For database clients.
pub use crate::clients::databases::{by_sqlstate, is_conflict, redis_refused};
// For code that displays untrusted text: events, logs, metrics, reports.
pub use crate::error_text::shown::{escaped, shown, shown_within};
pub use crate::timed_out::rounded;
// For protections, and for warnings in the log.
pub use crate::verdict::Basis;

/// Declares types that each contain the next type and dereference to it, so that method lookup tries the next type's
/// methods if a type's own don't apply.
#[doc(hidden)]
#[macro_export]
macro_rules! __else_by {
    ($($first:ident, $next:ident;)*) => {$(
        pub struct $first<'a, E>($next<'a, E>);

        impl<'a, E> core::ops::Deref for $first<'a, E> {
            type Target = $next<'a, E>;

            fn deref(&self) -> &Self::Target {
                &self.0
            }
        }
    )*};
}
