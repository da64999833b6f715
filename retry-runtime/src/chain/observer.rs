use crate::chain::keys::SharedKeys;
use crate::key::{Key, Room, Unnamed};
use crate::observe::event::Event;
#[cfg(any(feature = "batch", feature = "plan"))]
use crate::observe::progress::{Counted, Counts};
use crate::observe::report::Observe;
use crate::observe::stopwatch::Stopwatch;
use crate::time::attempt_clock::Clock;
use crate::time::moment::Moment;

/// What a chain's `observe` takes. No [`Observer`](crate::Observer): only where a function is asked for does the compiler
/// infer the type of a closure's argument.
#[diagnostic::on_unimplemented(
    message = "a chain's `observe` takes a closure, and `{Self}` is none",
    label = "not `FnMut(&Event<'_>)`",
    note = "hand an `Observer` over as `.observe(|event| observer.observe(event))`"
)]
pub trait ObserveFn: FnMut(&Event<'_>) {}

#[diagnostic::do_not_recommend]
impl<F: FnMut(&Event<'_>)> ObserveFn for F {}

/// The stopwatch of a chain with these keys.
pub(crate) type StopwatchOf<K> = <<K as SharedKeys>::Observer as ObserverKey>::Stopwatch;

/// What sees the events of a chain, if its key `observe` names something.
pub trait ObserverKey: Key {
    /// What counts for it how far a batch or a plan is.
    #[cfg(any(feature = "batch", feature = "plan"))]
    type Progress: Counts;
    /// Room for a stopwatch, empty where no clock can be read at each event.
    type Stopwatch: Room<(Stopwatch, fn() -> Moment)> + Copy + Send;

    /// A stopwatch that goes by that clock.
    fn stopwatch(clock: impl FnOnce() -> Clock) -> Self::Stopwatch;

    /// Gives `tell` the observer that the key names. Its events have the times of the call.
    fn timed<T>(
        &mut self,
        stopwatch: &mut Self::Stopwatch,
        tell: impl FnOnce(Option<Observe<'_>>) -> T,
    ) -> T;
}

impl ObserverKey for Unnamed {
    #[cfg(any(feature = "batch", feature = "plan"))]
    type Progress = ();
    type Stopwatch = ();

    #[inline]
    fn stopwatch(_: impl FnOnce() -> Clock) {}

    #[inline]
    fn timed<T>(&mut self, (): &mut (), tell: impl FnOnce(Option<Observe<'_>>) -> T) -> T {
        tell(None)
    }
}

impl<F: FnMut(&Event<'_>)> ObserverKey for Option<F> {
    #[cfg(any(feature = "batch", feature = "plan"))]
    type Progress = Counted;
    type Stopwatch = Option<(Stopwatch, fn() -> Moment)>;

    #[inline]
    fn stopwatch(clock: impl FnOnce() -> Clock) -> Self::Stopwatch {
        match clock() {
            Clock::Live(now) => Some((Stopwatch::new(), now)),
            Clock::Read(_) | Clock::None => None,
        }
    }

    #[inline]
    fn timed<T>(
        &mut self,
        stopwatch: &mut Self::Stopwatch,
        tell: impl FnOnce(Option<Observe<'_>>) -> T,
    ) -> T {
        let mut with_times;
        tell(match (self, stopwatch) {
            (Some(observer), Some((stopwatch, now))) => {
                with_times = move |event: &Event<'_>| stopwatch.tell(event, now, &mut *observer);
                Some(&mut with_times)
            }
            (Some(observer), None) => Some(observer),
            (None, _) => None,
        })
    }
}
