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
        "`on` returns `{Self}`, which can't say what may have taken effect: return a `Verdict`, or remove `idempotent`"
        "`Verdict::THROTTLED` and `Verdict::TRANSIENT` had no effect; `Verdict::TIMEOUT` and `Verdict::TRANSIENT.ambiguous()` may have had one"
    throttled by Verdict, Kind:
        "`on` returns `{Self}`, which can't say what was throttled: return a `Verdict`, or remove `throttled`"
        "`throttled(…)` is for `Verdict::THROTTLED`"
    timed_out by Verdict, Kind:
        "`on` returns `{Self}`, which can't say what timed out: return a `Verdict`, or remove `timed_out`"
        "`timed_out(…)` is for `Verdict::TIMEOUT`, and for attempts that the key `timeout` ends"
    invalid by Verdict, Kind:
        "`on` returns `{Self}`, which can't say what is invalid: return a `Verdict`, or remove `invalid`"
        "`invalid(…)` is for `Verdict::INVALID`, and for values that the key `validate` rejects"
    hint by Verdict, Option<Duration>:
        "`on` returns `{Self}`, which can't say how long the server asks to wait: return a `Verdict`, or remove `hint`"
        "a hint is given by `Verdict::THROTTLED.after(hint)`"
    max_hint by Verdict, Option<Duration>:
        "`on` returns `{Self}`, which can't say how long the server asks to wait: return a `Verdict`, or remove `max_hint`"
        "a hint is given by `Verdict::THROTTLED.after(hint)`"
}
