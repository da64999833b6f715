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

/// What times the calls of a chain with these keys.
pub(crate) type StopwatchOf<K> = <<K as SharedKeys>::Observer as ObserverKey>::Stopwatch;

/// What sees the events of a chain, if its key `observe` names something.
pub trait ObserverKey: Key {
    /// What counts for it how far a batch or a plan is.
    #[cfg(any(feature = "batch", feature = "plan"))]
    type Progress: Counts;

    /// Room for what times a call, which is empty where the clock can't be read at each event.
    type Stopwatch: Room<(Stopwatch, fn() -> Moment)> + Copy + Send;

    /// What the key names.
    fn observe(&mut self) -> Option<Observe<'_>>;

    /// What times a call by that clock.
    #[inline]
    fn stopwatch(clock: impl FnOnce() -> Clock) -> Self::Stopwatch {
        let mut stopwatch = Self::Stopwatch::default();
        if Self::IS_NAMED {
            if let Clock::Live(now) = clock() {
                stopwatch.put((Stopwatch::new(), now));
            }
        }
        stopwatch
    }

    /// Has something told to what the key names, with the times of the call.
    #[inline]
    fn timed<T>(
        &mut self,
        stopwatch: &mut Self::Stopwatch,
        tell: impl FnOnce(Option<Observe<'_>>) -> T,
    ) -> T {
        let mut with_times;
        let observe = match (self.observe(), stopwatch.get_mut()) {
            (Some(observe), Some((stopwatch, now))) => {
                with_times = move |event: &Event<'_>| stopwatch.tell(event, now, &mut *observe);
                Some(&mut with_times as Observe<'_>)
            }
            (observe, _) => observe,
        };
        tell(observe)
    }
}

impl ObserverKey for Unnamed {
    #[cfg(any(feature = "batch", feature = "plan"))]
    type Progress = ();
    type Stopwatch = ();

    #[inline]
    fn observe(&mut self) -> Option<Observe<'_>> {
        None
    }
}

impl<F: FnMut(&Event<'_>)> ObserverKey for Option<F> {
    #[cfg(any(feature = "batch", feature = "plan"))]
    type Progress = Counted;
    type Stopwatch = Option<(Stopwatch, fn() -> Moment)>;

    #[inline]
    fn observe(&mut self) -> Option<Observe<'_>> {
        match self {
            Some(observer) => Some(observer),
            None => None,
        }
    }
}
