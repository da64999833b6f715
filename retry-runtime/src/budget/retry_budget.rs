//! Budgets, which pay for retries.

use alloc::boxed::Box;
use alloc::rc::Rc;
use alloc::sync::Arc;

use retry_classify::Kind;

use crate::forward::forward;

/// Pays for the retries of all calls that share it: the key `budget`.
///
/// If nothing is left, a call gives up with [`Reason::Budget`](crate::Reason::Budget). The budget is charged last, once
/// everything else allows the retry. A call's first attempt is free.
///
/// A number of turns shared by a team of agents:
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
    /// Pays for one retry after a failure of this kind; a hedged attempt counts as `Transient`. A retry or a correction
    /// after `until` or `validate` rejected a value counts as `Invalid`. This crate's budgets don't charge for it,
    /// because the server answered. Returns false, and takes nothing, if too little is left.
    fn withdraw(&self, kind: Kind) -> bool;

    /// Refunds a retry that never started, because its call was dropped during the pause.
    fn refund(&self, kind: Kind);

    /// Records a call once its first attempt has ended. A call that is dropped earlier is not recorded.
    fn called(&self) {}

    /// Records that a call succeeded after a retry that followed a failure of this kind. `None` if the first attempt
    /// succeeded, or if a limiter handled the last retry instead of the budget. With `stream = "resume"`, also records
    /// each attempt that yielded an item before it failed.
    fn succeeded(&self, retried: Option<Kind>) {
        let _ = retried;
    }

    /// Records that a call ended with an error that is not worth a retry, such as a 404: the server answered. `retried`
    /// is as in [`succeeded`](Self::succeeded). A timeout doesn't count as an answer, and neither does an error of an
    /// unknown type.
    fn answered(&self, retried: Option<Kind>) {
        let _ = retried;
    }

    /// Records an attempt that failed with an error worth a retry, even if no retry follows. The retry is charged
    /// afterwards.
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

/// The payment for a retry that has not started. Dropping it refunds the budget. Created by
/// [`Call::paid`](crate::own_loop::Call::paid).
#[derive(Debug)]
pub struct Paid<B: RetryBudget> {
    budget: B,
    kind: Option<Kind>,
}

impl<B: RetryBudget> Paid<B> {
    /// This budget's payment for a retry after a failure of this kind. `None` means that it paid nothing.
    #[doc(hidden)]
    pub fn new(budget: B, kind: Option<Kind>) -> Self {
        Self { budget, kind }
    }

    /// Makes the payment final, because the retry starts.
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
