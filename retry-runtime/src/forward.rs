//! Implements traits for pointers, `Option` and wrappers by calling the inner value.

/// Implements a trait for types that contain an implementor, by calling the same method of the inner value. The types
/// follow the methods: first pointers; then `Option<T>`, for which each method has the result for `None` after `=>`;
/// then other types, each with a closure that returns the inner value. `@held` is for one such type, which may
/// implement some methods itself.
#[doc(hidden)]
#[macro_export]
macro_rules! forward {
    (
        $trait:ident $methods:tt for $($pointer:ty),+
        $(; Option<T>: $doc:literal)?
        $(; $(#[$attr:meta])* [$($generics:tt)*] $holder:ty, |$this:ident| $held:expr)*
    ) => {
        $($crate::forward!(@held $trait $methods [] [T: $trait + ?Sized] $pointer, |this| **this);)+
        $($crate::forward!(@option $trait $methods $doc);)?
        $($crate::forward!(@held $trait $methods [$(#[$attr])*] [$($generics)*] $holder, |$this| $held);)*
    };
    (
        @held $trait:ident {
            $(#![$of_all:meta])*
            $($(#[$of:meta])* fn $name:ident$(<$life:lifetime>)?(&self $(, $arg:ident: $type:ty)*)
                $(-> $out:ty)? $(=> $none:expr)?;)+
        }
        [$($attr:tt)*] [$($generics:tt)*] $holder:ty, |$this:ident| $held:expr $(, { $($own:tt)* })?
    ) => {
        $(#[$of_all])*
        $($attr)*
        impl<$($generics)*> $trait for $holder {
            $(
                $(#[$of])*
                fn $name$(<$life>)?(&self $(, $arg: $type)*) $(-> $out)? {
                    let $this = self;
                    ($held).$name($($arg),*)
                }
            )+
            $($($own)*)?
        }
    };
    (
        @option $trait:ident {
            $(fn $name:ident(&self $(, $arg:ident: $type:ty)*) $(-> $out:ty)? => $none:expr;)+
        }
        $doc:literal
    ) => {
        #[doc = $doc]
        impl<T: $trait> $trait for Option<T> {
            $(
                fn $name(&self $(, $arg: $type)*) $(-> $out)? {
                    match self {
                        Some(held) => held.$name($($arg),*),
                        None => $none,
                    }
                }
            )+
        }
    };
}

pub(crate) use forward;
