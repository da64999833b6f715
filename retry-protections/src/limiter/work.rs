use std::fmt;
use std::mem;
use std::sync::Arc;
use std::task::Waker;
use std::time::Duration;
use std::vec::Vec;

use retry_runtime::{Admission, AdmissionControl, AdmissionState, AttemptOutcome, Changes, Permit};

use crate::sync::{Mutex, lock};

/// Work that goes on after its attempt was dropped, as on a thread: a limiter whose place it keeps until it is over.
///
/// A `timeout` drops an attempt, but not the thread that the attempt started. Without this, the thread's place goes to
/// another attempt at once, and the retry runs beside it. With this, both wait until the last [`WorkGuard`] is dropped.
///
/// ```
/// use std::io;
/// use std::time::Duration;
/// use retry_protections::{ConcurrencyLimiter, Work};
/// use retry_runtime::retrying;
/// use tokio::task::spawn_blocking;
///
/// static DISK: ConcurrencyLimiter = ConcurrencyLimiter::aimd().most(4);
///
/// async fn checksum(path: String) -> io::Result<u64> {
///     let work = Work::new(&DISK);
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
/// Make one for each call: the guards of one call would hold up the attempts of another, and those of an attempt the one
/// that `hedge` begins beside it. If the work never ends, the call ends at its deadline or after the limiter's
/// `max_wait`, and the place stays taken. The limiter hears how an attempt ended only once its work is over, and what
/// that changes is not logged.
pub struct Work<L: AdmissionControl>(Arc<Shared<L>>);

struct Shared<L: AdmissionControl> {
    limiter: L,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// How many guards there are.
    guards: usize,
    /// The places of attempts that ended before their work.
    kept: Vec<(Permit, AttemptOutcome)>,
    /// What waits for the work to be over.
    wakers: Vec<Waker>,
}

impl<L: AdmissionControl> Work<L> {
    /// Has work keep its place with that limiter: a reference to a `static`, or an `Arc`.
    pub fn new(limiter: L) -> Self {
        Self(Arc::new(Shared {
            limiter,
            state: Mutex::default(),
        }))
    }

    /// What the work holds while it goes on. Move it to where the work is done, and drop it at the end.
    pub fn guard(&self) -> WorkGuard<L> {
        lock(&self.0.state).guards += 1;
        WorkGuard(Arc::clone(&self.0))
    }
}

impl<L: AdmissionControl> AdmissionControl for Work<L> {
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

/// Shows how many guards there are.
impl<L: AdmissionControl> fmt::Debug for Work<L> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let guards = lock(&self.0.state).guards;
        f.debug_struct("Work").field("guards", &guards).finish()
    }
}

/// Held by work while it goes on: see [`Work`].
#[must_use = "dropped at once, it holds nothing"]
pub struct WorkGuard<L: AdmissionControl>(Arc<Shared<L>>);

impl<L: AdmissionControl> Drop for WorkGuard<L> {
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

impl<L: AdmissionControl> fmt::Debug for WorkGuard<L> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WorkGuard").finish_non_exhaustive()
    }
}
