//! What follows a pause that took too long or was cut short, and what a failure leaves behind for that.

use crate::expand::model::Late;
use crate::expand::printer::Printer;
use crate::tokens::{Code, ours};

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

    /// Why the call ends after its pause, of type `Option<Reason>`.
    pub(crate) fn late(&self) -> Option<Code> {
        either(self.cut(), self.after_deadline())
    }

    fn after_deadline(&self) -> Option<Code> {
        self.model.deadline.as_ref()?;
        Some(ours!(__retry::late(retry_deadline, retry_pause, #(self.now_after_failure()))))
    }

    /// The error that the last attempt left, of type `Option<_>`.
    pub(crate) fn last_error(&self) -> Option<Code> {
        Some(match self.model.late(self.asyncness)? {
            Late::FromHistory => ours!(__retry::Attempt::take_last_failure(&mut retry_history)),
            Late::FromLocal => ours!(retry_failed),
        })
    }

    /// Ends the call after the pause before an attempt, where it was cancelled, or its deadline has passed.
    pub(crate) fn late_attempt(&self) -> Option<Code> {
        self.ended_for(&self.late()?)
    }

    /// Ends the call before its pause, if that would outlast the deadline.
    pub(crate) fn late_pause(&self) -> Option<Code> {
        self.model.deadline.as_ref()?;
        let now = self.now_after_failure();
        self.ended_for(&ours!(__retry::outlasts(retry_deadline, retry_pause, #now)))
    }

    /// Ends the call between two attempts if `reason`, of type `Option<Reason>`, is there.
    fn ended_for(&self, reason: &Code) -> Option<Code> {
        let error = self.last_error()?;
        let unpaid = self.unpaid();
        let unpaid = unpaid.as_ref();
        Some(ours! {
            if let __retry::Some(retry_why) = #reason {
                if let __retry::Some(retry_error) = #error {
                    #(self.ends_with_error(unpaid, &self.shown(), &ours!(retry_why)))
                }
                #(self.ends_with_value(unpaid))
            }
        })
    }

    /// Ends the call after the pause before a correction, whose error is at hand, where it was cancelled or its deadline has
    /// passed.
    pub(crate) fn late_correction(&self, ended: &Code) -> Option<Code> {
        let late = self.late()?;
        let reported = self.reported(&self.shown(), &ours!(Corrected), &ours!(retry_why));
        Some(ours! {
            if let __retry::Some(retry_why) = #late {
                #(self.unpaid())
                #reported
                #ended
                break;
            }
        })
    }

    /// Gives back what was paid for the attempt or correction after the pause, before anything else of the user's runs.
    pub(crate) fn unpaid(&self) -> Option<Code> {
        let is_paid = self.model.is_paid();
        is_paid.then(|| ours!(__retry::drop(retry_paid);))
    }
}

/// The first reason there is, of type `Option<Reason>`.
fn either(first: Option<Code>, second: Option<Code>) -> Option<Code> {
    match (first, second) {
        (Some(first), Some(second)) => Some(ours! {
            match #first {
                __retry::None => #second,
                retry_why => retry_why,
            }
        }),
        (first, second) => first.or(second),
    }
}
