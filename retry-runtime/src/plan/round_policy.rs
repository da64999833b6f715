use crate::chain::keys::SharedKeys;
use crate::chain::on_error::OnError;
use crate::chain::policy_call::PolicyCall;
use crate::time::cancel::MayCancel;
use crate::time::timer::Timer;

/// What limits the rounds of [`Plan::run_until`](crate::Plan::run_until): a [`Policy`](crate::Policy) if the error type
/// is [`Classify`](crate::Classify), otherwise the result of [`Policy::on`](crate::Policy::on). Either may begin a
/// chain of other keys. Without a feature that
/// brings a timer, a chain names a `timer`.
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
    /// How to sleep.
    type Timer: Timer;
    /// The keys that plans share with calls.
    type Keys: SharedKeys;

    /// How many rounds after the first, how long to wait before each, and the rest.
    fn into_call(self) -> PolicyCall<Self::On, Self::Cancel, Self::Timer, Self::Keys>;
}

impl<E, On, C, W, K> RoundPolicy<E> for PolicyCall<On, C, W, K>
where
    On: OnError<E>,
    C: MayCancel,
    W: Timer,
    K: SharedKeys,
{
    type On = On;
    type Cancel = C;
    type Timer = W;
    type Keys = K;

    fn into_call(self) -> Self {
        self
    }
}

/// A policy alone waits with the timer of a feature.
#[cfg(any(
    feature = "tokio",
    all(feature = "browser", target_family = "wasm", target_os = "unknown")
))]
mod of_policy {
    use super::RoundPolicy;
    use crate::chain::keys::Keys;
    use crate::chain::on_error::ByClassify;
    use crate::chain::policy_call::PolicyCall;
    use crate::classify::Classify;
    use crate::policy::Policy;
    use crate::time::cancel::Uncancelled;
    use crate::time::default_timer::DefaultTimer;

    #[diagnostic::do_not_recommend]
    impl<E: Classify> RoundPolicy<E> for Policy {
        type On = ByClassify;
        type Cancel = Uncancelled;
        type Timer = DefaultTimer;
        type Keys = Keys;

        fn into_call(self) -> PolicyCall {
            PolicyCall::of(self)
        }
    }
}
