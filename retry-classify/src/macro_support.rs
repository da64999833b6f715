//! Items for expansions of the derive, and for the other crates of this project. Not public: they change without notice.
//! Methods of public types that only those crates call are in `verdict.rs` here, each hidden.

mod derived;
mod show;
mod verdict;

// For the derive.
pub use self::derived::{ClassifyField, HintField, after, complaint};
pub use self::show::{Unshown, show};
// For the candidates of the runtime's own method calls, which are found as those of `show` are.
pub use crate::__else_by as else_by;
// For clients of databases.
pub use crate::clients::databases::{by_sqlstate, is_conflict, redis_refused};
// For whatever shows a text of others: events, logs, metrics, reports.
pub use crate::error_text::shown::{escaped, shown, shown_within};
// For what protections are told of a verdict, and for warnings in the log.
pub use crate::verdict::{Basis, LostBy};

/// Makes each type dereference to the next, whose methods are then the candidates after its own.
#[doc(hidden)]
#[macro_export]
macro_rules! __else_by {
    ($($first:ident, $next:ident;)*) => {$(
        impl<'a, E> core::ops::Deref for $first<'a, E> {
            type Target = $next<'a, E>;

            fn deref(&self) -> &Self::Target {
                &self.0
            }
        }
    )*};
}
