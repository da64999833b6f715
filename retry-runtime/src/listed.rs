//! Lists of an enum's variants and their names. A list without one of them does not compile.

/// All variants of an enum in `ALL`, in the order of their numbers, so that what is counted by number has room for each. It
/// does not compile where one is missing. If they have names, `name` and `Display` say them.
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
            const fn is_listed(variant: $enum) {
                match variant {
                    $($enum::$variant)|+ => (),
                }
            }
            let mut number = 0;
            while number < $enum::ALL.len() {
                is_listed($enum::ALL[number]);
                assert!($enum::ALL[number] as usize == number);
                number += 1;
            }
        };
    };
}

pub(crate) use listed;
