/// What a chain has where a key was not named.
#[derive(Clone, Copy, Debug, Default)]
pub struct Unnamed;

/// What a chain has where a key was named: its value.
#[derive(Clone, Copy, Debug)]
pub struct Named<V>(pub(crate) V);

/// What a chain can hand to each of its attempts without making it anew.
#[diagnostic::on_unimplemented(
    message = "calls can't share a `{Self}` that is given by value",
    label = "by value",
    note = "keep it in a `static` or in a field, and give a reference or an `Arc`"
)]
pub trait Shareable: Clone {}

#[diagnostic::do_not_recommend]
impl<T: Clone> Shareable for T {}
