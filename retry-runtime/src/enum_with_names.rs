//! Enums defined together with the names of their variants.

/// Defines an enum and the constant `ALL`, which lists the variants in order, so that arrays can be indexed by variant.
/// If the variants have names, also defines `name` and implements `Display`.
macro_rules! enum_with_names {
    ($(#[$attr:meta])* $enum:ident: $($(#[$doc:meta])* $variant:ident = $name:literal,)+) => {
        enum_with_names!($(#[$attr])* $enum: $($(#[$doc])* $variant,)+);

        impl $enum {
            /// Returns the name, as in the log.
            #[must_use]
            pub const fn name(self) -> &'static str {
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
    ($(#[$attr:meta])* $enum:ident: $($(#[$doc:meta])* $variant:ident,)+) => {
        $(#[$attr])*
        pub enum $enum {
            $($(#[$doc])* $variant,)+
        }

        impl $enum {
            #[allow(dead_code, reason = "some need only names")]
            pub(crate) const ALL: [Self; [$(Self::$variant),+].len()] = [$(Self::$variant),+];
        }
    };
}

pub(crate) use enum_with_names;
