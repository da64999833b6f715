/// The content of an enum variant as an `Option`.
macro_rules! as_variant {
    ($value:expr, $variant:pat $(if $condition:expr)? => $held:expr) => {
        match $value {
            $variant $(if $condition)? => Some($held),
            _ => None,
        }
    };
}

pub(crate) use as_variant;
