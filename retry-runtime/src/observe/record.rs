/// The records, each with its level and what its line begins with.
macro_rules! records {
    ($($(#[doc = $doc:literal])* $(#[cfg($cfg:meta)])? $record:ident $level:ident $name:literal,)*) => {
        /// A log record, by the event that it is about. Events without a record are for observers alone.
        ///
        /// The level is the one that a record has unless [`set_level`](crate::log::set_level) changes it.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum Record {
            $(
                #[doc = concat!(
                    "[`EventData::", stringify!($record), "`](crate::EventData::", stringify!($record),
                    "): `", stringify!($level), "`.",
                )]
                $(#[doc = $doc])*
                $(#[cfg($cfg)])?
                $record,
            )*
        }

        impl Record {
            pub(crate) const fn name(self) -> &'static str {
                match self {
                    $($(#[cfg($cfg)])? Self::$record => $name,)*
                }
            }

            /// The level of the documentation.
            #[cfg(feature = "tracing")]
            pub(crate) const fn level(self) -> tracing::Level {
                match self {
                    $($(#[cfg($cfg)])? Self::$record => tracing::Level::$level,)*
                }
            }
        }
    };
}

records! {
    /// Also [`EventData::ItemsFailed`](crate::EventData::ItemsFailed) of items that are sent again.
    Retrying WARN "retrying",
    Correcting WARN "correcting",
    Hedging INFO "hedging",
    AttemptFailed WARN "attempt failed",
    FallingBack WARN "falling back",
    FellBack INFO "fell back",
    /// In a batch instead [`EventData::ItemsFailed`](crate::EventData::ItemsFailed) of items that are given up.
    GaveUp WARN "gave up",
    Succeeded INFO "succeeded",
    BreakerOpened WARN "breaker opened",
    BreakerHalfOpened INFO "breaker half open",
    BreakerClosed INFO "breaker closed",
    #[cfg(feature = "nested")]
    Nested WARN "retries multiply",
    Waiting DEBUG "waiting",
    Waited DEBUG "waited",
    LimiterPaused INFO "limiter paused",
    LimiterResumed INFO "limiter resumed",
    LimitChanged DEBUG "limit changed",
    RateChanged DEBUG "rate changed",
}
