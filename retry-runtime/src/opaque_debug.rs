//! `Debug` for types whose contents don't implement it: prints only the type's name.

macro_rules! opaque_debug {
    ($($type:ident [$($generics:tt)*];)*) => {$(
        impl<$($generics)*> core::fmt::Debug for $type<$($generics)*> {
            fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                f.debug_struct(stringify!($type)).finish_non_exhaustive()
            }
        }
    )*};
}

pub(crate) use opaque_debug;
