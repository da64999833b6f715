use crate::chain::key::Unnamed;

/// The keys of a chain that only single calls have: `until`, `timeout` and `fallback`.
///
/// Each type parameter is [`Unnamed`], or [`Named`](crate::chain::key::Named) with the key's value.
#[derive(Clone, Copy, Debug)]
pub struct Alone<U = Unnamed, T = Unnamed, F = Unnamed> {
    pub(crate) until: U,
    pub(crate) timeout: T,
    pub(crate) fallback: F,
}

impl Alone {
    pub(crate) const fn new() -> Self {
        Self {
            until: Unnamed,
            timeout: Unnamed,
            fallback: Unnamed,
        }
    }
}
