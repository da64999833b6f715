//! The texts of errors as `retry-classify` shows them, at the path by which this crate's modules import them.

pub(crate) mod shown {
    #[cfg(feature = "plan")]
    use core::fmt::Display;

    #[cfg(feature = "plan")]
    pub(crate) use retry_classify::macro_support::escaped;
    pub(crate) use retry_classify::macro_support::shown;
    #[cfg(feature = "std")]
    pub(crate) use retry_classify::macro_support::shown_within;

    /// A name among others, as it is shown.
    #[cfg(feature = "plan")]
    pub(crate) fn shown_name(name: impl Display) -> impl Display {
        shown_within(name, 96)
    }
}
