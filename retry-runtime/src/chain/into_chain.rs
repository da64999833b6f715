use alloc::boxed::Box;
use core::borrow::Borrow;

use crate::call::protections::BorrowedProtections;
use crate::call::protections::Protects;
use crate::chain::context::Observes;
use crate::chain::keys::{Keys, Settings};
use crate::chain::on_error::ByClassify;
use crate::chain::policy_call::PolicyCall;
use crate::policy::Policy;
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
    /// The keys that its attempts share.
    pub rules: Rules<Q>,
    /// The shared protections.
    pub protections: Q::Protections,
    /// Classifies errors.
    pub on: Q::On,
    /// Cancels the batch or the plan.
    pub cancel: Q::Cancel,
    /// Sleeps.
    pub timer: Q::Timer,
}

/// The keys of a batch or a plan.
#[expect(missing_debug_implementations, reason = "taken apart at once")]
pub struct Rules<Q: IntoChain> {
    pub(crate) policy: Policy,
    pub(crate) settings: Settings,
    pub(crate) observer: Q::Observer,
}

impl<Q: IntoChain> Rules<Q> {
    /// The policy.
    pub fn policy(&self) -> Policy {
        self.policy
    }

    /// True if the batch or the plan, and its attempts, have spans.
    pub fn is_spanned(&self) -> bool {
        self.settings.is_spanned
    }
}

impl<'a, On, O: Observes, C, W, M> IntoChain for PolicyCall<'a, On, Keys<O, C, W, M>> {
    type On = On;
    type Timer = W;
    type Cancel = C;
    type Observer = O;
    type Protections = BorrowedProtections<'a>;

    fn into_chain(self) -> Chain<Self> {
        Chain {
            name: self.name.map(Box::from),
            rules: Rules {
                policy: self.policy,
                settings: self.settings,
                observer: self.keys.observer,
            },
            protections: self.protections,
            on: self.on,
            cancel: self.keys.cancel,
            timer: self.keys.timer,
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
            rules: Rules {
                policy: *self.borrow(),
                settings: Settings::new(),
                observer: (),
            },
            protections: (),
            on: ByClassify,
            cancel: Uncancelled,
            timer: DefaultTimer,
        }
    }
}
