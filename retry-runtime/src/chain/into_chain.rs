use crate::chain::keys::{Keys, SharedKeys};
use crate::chain::on_error::ByClassify;
use crate::chain::policy_call::PolicyCall;
use crate::policy::Policy;
use crate::time::cancel::Uncancelled;
use crate::time::default_timer::DefaultTimer;

/// What batches and plans take as their policy: a [`Policy`], a `&Policy`, or a chain of keys that they can have. If no
/// feature brings a timer, only a chain that names a `timer` will do.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no policy for a plan",
    label = "no policy",
    note = "give a `Policy`, a `&Policy`, or what `Policy::on` returns"
)]
pub trait IntoChain {
    /// Which errors are worth a retry.
    type On;
    /// How to sleep.
    type Timer;
    /// What cancels the batch or the plan.
    type Cancel;
    /// The keys that batches and plans share with calls.
    type Keys: SharedKeys;

    /// The policy with its keys.
    fn into_chain(self) -> PolicyCall<Self::On, Self::Cancel, Self::Timer, Self::Keys>;
}

impl<On, C, W, K: SharedKeys> IntoChain for PolicyCall<On, C, W, K> {
    type On = On;
    type Timer = W;
    type Cancel = C;
    type Keys = K;

    fn into_chain(self) -> Self {
        self
    }
}

impl IntoChain for Policy {
    type On = ByClassify;
    type Timer = DefaultTimer;
    type Cancel = Uncancelled;
    type Keys = Keys;

    fn into_chain(self) -> PolicyCall {
        PolicyCall::of(self)
    }
}

impl IntoChain for &Policy {
    type On = ByClassify;
    type Timer = DefaultTimer;
    type Cancel = Uncancelled;
    type Keys = Keys;

    fn into_chain(self) -> PolicyCall {
        PolicyCall::of(*self)
    }
}
