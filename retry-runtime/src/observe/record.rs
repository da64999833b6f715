/// Passes the table of records to a macro: each with its level, with what its line begins with, and with the field that the
/// log has of it alone.
macro_rules! records {
    ($macro:ident) => {
        $macro! {
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
            Waiting DEBUG "waiting" ahead,
            Waited DEBUG "waited",
            LimiterPaused INFO "limiter paused",
            LimiterResumed INFO "limiter resumed",
            LimitChanged DEBUG "limit changed" limit,
            RateChanged DEBUG "rate changed" rate,
        }
    };
}

#[cfg(feature = "tracing")]
pub(crate) use records;

macro_rules! define {
    ($(
        $(#[doc = $doc:literal])*
        $(#[cfg($cfg:meta)])?
        $record:ident $level:ident $name:literal $($field:ident)?,
    )*) => {
        /// A log record, by the event that it is about. Events without a record are for observers alone.
        ///
        /// The level is the one that a record has unless [`set_level`](crate::log::set_level) changes it.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum Record {
            $(
                #[doc = concat!(
                    "[`EventData::", stringify!($record), "`](crate::EventData::",
                    stringify!($record), "): `", stringify!($level), "`.",
                )]
                $(#[doc = $doc])*
                $(#[cfg($cfg)])?
                $record,
            )*
        }

        impl Record {
            #[cfg(feature = "tracing")]
            pub(crate) const COUNT: usize = [$($(#[cfg($cfg)])? Self::$record,)*].len();

            pub(crate) const fn name(self) -> &'static str {
                match self {
                    $($(#[cfg($cfg)])? Self::$record => $name,)*
                }
            }
        }
    };
}

records!(define);
