//! What a failure leaves behind for a call that ends before its next attempt.

use proc_macro2::Span;

use crate::expand::model::Late;
use crate::expand::printer::Printer;
use crate::tokens::{Code, ours, ours_at};

impl Printer<'_> {
    /// Declares what a failure leaves behind for a call that ends before its next attempt.
    pub(crate) fn failed_declaration(&self) -> Code {
        ours! {
            #?(self.keeps_error()) { let mut retry_failed = __retry::None; }
            #?(self.model.keeps_values()) { let mut retry_returned = __retry::None; }
        }
    }

    /// Drops that as the next attempt begins.
    pub(crate) fn failed_drop(&self) -> Code {
        ours! {
            #?(self.keeps_error()) { __retry::drop(retry_failed); }
            #?(self.model.keeps_values()) { __retry::drop(retry_returned); }
        }
    }

    fn keeps_error(&self) -> bool {
        self.model.late(self.asyncness) == Some(Late::FromLocal)
    }

    /// Keeps the error to end with.
    pub(crate) fn failed_with_error(&self) -> Code {
        ours! {
            #?(self.keeps_error()) { retry_failed = __retry::Some(retry_error); }
            #?(self.model.keeps_values()) { retry_returned = __retry::None; }
        }
    }

    /// Keeps a value that was rejected, since there is no error to end with.
    pub(crate) fn failed_without_error(&self) -> Code {
        ours! {
            #?(self.keeps_error()) { retry_failed = __retry::None; }
            #?(self.model.keeps_values()) { retry_returned = __retry::Some(retry_outcome); }
        }
    }

    /// The error that the last attempt left, of type `Option<_>`. What the compiler says of its type points there.
    pub(crate) fn last_error(&self, span: Span) -> Option<Code> {
        Some(match self.model.late(self.asyncness)? {
            Late::FromHistory => {
                ours_at!(span=> __retry::Attempt::take_last_failure(&mut retry_history))
            }
            Late::FromLocal => ours_at!(span=> retry_failed),
        })
    }
}
