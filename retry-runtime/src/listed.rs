//! Lists of an enum's variants and their names.

/// Defines `ALL`, the variants of an enum in the order of their numbers, so that arrays can be indexed by variant. If
/// names are given, also defines `name` and implements `Display`; then a list that lacks a variant doesn't compile.
macro_rules! listed {
    ($enum:ident: $($variant:ident = $name:literal),+) => {
        listed!($enum: $($variant),+);

        impl $enum {
            pub(crate) const fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $name,)+
                }
            }
        }

        impl core::fmt::Display for $enum {
            fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                f.write_str(self.name())
            }
        }
    };
    ($enum:ident: $($variant:ident),+) => {
        impl $enum {
            pub(crate) const ALL: [Self; [$(Self::$variant),+].len()] = [$(Self::$variant),+];
        }

        const _: () = {
            let mut number = 0;
            while number < $enum::ALL.len() {
                assert!($enum::ALL[number] as usize == number);
                number += 1;
            }
        };
    };
}

pub(crate) use listed;
