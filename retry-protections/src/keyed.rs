use std::collections::HashMap;
use std::fmt;
use std::hash::Hash;
use std::sync::Arc;
use std::time::Duration;

use retry_runtime::{Budget, Moment};

use crate::clock;
use crate::clock::AHEAD;
use crate::sync::{Mutex, lock};

/// Something for each key: a [`Budget`](retry_runtime::Budget) or a [`Breaker`](crate::Breaker) per host,
/// provider or tenant.
///
/// ```
/// use std::sync::LazyLock;
/// use retry_protections::Keyed;
/// use retry_runtime::{Budget, retry};
///
/// static PER_HOST: LazyLock<Keyed<String, Budget>> =
///     LazyLock::new(|| Keyed::new(1000, Budget::standard));
///
/// #[retry(max = 5, backoff = "none", budget = PER_HOST.of(host), on = |_| true)]
/// fn fetch(host: &str) -> Result<String, &'static str> {
///     Err("connection refused")
/// }
///
/// assert!(fetch("eu.example.com").is_err());
/// assert_eq!(PER_HOST.of("eu.example.com").available(), 500.0 - 5.0 * 14.0);
/// assert_eq!(PER_HOST.of("us.example.com").available(), 500.0);
/// ```
///
/// Keys often come from outside, so their number is bounded. If there are as many, a new key takes the place of those at
/// rest, unless a call has theirs:
///
/// - what is as good as new: a full budget, a closed breaker without failures or slow calls, a quota that owes nothing,
/// - an open or half-open breaker in which no trial call has begun for a `window`, although one could have,
/// - a budget, a latency, or a limiter that found its limit by trying, if nobody has asked for it in ten minutes. These
///   are counted at the earliest from when another key found no room, because the clock is not read before.
///
/// A breaker or limiter that an operator forced, or whose numbers one changed, is kept until somebody takes that back.
///
/// If none is at rest, further keys share one, so that nobody gets a full budget by making up keys. Once a second, it
/// checks again whether one has come to rest.
pub struct Keyed<K, V> {
    make: fn() -> V,
    most: usize,
    all: Mutex<All<K, V>>,
}

struct All<K, V> {
    known: HashMap<K, Known<V>>,
    /// What keys share that have no room.
    shared: Option<Arc<V>>,
    /// When none of those known was at rest.
    full_at: Option<Moment>,
}

struct Known<V> {
    value: Arc<V>,
    /// When it was last asked for. `None` until another key finds no room: some systems have no clock.
    used: Option<Moment>,
}

/// What may be forgotten while nobody holds it.
pub trait Rest {
    /// Whether the value is as new, or says nothing about today. What was learnt says little if it is long unused.
    fn is_at_rest(&self, is_unused: bool) -> bool;
}

impl Rest for Budget {
    fn is_at_rest(&self, is_unused: bool) -> bool {
        is_unused || self.is_full()
    }
}

/// How long nobody asks for what is unused.
const UNUSED: Duration = Duration::from_secs(10 * 60);

/// How long nobody looks again for what is at rest where nothing is: that takes as long as there are keys.
const FULL: Duration = Duration::from_secs(1);

impl<K: Eq + Hash, V: Rest> Keyed<K, V> {
    /// Makes one for each key when it is first asked for, for at most that many keys at a time.
    pub fn new(most: usize, make: fn() -> V) -> Self {
        Self {
            make,
            most,
            all: Mutex::new(All {
                known: HashMap::new(),
                shared: None,
                full_at: None,
            }),
        }
    }

    /// The value of a key.
    pub fn of<Q>(&self, key: &Q) -> Arc<V>
    where
        K: std::borrow::Borrow<Q>,
        Q: Eq + Hash + ToOwned<Owned = K> + ?Sized,
    {
        let mut all = lock(&self.all);
        if let Some(known) = all.known.get_mut(key) {
            if let Some(used) = &mut known.used {
                *used = clock::now();
            }
            return Arc::clone(&known.value);
        }
        if !all.has_room(self.most) {
            let shared = all.shared.get_or_insert_with(|| Arc::new((self.make)()));
            return Arc::clone(shared);
        }
        let new = Arc::new((self.make)());
        let known = Known {
            value: Arc::clone(&new),
            used: None,
        };
        all.known.insert(key.to_owned(), known);
        new
    }

    /// How many keys are known.
    pub fn len(&self) -> usize {
        let all = lock(&self.all);
        all.known.len()
    }

    /// Whether no key is known.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl<K, V: Rest> All<K, V> {
    /// Whether one more may be known. Forgets what is at rest to make room.
    fn has_room(&mut self, most: usize) -> bool {
        if self.known.len() < most {
            return true;
        }
        let now = clock::now();
        let passed = self.full_at.and_then(|full_at| now.checked_since(full_at));
        if passed.is_some_and(|passed| passed < FULL) {
            return false;
        }
        self.known.retain(|_, known| {
            let is_unused = is_unused(*known.used.get_or_insert(now), now);
            // One that a call still holds may yet change.
            Arc::strong_count(&known.value) > 1 || !known.value.is_at_rest(is_unused)
        });
        let has_room = self.known.len() < most;
        self.full_at = (!has_room).then_some(now);
        has_room
    }
}

/// Whether nobody has asked since then. A clock that was far ahead was set back.
fn is_unused(used: Moment, now: Moment) -> bool {
    match now.checked_since(used) {
        Some(passed) => passed >= UNUSED,
        None => used.since(now) > AHEAD,
    }
}

impl<K, V> fmt::Debug for Keyed<K, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Keyed")
            .field("most", &self.most)
            .finish_non_exhaustive()
    }
}
