/// What a chain has where a key was not named.
#[derive(Clone, Copy, Debug, Default)]
pub struct Unnamed;

/// What a chain has where a key was named: its value.
#[derive(Clone, Copy, Debug)]
pub struct Named<V>(pub(crate) V);
