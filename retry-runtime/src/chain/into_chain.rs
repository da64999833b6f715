use crate::call::protections::{Protections, Protects};
use crate::chain::keys::{Keys, SharedKeys};
use crate::chain::on_error::ByClassify;
use crate::chain::policy_call::PolicyCall;
use crate::policy::Policy;
use crate::time::cancel::Uncancelled;
use crate::time::default_timer::DefaultTimer;

/// What batches and plans take as their policy: a [`Policy`], a `&Policy`, or a chain of keys that they can have. If no
/// feature brings a timer, only a chain that names a `timer` will do.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a policy for a plan",
    label = "not a policy",
    note = "give a `Policy`, a `&Policy`, or what `Policy::on` returns"
)]
pub trait IntoChain {
    /// The type of what classifies errors.
    type On;
    /// The type of what sleeps.
    type Timer;
    /// The type of what cancels the batch or the plan.
    type Cancel;
    /// What calls share.
    type Protections: Protects;
    /// The keys that batches and plans share with calls.
    type Keys: SharedKeys<Cancel = Self::Cancel, Timer = Self::Timer>;

    /// The policy with its keys.
    fn into_chain(self) -> PolicyCall<Self::On, Self::Protections, Self::Keys>;
}

impl<On, P: Protects, K: SharedKeys> IntoChain for PolicyCall<On, P, K> {
    type On = On;
    type Timer = K::Timer;
    type Cancel = K::Cancel;
    type Protections = P;
    type Keys = K;

    fn into_chain(self) -> Self {
        self
    }
}

impl IntoChain for Policy {
    type On = ByClassify;
    type Timer = DefaultTimer;
    type Cancel = Uncancelled;
    type Protections = Protections;
    type Keys = Keys;

    fn into_chain(self) -> PolicyCall {
        PolicyCall::of(self)
    }
}

impl<'p> IntoChain for &'p Policy {
    type On = ByClassify;
    type Timer = DefaultTimer;
    type Cancel = Uncancelled;
    type Protections = Protections;
    type Keys = Keys<(), (), Uncancelled, DefaultTimer, &'p Policy>;

    fn into_chain(self) -> PolicyCall<ByClassify, Protections, Self::Keys> {
        PolicyCall::of(self)
    }
}
