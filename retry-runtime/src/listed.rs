//! Enums of which each variant is listed, and may have a name.

/// Declares an enum with all its variants in `ALL`, in the order of their numbers, so that what is counted by number has
/// room for each. If the variants have names, `name` and `Display` say them.
macro_rules! listed {
    ($(#[$attr:meta])* $vis:vis enum $enum:ident {
        $($(#[$of_variant:meta])* $variant:ident = $name:literal,)+
    }) => {
        listed! { $(#[$attr])* $vis enum $enum { $($(#[$of_variant])* $variant,)+ } }

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
    ($(#[$attr:meta])* $vis:vis enum $enum:ident { $($(#[$of_variant:meta])* $variant:ident,)+ }) => {
        $(#[$attr])*
        $vis enum $enum {
            $($(#[$of_variant])* $variant,)+
        }

        impl $enum {
            #[allow(dead_code, reason = "of some enums, only the names are needed")]
            pub(crate) const ALL: [Self; [$(Self::$variant),+].len()] = [$(Self::$variant),+];
        }
    };
}

pub(crate) use listed;
