//! What keys need `on` to say: each is void beside an `on` whose type can't say it.

#![allow(
    missing_docs,
    non_camel_case_types,
    reason = "internal, and named as users write keys"
)]

use core::time::Duration;

use crate::classify::{Kind, Verdict};

/// A trait for each key, of the types that say enough for it. Its method gives back what `on` returned: no bound of a
/// function is then in the message.
macro_rules! says {
    ($($key:ident by $($answer:ty),+: $message:literal $note:literal)*) => {$(
        #[diagnostic::on_unimplemented(
            message = $message,
            label = "`on` returns `{Self}`",
            note = $note
        )]
        pub trait $key: Sized {
            fn said(self) -> Self {
                self
            }
        }

        $(
            #[diagnostic::do_not_recommend]
            impl $key for $answer {}
        )+
    )*};
}

says! {
    idempotent by Verdict:
        "`on` returns `{Self}`, which can't tell whether a request may have taken effect: return a `Verdict`, or remove `idempotent`"
        "`Verdict::THROTTLED` and `Verdict::TRANSIENT` mean no effect; `Verdict::TIMEOUT` and `Verdict::TRANSIENT.ambiguous()` mean a possible one"
    throttled by Verdict, Kind:
        "`on` returns `{Self}`, which can't tell which failures were throttled: return a `Verdict`, or remove `throttled`"
        "`throttled(…)` applies to `Verdict::THROTTLED`"
    timed_out by Verdict, Kind:
        "`on` returns `{Self}`, which can't tell which failures were timeouts: return a `Verdict`, or remove `timed_out`"
        "`timed_out(…)` applies to `Verdict::TIMEOUT`, and to attempts that the key `timeout` ends"
    invalid by Verdict, Kind:
        "`on` returns `{Self}`, which can't tell which values are invalid: return a `Verdict`, or remove `invalid`"
        "`invalid(…)` applies to `Verdict::INVALID`, and to values that the key `validate` rejects"
    hint by Verdict, Option<Duration>:
        "`on` returns `{Self}`, which can't contain a server's hint: return a `Verdict`, or remove `hint`"
        "to return a hint, write `Verdict::THROTTLED.after(hint)`"
    max_hint by Verdict, Option<Duration>:
        "`on` returns `{Self}`, which can't contain a server's hint: return a `Verdict`, or remove `max_hint`"
        "to return a hint, write `Verdict::THROTTLED.after(hint)`"
}
