use crate::chain::on_error::{ByClassify, OnError};
use crate::chain::policy_call::PolicyCall;
use crate::classify::Classify;
use crate::policy::Policy;
use crate::time::cancel::{MayCancel, Uncancelled};

/// What limits the rounds of [`Plan::run_until`](crate::Plan::run_until): a [`Policy`] if the error type is
/// [`Classify`], otherwise the result of [`Policy::on`].
#[diagnostic::on_unimplemented(
    message = "`{Self}` doesn't say which failures of type `{E}` are worth a retry",
    label = "not a policy for this plan",
    note = "give a `Policy` and put `#[derive(retry_runtime::Classify)]` on `{E}`, or name a function: `policy.on(|error: &{E}| …)`"
)]
pub trait RoundPolicy<E> {
    /// Which failures of subtasks are worth a retry.
    type On: OnError<E>;
    /// What cancels the plan.
    type Cancel: MayCancel;

    /// How many rounds after the first, how long to wait before each, and the rest.
    fn into_call(self) -> PolicyCall<Self::On, Self::Cancel>;
}

#[diagnostic::do_not_recommend]
impl<E: Classify> RoundPolicy<E> for Policy {
    type On = ByClassify;
    type Cancel = Uncancelled;

    fn into_call(self) -> PolicyCall<ByClassify> {
        self.on(ByClassify)
    }
}

#[diagnostic::do_not_recommend]
impl<E, On: OnError<E>, C: MayCancel> RoundPolicy<E> for PolicyCall<On, C> {
    type On = On;
    type Cancel = C;

    fn into_call(self) -> Self {
        self
    }
}
