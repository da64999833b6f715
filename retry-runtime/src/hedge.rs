//! Another attempt beside a slow one.

#[cfg(feature = "std")]
pub(crate) mod latency;
/// What is shared needs a lock, so attempts are hedged after times that are given.
#[cfg(not(feature = "std"))]
pub(crate) mod latency {
    use core::time::Duration;

    #[derive(Debug)]
    pub enum Latency {}

    impl Latency {
        pub(crate) fn record(&self, _: Duration) {
            match *self {}
        }

        pub(crate) fn record_dropped(&self, _: Duration) {
            match *self {}
        }
    }
}
pub(crate) mod pushback;
pub(crate) mod running;
