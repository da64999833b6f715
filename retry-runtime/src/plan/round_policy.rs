use crate::call::by_policy::PolicyCall;
use crate::classify::Classify;
use crate::classify::verdict::Verdict;
use crate::policy::Policy;

/// What limits the rounds of [`Plan::run_until`](crate::Plan::run_until): a [`Policy`] if the error type is
/// [`Classify`], otherwise the result of [`Policy::on`].
#[diagnostic::on_unimplemented(
    message = "`{Self}` doesn't say which failures of type `{E}` are worth a retry",
    label = "not a policy for this plan",
    note = "give a `Policy` and put `#[derive(retry_runtime::Classify)]` on `{E}`, or name a function: `policy.on(|error: &{E}| …)`"
)]
pub trait RoundPolicy<E> {
    /// How many rounds after the first, and how long to wait before each.
    fn policy(&self) -> Policy;

    /// Whether this failure of a subtask is worth a retry.
    fn verdict(&mut self, error: &E) -> Verdict;
}

#[diagnostic::do_not_recommend]
impl<E: Classify> RoundPolicy<E> for Policy {
    fn policy(&self) -> Policy {
        *self
    }

    fn verdict(&mut self, error: &E) -> Verdict {
        error.classify()
    }
}

#[diagnostic::do_not_recommend]
impl<E, On, V> RoundPolicy<E> for PolicyCall<On>
where
    On: FnMut(&E) -> V,
    V: Into<Verdict>,
{
    fn policy(&self) -> Policy {
        self.policy
    }

    fn verdict(&mut self, error: &E) -> Verdict {
        (self.on)(error).into()
    }
}
