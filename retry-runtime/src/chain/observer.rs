use crate::chain::key::Key;
use crate::observe::event::Event;
use crate::observe::report::Observe;
use crate::observe::stopwatch::Stopwatch;
use crate::time::moment::Moment;

/// What a chain's `observe` takes. It is not an [`Observer`](crate::Observer): only if a function is asked for does the
/// compiler infer the type of a closure's argument.
#[diagnostic::on_unimplemented(
    message = "a chain's `observe` takes a closure, and `{Self}` is none",
    label = "not `FnMut(&Event<'_>)`",
    note = "hand an `Observer` over as `.observe(|event| observer.observe(event))`"
)]
pub trait ObserveFn: FnMut(&Event<'_>) {}

#[diagnostic::do_not_recommend]
impl<F: FnMut(&Event<'_>)> ObserveFn for F {}

/// The observer of a chain, if its key `observe` names one.
pub trait Observes: Key {
    /// The stopwatch, if there is an observer.
    type Stopwatch: Copy + Default + Send;

    /// Calls `report` with the observer. Its events have the times of the call.
    fn timed(
        &mut self,
        stopwatch: &mut Self::Stopwatch,
        now: &dyn Fn() -> Moment,
        report: &mut dyn FnMut(Option<Observe<'_>>),
    );
}

impl Observes for () {
    type Stopwatch = ();

    #[inline]
    fn timed(
        &mut self,
        (): &mut (),
        _: &dyn Fn() -> Moment,
        report: &mut dyn FnMut(Option<Observe<'_>>),
    ) {
        report(None);
    }
}

impl<F: FnMut(&Event<'_>)> Observes for Option<F> {
    type Stopwatch = Stopwatch;

    fn timed(
        &mut self,
        stopwatch: &mut Stopwatch,
        now: &dyn Fn() -> Moment,
        report: &mut dyn FnMut(Option<Observe<'_>>),
    ) {
        let mut with_times;
        report(match self {
            Some(observer) => {
                with_times = |event: &Event<'_>| stopwatch.tell(event, now, &mut *observer);
                Some(&mut with_times)
            }
            None => None,
        });
    }
}
