use crate::classify::timed_out::TimedOut;

/// An error type that [`TimedOut`] converts to. Implemented through `From<TimedOut>`, never by hand.
#[diagnostic::on_unimplemented(
    message = "the key `timeout` needs an error type that a timeout converts to, and `{Self}` is not one",
    label = "this error type has no `From<TimedOut>`",
    note = "write `impl From<retry_runtime::TimedOut> for {Self}`, or remove `timeout`"
)]
pub trait FromTimedOut {
    /// The conversion.
    fn from_timed_out(timed_out: TimedOut) -> Self;
}

#[diagnostic::do_not_recommend]
impl<E: From<TimedOut>> FromTimedOut for E {
    fn from_timed_out(timed_out: TimedOut) -> Self {
        timed_out.into()
    }
}
