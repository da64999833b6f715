//! Error types into which `TimedOut`, `Rejected` and `Cancelled` convert.

use crate::classify::{Cancelled, Rejected, TimedOut};

macro_rules! conversions {
    ($($trait:ident::$convert:ident of $from:ident: $message:literal $label:literal $note:literal)*) => {$(
        #[doc = concat!(
            "An error type that [`", stringify!($from), "`] converts to. Implemented through `From`, never by hand.",
        )]
        #[diagnostic::on_unimplemented(message = $message, label = $label, note = $note)]
        pub trait $trait {
            /// The conversion.
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
        "`timeout` needs an error type that implements `From<TimedOut>`, but `{Self}` doesn't"
        "this error type has no `From<TimedOut>`"
        "write `impl From<retry_runtime::TimedOut> for {Self}`, or remove `timeout`"
    FromRejected::from_rejected of Rejected:
        "`breaker` and `limiter` need an error type that implements `From<Rejected>`, but `{Self}` doesn't"
        "this error type has no `From<Rejected>`"
        "write `impl From<retry_runtime::Rejected> for {Self}`, or remove the key"
    FromCancelled::from_cancelled of Cancelled:
        "`abort` needs an error type that implements `From<Cancelled>`, but `{Self}` doesn't"
        "this error type has no `From<Cancelled>`"
        "write `impl From<retry_runtime::Cancelled> for {Self}`, or use `cancel`, which only ends pauses"
}
