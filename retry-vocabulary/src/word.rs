//! The words that are accepted as values.

use alloc::vec::Vec;
use core::fmt::Debug;

/// An enum whose variants the user writes as words. Implemented by [`words!`](crate::words). `Debug` prints the
/// variant's name, which is also the name of the runtime's variant.
pub trait Word: Copy + Debug + 'static {
    /// The name of the runtime's enum with these variants, if there is one.
    const ENUM: &str;
    /// All variants, in the order in which messages list their words.
    const ALL: &[Self];

    /// The variant as the user writes it.
    fn word(self) -> &'static str;

    /// The variant for a word.
    fn of(word: &str) -> Option<Self> {
        let mut all = Self::ALL.iter().copied();
        all.find(|variant| variant.word() == word)
    }

    /// The words of all variants.
    fn words() -> Vec<&'static str> {
        // A loop compiles faster than an iterator adapter, which would be instantiated for each enum.
        let mut words = Vec::new();
        for variant in Self::ALL {
            words.push(variant.word());
        }
        words
    }
}

/// Declares enums whose variants the user writes as words.
#[macro_export]
macro_rules! words {
    ($(#[$doc:meta] $visible:vis $name:ident { $($variant:ident = $word:literal,)* })*) => {
        $(
            #[$doc]
            #[derive(Clone, Copy, Debug, PartialEq, Eq)]
            $visible enum $name {
                $(
                    #[doc = concat!("`\"", $word, "\"`")]
                    $variant,
                )*
            }

            impl $crate::word::Word for $name {
                const ENUM: &str = stringify!($name);
                const ALL: &[Self] = &[$(Self::$variant,)*];

                fn word(self) -> &'static str {
                    match self {
                        $(Self::$variant => $word,)*
                    }
                }
            }
        )*
    };
}

words! {
    /// The shapes of delays.
    pub Backoff {
        Exponential = "exp",
        Fixed = "fixed",
        Linear = "linear",
        Fibonacci = "fibonacci",
        None = "none",
    }
    /// The kinds of jitter.
    pub Jitter {
        Full = "full",
        Equal = "equal",
        Decorrelated = "decorrelated",
        None = "none",
    }
    /// The handling of a server's hint.
    pub Hint {
        Honor = "honor",
        Clamp = "clamp",
        Exact = "exact",
        Ignore = "ignore",
    }
}
