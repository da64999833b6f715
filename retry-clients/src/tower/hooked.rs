//! The type of a layer's hooks: [`Unhooked`], or [`Hooks`] with the types of their requests, responses and errors.

use crate::client_retries::hooks::Hooks;

/// The type of hooks for a layer without hooks.
#[derive(Clone, Copy, Debug, Default)]
pub struct Unhooked;

/// [`Unhooked`], or [`Hooks`] of these types.
#[diagnostic::on_unimplemented(
    message = "the hooks of this layer are for other requests, responses or errors",
    label = "here they get a `&mut {Q}` and a `Result<&{A}, &{E}>`"
)]
pub trait Hooked<Q, A, E>: Send + Sync {
    #[doc(hidden)]
    fn hooks(&self) -> Option<&Hooks<Q, A, E>>;
}

impl<Q, A, E> Hooked<Q, A, E> for Unhooked {
    fn hooks(&self) -> Option<&Hooks<Q, A, E>> {
        None
    }
}

impl<Q, A, E> Hooked<Q, A, E> for Hooks<Q, A, E> {
    fn hooks(&self) -> Option<&Hooks<Q, A, E>> {
        Some(self)
    }
}

impl<Q, A, E> From<Unhooked> for Hooks<Q, A, E> {
    fn from(_: Unhooked) -> Self {
        Self::default()
    }
}
