//! Numbers of protections as texts and tables have them: in the grammar of policies, and with its complaints.

use alloc::string::String;
use core::str::FromStr;

use retry_vocabulary::complaint;

use crate::policy::error::{PolicyError, refused, short};
use crate::policy::value::Entries;

/// Reads and overrides the numbers of a protection. Behind each key is a function of the key and a
/// text, which reads a value or complains. A method named behind the type looks at all together.
macro_rules! numbers {
    ($numbers:ident $(, $check:ident)? { $($key:ident: $read:expr;)* }) => {
        impl $numbers {
            pub(crate) fn from_entries(entries: $crate::policy::value::Entries) -> Result<Self, PolicyError> {
                let keys = [$(stringify!($key)),*];
                let [$($key),*] = $crate::policy::protection_numbers::texts(keys, entries)?;
                $(let $key = $key.map(|text| $read(stringify!($key), &text)).transpose();)*
                let numbers = Self { $($key: $key.map_err(PolicyError::new)?),* };
                $(numbers.$check()?;)?
                Ok(numbers)
            }

            /// Lays other numbers over these.
            pub(crate) fn overridden_by(self, later: Self) -> Self {
                Self { $($key: later.$key.or(self.$key)),* }
            }
        }

        impl core::str::FromStr for $numbers {
            type Err = PolicyError;

            fn from_str(text: &str) -> Result<Self, PolicyError> {
                Self::from_entries($crate::policy::text::entries(text, 0)?)
            }
        }
    };
}

pub(crate) use numbers;

/// The texts of the values that are named, in the order of these keys.
pub(crate) fn texts<const N: usize>(
    keys: [&str; N],
    entries: Entries,
) -> Result<[Option<String>; N], PolicyError> {
    let mut values = [const { None }; N];
    for (name, raw) in entries {
        let Some(at) = keys.iter().position(|key| *key == name) else {
            let remedy = complaint::suggestion(&name, &keys);
            return Err(refused!("unknown key `{}`: {remedy}", short(&name)));
        };
        if values[at].replace(String::from(raw.single())).is_some() {
            return Err(PolicyError::new(complaint::given_twice(&name)));
        }
    }
    Ok(values)
}

/// Reads a number that is within its range.
pub(crate) fn number<N: FromStr>(
    key: &str,
    text: &str,
    is_valid: impl FnOnce(&N) -> bool,
    range: &str,
) -> Result<N, String> {
    let number = text.parse().ok().filter(is_valid);
    number.ok_or_else(|| complaint::out_of_range(&key, &short(text), range))
}
