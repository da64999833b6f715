//! Lists of an enum's variants that can't come apart from it.

/// All variants of an enum in `ALL`, in the order of their numbers, so that what is counted by number has room for each. It
/// does not compile where one is missing.
macro_rules! listed {
    ($name:ident: $($variant:ident)*) => {
        impl $name {
            pub(crate) const ALL: [Self; [$(Self::$variant),*].len()] = [$(Self::$variant),*];
        }

        const _: () = {
            const fn is_listed(variant: $name) {
                match variant {
                    $($name::$variant)|* => (),
                }
            }
            let mut number = 0;
            while number < $name::ALL.len() {
                is_listed($name::ALL[number]);
                assert!($name::ALL[number] as usize == number);
                number += 1;
            }
        };
    };
}

pub(crate) use listed;
