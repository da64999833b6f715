//! Verdicts from the keys `on` and `until`, from `Classify` and from its derive.

use core::time::Duration;

use crate::classify::Classify;
use crate::classify::into_verdict::IntoVerdict;
use crate::classify::verdict::Verdict;

/// What `on` returns, for keys that ask more of it: see [`says`](crate::macro_support::says).
pub fn answer<E, V: IntoVerdict>(error: &E, on: impl FnOnce(&E) -> V) -> V {
    on(error)
}

pub fn classify<E: Classify>(error: &E) -> Verdict {
    error.classify()
}

/// What `transparent` takes.
#[diagnostic::on_unimplemented(
    message = "`transparent` needs a field that is `Classify`, and `{Self}` is not",
    label = "not `Classify`",
    note = "give the variant a verdict of its own, as in `#[classify(stop)]`, or put `#[derive(retry_runtime::Classify)]` on `{Self}`"
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

/// What `after = field` takes.
#[diagnostic::on_unimplemented(
    message = "`after` takes a field of type `Duration` or `Option<Duration>`, and `{Self}` is neither",
    label = "not a hint"
)]
pub trait HintField: Copy {
    fn hint(self) -> Option<Duration>;
}

impl HintField for Duration {
    fn hint(self) -> Option<Duration> {
        Some(self)
    }
}

impl HintField for Option<Duration> {
    fn hint(self) -> Option<Duration> {
        self
    }
}

pub fn after<H: HintField>(verdict: Verdict, hint: &H) -> Verdict {
    verdict.hinted(hint.hint())
}

pub fn of_attempt(verdict: Verdict, is_dropped: bool) -> Verdict {
    verdict.of_attempt(is_dropped)
}

/// The verdict on an attempt that may have yielded an item before it failed. If it did, the request was not refused, whatever
/// the error says.
pub fn of_stream(verdict: Verdict, yielded: bool) -> Verdict {
    if yielded {
        verdict.ambiguous()
    } else {
        verdict
    }
}

pub fn accepts<T>(value: &T, until: impl FnOnce(&T) -> bool) -> bool {
    until(value)
}
