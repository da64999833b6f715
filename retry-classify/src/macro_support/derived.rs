//! Traits for the fields of errors that derive `Classify`, and the verdict on an error from `validate`.

use core::time::Duration;

use super::else_by;
use crate::{Classify, Verdict};

/// The field types that `transparent` accepts.
#[diagnostic::on_unimplemented(
    message = "`transparent` needs a field that implements `Classify`, but `{Self}` doesn't",
    label = "not `Classify`",
    note = "give the variant its own verdict, as in `#[classify(stop)]`, or put `#[derive(retry_runtime::Classify)]` on `{Self}`"
)]
pub trait ClassifyField {
    fn classify_field(&self) -> Verdict;
}

#[diagnostic::do_not_recommend]
impl<E: Classify> ClassifyField for E {
    fn classify_field(&self) -> Verdict {
        self.classify()
    }
}

/// The field types that `after = field` accepts.
#[diagnostic::on_unimplemented(
    message = "`after` needs a field of type `Duration` or `Option<Duration>`, not `{Self}`",
    label = "not a `Duration`"
)]
pub trait HintField: Copy + Into<Option<Duration>> {}

impl HintField for Duration {}
impl HintField for Option<Duration> {}

pub fn after<H: HintField>(verdict: Verdict, hint: &H) -> Verdict {
    verdict.with_hint((*hint).into())
}

/// The verdict on an error from `validate`: [`Verdict::STOP`] if the error is `Classify` and final, otherwise
/// [`Verdict::INVALID`].
pub fn invalid<E>(error: &E) -> Invalid<'_, E> {
    Invalid(UnknownInvalid(error))
}

pub struct UnknownInvalid<'a, E>(&'a E);

impl<E: Classify> Invalid<'_, E> {
    pub fn __retry_verdict(&self) -> Verdict {
        if self.0.0.is_final() {
            Verdict::STOP
        } else {
            Verdict::INVALID
        }
    }
}

impl<E> UnknownInvalid<'_, E> {
    #[expect(clippy::unused_self, reason = "the receiver selects the method")]
    pub fn __retry_verdict(&self) -> Verdict {
        Verdict::INVALID
    }
}

else_by! {
    Invalid, UnknownInvalid;
}
