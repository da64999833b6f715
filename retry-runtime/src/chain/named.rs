use crate::chain::alone::Alone;
use crate::chain::keys::Keys;
use crate::chain::on_error::ByClassify;
use crate::time::cancel::Uncancelled;
use crate::time::default_timer::DefaultTimer;

/// The keys beside a policy.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Chain<On, C, W, K, A> {
    pub(crate) on: On,
    pub(crate) cancel: C,
    pub(crate) timer: W,
    pub(crate) keys: K,
    pub(crate) alone: A,
}

/// The keys of a single call.
pub(super) type OfCall<On, C, W, N, B, R, O, M, S, U, L, F> =
    Chain<On, C, W, Keys<N, B, R, O, M, S>, Alone<U, L, F>>;

impl Chain<ByClassify, Uncancelled, DefaultTimer, Keys, Alone> {
    /// No keys.
    #[inline]
    pub(crate) fn new() -> Self {
        Self {
            on: ByClassify,
            cancel: Uncancelled,
            timer: DefaultTimer,
            keys: Keys::new(),
            alone: Alone::new(),
        }
    }
}
