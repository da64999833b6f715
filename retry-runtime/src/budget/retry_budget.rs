//! What retries are paid from.

use alloc::boxed::Box;
use alloc::rc::Rc;
use alloc::sync::Arc;

use retry_classify::Kind;

use crate::forward::forward;

/// What retries are paid from, shared by calls: the key `budget`.
///
/// If it has nothing left, a call gives up with [`Reason::Budget`](crate::Reason::Budget). It is asked last, once
/// everything else allows the retry. The first attempt of a call is free.
///
/// Turns that a team of agents shares:
///
/// ```
/// use std::sync::atomic::{AtomicU32, Ordering::SeqCst};
/// use retry_runtime::{Kind, RetryBudget, retry};
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
/// The key takes any expression whose type implements this. References, `Arc` and `Rc` do if what they hold does.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a retry budget",
    label = "not a `RetryBudget`",
    note = "implement `retry_runtime::RetryBudget` for `{Self}`, or pass a reference to a budget"
)]
pub trait RetryBudget {
    /// Pays for one retry after a failure of that kind, or, as `Transient`, for an attempt beside a slow one. `Invalid` is
    /// a retry because of a value that `until` or `validate` rejects, or a correction of it: the server answered, so the
    /// budgets here let it be free. `false` means that nothing is left and nothing was taken.
    fn withdraw(&self, kind: Kind) -> bool;

    /// Takes back the payment for a retry that never began, because its call was dropped during the pause.
    fn refund(&self, kind: Kind);

    /// Tells of a call, once its first attempt has ended. A call that is dropped before was none.
    fn called(&self) {}

    /// Tells of a call that succeeded: at once, or after a retry that followed a failure of that kind. Under
    /// `stream = "resume"`, also of each attempt that yielded an item before it broke.
    fn succeeded(&self, retried: Option<Kind>) {
        let _ = retried;
    }

    /// Tells of a call that ended with an error that is not worth a retry, such as a 404: the server answered. `retried` is
    /// as in [`succeeded`](Self::succeeded). An attempt that timed out is no answer, nor is an error that nobody knows.
    fn answered(&self, retried: Option<Kind>) {
        let _ = retried;
    }

    /// Tells of an attempt that failed with an error worth a retry, whether one follows or not. A retry is paid for after
    /// it.
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

/// What a budget paid for a retry, until that begins: dropped before, it goes back. [`Call::paid`](crate::Call::paid)
/// makes it.
#[derive(Debug)]
pub struct Paid<B: RetryBudget> {
    budget: B,
    kind: Option<Kind>,
}

impl<B: RetryBudget> Paid<B> {
    /// What that budget paid for a retry after a failure of that kind, if it paid.
    #[doc(hidden)]
    pub fn new(budget: B, kind: Option<Kind>) -> Self {
        Self { budget, kind }
    }

    /// The retry begins.
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
