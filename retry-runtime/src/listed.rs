//! Lists of an enum's variants and their names.

/// All variants of an enum in `ALL`, in the order of their numbers, so that values can be stored by number. If the
/// variants have names, `name` and `Display` return them, and a list without one of them doesn't compile.
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
