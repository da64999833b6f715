use alloc::sync::Arc;
use core::ops::Deref;
use core::pin::Pin;
use core::task::{Context, Poll};
use core::time::Duration;

use rand::SeedableRng;
use rand::rngs::SmallRng;

use crate::observe::recording::{self, Recorder};
use crate::sync::{Mutex, lock};
use crate::time::random;
use crate::time::skip::{self, Skipped};

/// Records calls, and optionally skips their pauses and seeds their jitter, in the futures and closures that it runs.
///
/// A future keeps its scope on any thread that polls it, so a scope works on tokio's multi-threaded runtime, and
/// concurrent tests don't affect each other. Settings that the scope does not change are those of the thread that calls
/// [`run`](Self::run). A task that the future spawns is a separate future: run it in the scope, too.
///
/// ```
/// use std::time::Duration;
/// use retry_runtime::retry;
/// use retry_runtime::testing::{Scope, Script, fail_times};
///
/// #[retry(max = 3, base = "1h", cap = "9h", jitter = "none", on = |_| true)]
/// async fn fetch(server: Script<(), &str>) -> Result<(), &str> {
///     server.next()
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// let scope = Scope::new().skip_sleeps();
/// let server = fail_times(2, "busy");
/// tokio::spawn(scope.run(fetch(server))).await.unwrap().unwrap();
/// assert_eq!(scope.attempts(), [3]);
/// assert_eq!(scope.skipped(), Duration::from_secs(3600 + 2 * 3600));
/// assert_eq!(scope.reasons(), []);
/// # }
/// ```
///
/// A scope has the methods of a [`Recorder`]. A clone is the same scope.
#[derive(Clone, Debug, Default)]
pub struct Scope {
    recorder: Recorder,
    skipped: Option<Skipped>,
    seeds: Option<Arc<Mutex<SmallRng>>>,
}

impl Scope {
    /// Creates a scope that records.
    pub fn new() -> Self {
        Self::default()
    }

    /// Also skips pauses, as [`skip_sleeps`](super::skip_sleeps) does on a thread. The calls in the scope share one
    /// clock: a pause that one call skips has passed for all of them.
    #[must_use]
    pub fn skip_sleeps(mut self) -> Self {
        self.skipped = Some(Skipped::default());
        self
    }

    /// Also seeds jitter and call ids, as [`seed`](super::seed) does on a thread. Each future and each closure has its
    /// own generator, seeded in the order of the calls to [`run`](Self::run) and [`run_blocking`](Self::run_blocking),
    /// so delays do not depend on the order in which tasks run.
    #[must_use]
    pub fn seed(mut self, seed: u64) -> Self {
        self.seeds = Some(Arc::new(Mutex::new(SmallRng::seed_from_u64(seed))));
        self
    }

    /// Runs the future in this scope.
    pub fn run<F: Future>(&self, future: F) -> impl Future<Output = F::Output> + use<F> {
        InScope {
            state: self.state(),
            future: Some(Box::pin(future)),
        }
    }

    /// Runs the closure in this scope.
    pub fn run_blocking<T>(&self, run: impl FnOnce() -> T) -> T {
        let mut state = self.state();
        let _entered = state.enter();
        run()
    }

    /// The time skipped so far.
    pub fn skipped(&self) -> Duration {
        self.skipped.as_ref().map_or(Duration::ZERO, Skipped::total)
    }

    fn state(&self) -> State {
        let current = State::current();
        let seeds = self.seeds.as_ref();
        let seeded = seeds.map(|seeds| SmallRng::from_rng(&mut *lock(seeds)));
        State {
            recorder: Some(self.recorder.clone()),
            skipped: self.skipped.clone().or(current.skipped),
            generator: seeded.or(current.generator),
        }
    }
}

impl Deref for Scope {
    type Target = Recorder;

    fn deref(&self) -> &Recorder {
        &self.recorder
    }
}

/// A future in a [`Scope`].
struct InScope<F> {
    state: State,
    /// `None` once the future was dropped, in its scope.
    future: Option<Pin<Box<F>>>,
}

impl<F: Future> Future for InScope<F> {
    type Output = F::Output;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<F::Output> {
        let Self { state, future } = &mut *self;
        let _entered = state.enter();
        match future {
            Some(future) => future.as_mut().poll(context),
            None => Poll::Pending,
        }
    }
}

impl<F> Drop for InScope<F> {
    fn drop(&mut self) {
        let _entered = self.state.enter();
        self.future = None;
    }
}

/// Wraps the work so that it runs with the current settings of this thread, even on another thread.
pub fn carry(work: impl FnOnce()) -> impl FnOnce() {
    let mut state = State::current();
    move || {
        let _entered = state.enter();
        work();
    }
}

/// A test's settings on a thread, which can be carried to another.
pub(crate) struct State {
    recorder: Option<Recorder>,
    skipped: Option<Skipped>,
    generator: Option<SmallRng>,
}

impl State {
    /// The current settings, for this thread's work that runs on other threads. A seeded generator seeds a new one.
    pub(crate) fn current() -> Self {
        Self {
            recorder: recording::current(),
            skipped: skip::current(),
            generator: random::draw_seeded(SmallRng::from_rng),
        }
    }

    /// Applies the settings to this thread until the returned value is dropped.
    pub(crate) fn enter(&mut self) -> Entered<'_> {
        self.swap();
        Entered(self)
    }

    fn swap(&mut self) {
        self.recorder = recording::replace(self.recorder.take());
        self.skipped = skip::replace(self.skipped.take());
        self.generator = random::replace(self.generator.take());
    }
}

/// While this exists, the state contains the previous settings.
pub(crate) struct Entered<'a>(&'a mut State);

impl Drop for Entered<'_> {
    fn drop(&mut self) {
        self.0.swap();
    }
}
