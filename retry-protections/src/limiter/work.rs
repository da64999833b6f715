use std::mem;
use std::sync::Arc;
use std::task::Waker;
use std::time::Duration;
use std::vec::Vec;

use retry_runtime::seam::{
    Admission, AdmissionControl, AdmissionState, AttemptOutcome, Changes, Permit,
};

use crate::sync::{Mutex, lock};

/// A limiter for work that continues after its attempt was dropped, such as a thread. The attempt counts towards the
/// limit until its work has ended.
///
/// A `timeout` drops an attempt, but not the thread that the attempt started. Without `DetachedWork`, the thread would
/// no longer count towards the limit, and the retry could run at the same time. With `DetachedWork`, the attempt counts
/// and the retry waits until the last [`DetachedWorkGuard`] is dropped.
///
/// ```
/// use std::io;
/// use std::time::Duration;
/// use retry_protections::{ConcurrencyLimiter, DetachedWork};
/// use retry_runtime::retrying;
/// use tokio::task::spawn_blocking;
///
/// static DISK: ConcurrencyLimiter = ConcurrencyLimiter::aimd().most(4);
///
/// async fn checksum(path: String) -> io::Result<u64> {
///     let work = DetachedWork::new(&DISK);
///     retrying!(max = 2, timeout = "30s", deadline = "2m", limiter = &work, async {
///         let (guard, path) = (work.guard(), path.clone());
///         let thread = spawn_blocking(move || {
///             let _guard = guard; // dropped when the work is over
///             io::Result::Ok(std::fs::read(path)?.into_iter().map(u64::from).sum())
///         });
///         thread.await?
///     })
///     .await
/// }
/// ```
///
/// Create one for each call: the guards of one call would delay the attempts of another. Within a call, the guards of
/// one attempt delay the one that `hedge` starts. If the work never ends, the call ends at its deadline or after the
/// limiter's `max_wait`, and the attempt counts towards the limit forever. The limiter records an outcome only once the
/// work has ended, and the log doesn't contain the resulting changes.
#[derive(Debug)]
pub struct DetachedWork<L: AdmissionControl>(Arc<Shared<L>>);

#[derive(Debug)]
struct Shared<L: AdmissionControl> {
    limiter: L,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    /// The number of guards.
    guards: usize,
    /// The permits and outcomes of attempts that ended before their work.
    kept: Vec<(Permit, AttemptOutcome)>,
    /// The wakers of attempts that wait for the work to end.
    wakers: Vec<Waker>,
}

impl<L: AdmissionControl> DetachedWork<L> {
    /// Creates a limiter that counts work until it has ended. Pass a `&'static` limiter or an `Arc`.
    pub fn new(limiter: L) -> Self {
        Self(Arc::new(Shared {
            limiter,
            state: Mutex::default(),
        }))
    }

    /// Creates a guard. Move it into the code that does the work, and drop it at the end.
    pub fn guard(&self) -> DetachedWorkGuard<L> {
        lock(&self.0.state).guards += 1;
        DetachedWorkGuard(Arc::clone(&self.0))
    }
}

impl<L: AdmissionControl> AdmissionControl for DetachedWork<L> {
    fn enter(&self, cost: u32) -> Permit {
        self.0.limiter.enter(cost)
    }

    fn poll(&self, permit: &mut Permit, waker: &Waker) -> Admission {
        let mut state = lock(&self.0.state);
        if state.guards == 0 {
            drop(state);
            return self.0.limiter.poll(permit, waker);
        }
        if !state.wakers.iter().any(|known| known.will_wake(waker)) {
            state.wakers.push(waker.clone());
        }
        Admission::Wait {
            ahead: 0,
            at_least: None,
        }
    }

    fn leave(&self, permit: Permit, outcome: AttemptOutcome) -> Changes {
        let mut state = lock(&self.0.state);
        if state.guards == 0 || outcome == AttemptOutcome::NotBegun {
            drop(state);
            return self.0.limiter.leave(permit, outcome);
        }
        state.kept.push((permit, outcome));
        [None, None]
    }

    fn longest_wait(&self) -> Option<Duration> {
        self.0.limiter.longest_wait()
    }

    fn state(&self) -> AdmissionState {
        self.0.limiter.state()
    }

    fn handles_throttling(&self) -> bool {
        self.0.limiter.handles_throttling()
    }
}

/// Marks work as running until the guard is dropped: see [`DetachedWork`].
#[derive(Debug)]
#[must_use = "the work only counts until the guard is dropped"]
pub struct DetachedWorkGuard<L: AdmissionControl>(Arc<Shared<L>>);

impl<L: AdmissionControl> Drop for DetachedWorkGuard<L> {
    fn drop(&mut self) {
        let mut state = lock(&self.0.state);
        state.guards -= 1;
        if state.guards > 0 {
            return;
        }
        let State { kept, wakers, .. } = mem::take(&mut *state);
        drop(state);
        for (permit, outcome) in kept {
            self.0.limiter.leave(permit, outcome);
        }
        wakers.into_iter().for_each(Waker::wake);
    }
}
