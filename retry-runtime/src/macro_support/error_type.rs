//! The error type of a block that names none, as a value: what is told of it has the same one.

use core::marker::PhantomData;

use crate::call::attempt::Attempt;

pub struct ErrorType<E>(PhantomData<fn() -> E>);

impl<E> Clone for ErrorType<E> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<E> Copy for ErrorType<E> {}

pub fn error_type<E>() -> ErrorType<E> {
    ErrorType(PhantomData)
}

/// The type that the function of `on` takes.
pub fn error_type_by<E, V>(_: impl FnOnce(&E) -> V) -> ErrorType<E> {
    error_type()
}

/// What has an error type.
pub trait HasErrorType<E> {}

impl<T, E> HasErrorType<E> for Result<T, E> {}

impl<E, K> HasErrorType<E> for Attempt<E, K> {}

pub fn has_error_type<E>(_: ErrorType<E>, _: &impl HasErrorType<E>) {}

pub fn of_error_type<E>(_: ErrorType<E>, error: &E) -> &E {
    error
}

/// Like [`never`](super::never), for an outcome with that error.
pub fn never_of<T, E>(_: ErrorType<E>) -> Result<T, E> {
    super::never()
}

/// Like [`never`](super::never), for an outcome whose error the function of `on` takes.
pub fn never_by<T, E, V>(_: impl FnOnce(&E) -> V) -> Result<T, E> {
    super::never()
}
