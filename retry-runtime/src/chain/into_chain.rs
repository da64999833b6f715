use alloc::boxed::Box;
use core::borrow::Borrow;

use crate::call::protections::{BorrowedProtections, Protects};
use crate::chain::context::Context;
use crate::chain::keys::{Hooks, KeySet, Keys, NeedSet, Observes, Settings};
use crate::chain::on_error::ByClassify;
use crate::chain::policy_call::PolicyCall;
use crate::policy::Policy;
use crate::site::Name;
use crate::time::{DefaultTimer, Uncancelled};

/// The types that batches and plans accept as their policy: a [`Policy`], a `&Policy`, or a chain of keys that they
/// support. If no feature provides a timer, only a chain with a `timer` is accepted.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a policy for a plan",
    label = "not a policy",
    note = "pass a `Policy`, a `&Policy`, or what `Policy::on` returns"
)]
pub trait IntoChain: Sized {
    /// The type that classifies errors.
    type On;
    /// The timer's type.
    type Timer;
    /// The type that cancels the batch or the plan.
    type Cancel;
    /// The observer's type.
    #[doc(hidden)]
    type Observer: Observes;
    /// The type of the shared protections.
    #[doc(hidden)]
    type Protections: Protects;

    /// The policy with its keys.
    #[doc(hidden)]
    fn into_chain(self) -> Chain<Self>;
}

/// A policy with its keys, for a batch or a plan.
#[expect(missing_debug_implementations, reason = "taken apart at once")]
pub struct Chain<Q: IntoChain> {
    /// The name, if it is set.
    pub name: Option<Box<str>>,
    /// The keys that its attempts share, without the name.
    pub context: Context<'static, Q::Observer>,
    /// Classifies errors.
    pub on: Q::On,
    /// Cancels the batch or the plan.
    pub cancel: Q::Cancel,
    /// The protections and the timer.
    pub shared: Shared<Q>,
}

/// The parts of a chain that all attempts of a batch or a plan borrow.
#[expect(missing_debug_implementations, reason = "taken apart at once")]
pub struct Shared<Q: IntoChain> {
    pub(super) protections: Q::Protections,
    /// The timer.
    pub timer: Q::Timer,
}

impl<'a, On, K, N> IntoChain for PolicyCall<'a, On, K, Hooks, N>
where
    K: KeySet<GiveUp = ()>,
    N: NeedSet<TimesOut = ()>,
{
    type On = On;
    type Timer = K::Timer;
    type Cancel = K::Cancel;
    type Observer = K::Observer;
    type Protections = BorrowedProtections<'a>;

    fn into_chain(self) -> Chain<Self> {
        let Keys(observer, cancel, timer, ()) = self.keys.get();
        Chain {
            name: self.name.map(Box::from),
            context: Context::new(self.policy, self.settings, Name::Text(""), observer),
            on: self.on,
            cancel,
            shared: Shared {
                protections: self.protections,
                timer,
            },
        }
    }
}

#[diagnostic::do_not_recommend]
impl<P: Borrow<Policy>> IntoChain for P {
    type On = ByClassify;
    type Timer = DefaultTimer;
    type Cancel = Uncancelled;
    type Observer = ();
    type Protections = ();

    fn into_chain(self) -> Chain<Self> {
        Chain {
            name: None,
            context: Context::new(*self.borrow(), Settings::default(), Name::Text(""), ()),
            on: ByClassify,
            cancel: Uncancelled,
            shared: Shared {
                protections: (),
                timer: DefaultTimer,
            },
        }
    }
}
