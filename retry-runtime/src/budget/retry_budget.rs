//! Budgets, which pay for retries.

use alloc::boxed::Box;
use alloc::rc::Rc;
use alloc::sync::Arc;

use retry_classify::Kind;

use crate::forward::forward;

/// Pays for the retries of all calls that share it: the key `budget`.
///
/// If nothing is left, a call gives up with [`Reason::Budget`](crate::Reason::Budget). A call asks its budget last,
/// once everything else allows the retry. The first attempt of a call is free.
///
/// A number of turns that a team of agents shares:
///
/// ```
/// use std::sync::atomic::{AtomicU32, Ordering::SeqCst};
/// use retry_runtime::seam::RetryBudget;
/// use retry_runtime::{Kind, retry};
///
/// struct Turns(AtomicU32);
///
/// impl RetryBudget for Turns {
///     fn withdraw(&self, _: Kind) -> bool {
///         self.0.fetch_update(SeqCst, SeqCst, |left| left.checked_sub(1)).is_ok()
///     }
///     fn refund(&self, _: Kind) {
///         self.0.fetch_add(1, SeqCst);
///     }
/// }
///
/// #[retry(max = 5, backoff = "none", budget = turns, on = |_| true)]
/// fn step(turns: &Turns) -> Result<(), String> {
///     Err(String::from("no JSON"))
/// }
///
/// let turns = Turns(AtomicU32::new(2));
/// assert!(step(&turns).is_err());
/// assert_eq!(turns.0.load(SeqCst), 0);
/// ```
///
/// The key accepts any expression whose type implements this trait. References, `Arc` and `Rc` implement it if the
/// inner type does.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a retry budget",
    label = "not a `RetryBudget`",
    note = "implement `retry_runtime::seam::RetryBudget` for `{Self}`, or pass a reference to a budget"
)]
pub trait RetryBudget {
    /// Pays for one retry after a failure of this kind, or, with `Transient`, for a hedged attempt. `Invalid` is a
    /// retry because of a value that `until` or `validate` rejected, or a correction of it: the server answered, so the
    /// budgets of this crate charge nothing. Returns false if too little is left; then nothing was taken.
    fn withdraw(&self, kind: Kind) -> bool;

    /// Refunds a retry that never started, because its call was dropped during the pause.
    fn refund(&self, kind: Kind);

    /// Records a call, when its first attempt has ended. A call that is dropped earlier is not recorded.
    fn called(&self) {}

    /// Records that a call succeeded: at once (`None`), or after a retry that followed a failure of this kind. With
    /// `stream = "resume"`, also records each attempt that yielded an item before it failed.
    fn succeeded(&self, retried: Option<Kind>) {
        let _ = retried;
    }

    /// Records that a call ended with an error that is not worth a retry, such as a 404: the server answered. `retried`
    /// is as in [`succeeded`](Self::succeeded). A timeout doesn't count as an answer, and neither does an error of an
    /// unknown type.
    fn answered(&self, retried: Option<Kind>) {
        let _ = retried;
    }

    /// Records an attempt that failed with an error worth a retry, even if no retry follows. A retry is paid for after
    /// this call.
    fn failed(&self, kind: Kind) {
        let _ = kind;
    }
}

forward! {
    RetryBudget {
        fn withdraw(&self, kind: Kind) -> bool => true;
        fn refund(&self, kind: Kind) => ();
        fn called(&self) => ();
        fn succeeded(&self, retried: Option<Kind>) => ();
        fn answered(&self, retried: Option<Kind>) => ();
        fn failed(&self, kind: Kind) => ();
    }
    for &T, Arc<T>, Rc<T>, Box<T>;
    Option<T>: "A switch: `None` pays for everything."
}

/// The payment for a retry that has not started. If it is dropped before the retry starts, the budget gets a refund.
/// Created by [`Call::paid`](crate::own_loop::Call::paid).
#[derive(Debug)]
pub struct Paid<B: RetryBudget> {
    budget: B,
    kind: Option<Kind>,
}

impl<B: RetryBudget> Paid<B> {
    /// The payment of this budget for a retry after a failure of this kind, or `None` if it paid nothing.
    #[doc(hidden)]
    pub fn new(budget: B, kind: Option<Kind>) -> Self {
        Self { budget, kind }
    }

    /// Keeps the payment, because the retry starts.
    pub fn spend(mut self) {
        self.kind = None;
    }
}

impl<B: RetryBudget> Drop for Paid<B> {
    fn drop(&mut self) {
        if let Some(kind) = self.kind {
            self.budget.refund(kind);
        }
    }
}
