//! Traits that keys require of error types, and of the type that the function of `on` returns.

use crate::{Cancelled, Rejected, TimedOut, Verdict};

/// Defines traits for error types that implement `From<TimedOut>`, `From<Rejected>` or `From<Cancelled>`.
macro_rules! conversions {
    ($($trait:ident::$convert:ident of $from:ident: $message:literal $label:literal $note:literal)*) => {$(
        #[doc = concat!(
            "An error type that [`", stringify!($from), "`] converts to. Implemented through `From`, never by hand.",
        )]
        #[diagnostic::on_unimplemented(message = $message, label = $label, note = $note)]
        pub trait $trait {
            /// Converts the error.
            fn $convert(ended: $from) -> Self;
        }

        #[diagnostic::do_not_recommend]
        impl<E: From<$from>> $trait for E {
            fn $convert(ended: $from) -> Self {
                ended.into()
            }
        }
    )*};
}
conversions! {
    FromTimedOut::from_timed_out of TimedOut:
        "`timeout` and `total_timeout` need an error type that implements `From<TimedOut>`, but `{Self}` doesn't"
        "this error type has no `From<TimedOut>`"
        "write `impl From<retry_runtime::TimedOut> for {Self}` (a bound if `{Self}` is a type parameter), or remove the key"
    FromRejected::from_rejected of Rejected:
        "`breaker` and `limiter` need an error type that implements `From<Rejected>`, but `{Self}` doesn't"
        "this error type has no `From<Rejected>`"
        "write `impl From<retry_runtime::Rejected> for {Self}` (a bound if `{Self}` is a type parameter), or remove the key"
    FromCancelled::from_cancelled of Cancelled:
        "`abort` needs an error type that implements `From<Cancelled>`, but `{Self}` doesn't"
        "this error type has no `From<Cancelled>`"
        "write `impl From<retry_runtime::Cancelled> for {Self}` (a bound if `{Self}` is a type parameter), or use `cancel`, which only ends pauses"
}

/// A type that the function of `on` may return. Implemented through `Into<Verdict>`, never by hand.
#[diagnostic::on_unimplemented(
    message = "the function of `on` returns `{Self}`, which is not a verdict",
    label = "returns `{Self}`",
    note = "return `bool`, `Option<Duration>` (`Some` retries after that time), `Kind` or `Verdict`"
)]
pub trait IntoVerdict {
    /// Converts the value.
    fn into_verdict(self) -> Verdict;
}

#[diagnostic::do_not_recommend]
impl<V: Into<Verdict>> IntoVerdict for V {
    fn into_verdict(self) -> Verdict {
        self.into()
    }
}

/// Traits that keys require of the type that the function of `on` returns.
pub mod required {
    #![allow(
        missing_docs,
        non_camel_case_types,
        reason = "internal, and named after the keys"
    )]

    use core::time::Duration;

    use crate::{Kind, Verdict};

    /// Defines a trait for each key, implemented by the return types of `on` that contain enough information for the
    /// key. Generated code calls the trait's method on the returned value, not a function with a bound, so that the
    /// compiler's message doesn't mention a bound.
    macro_rules! requirements {
        ($($key:ident by $($answer:ty),+: $message:literal $note:literal)*) => {$(
            #[diagnostic::on_unimplemented(
                message = $message,
                label = "`on` returns `{Self}`",
                note = $note
            )]
            pub trait $key: Sized {
                fn checked(self) -> Self {
                    self
                }
            }

            $(
                #[diagnostic::do_not_recommend]
                impl $key for $answer {}
            )+
        )*};
    }

    requirements! {
        idempotent by Verdict:
            "`on` returns `{Self}`, which doesn't show whether a request may have taken effect: return a `Verdict`, or remove `idempotent`"
            "`Verdict::THROTTLED` and `Verdict::TRANSIENT` mean no effect; `Verdict::TIMEOUT` and `Verdict::TRANSIENT.ambiguous()` mean a possible one"
        throttled by Verdict, Kind:
            "`on` returns `{Self}`, which doesn't show which failures were throttled: return a `Verdict`, or remove `throttled`"
            "`throttled(…)` applies to `Verdict::THROTTLED`"
        timed_out by Verdict, Kind:
            "`on` returns `{Self}`, which doesn't show which failures were timeouts: return a `Verdict`, or remove `timed_out`"
            "`timed_out(…)` applies to `Verdict::TIMEOUT`, and to attempts that the key `timeout` ends"
        invalid by Verdict, Kind:
            "`on` returns `{Self}`, which doesn't show which values are invalid: return a `Verdict`, or remove `invalid`"
            "`invalid(…)` applies to `Verdict::INVALID`, and to values that the key `validate` rejects"
        hint by Verdict, Option<Duration>:
            "`on` returns `{Self}`, which can't contain a server's hint: return a `Verdict`, or remove `hint`"
            "to return a hint, write `Verdict::THROTTLED.after(hint)`"
        max_hint by Verdict, Option<Duration>:
            "`on` returns `{Self}`, which can't contain a server's hint: return a `Verdict`, or remove `max_hint`"
            "to return a hint, write `Verdict::THROTTLED.after(hint)`"
    }
}
