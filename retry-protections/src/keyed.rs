use std::collections::HashMap;
use std::fmt;
use std::hash::Hash;
use std::sync::Arc;
use std::time::Duration;

use retry_runtime::{Budget, seam::Moment};

use crate::clock;
use crate::clock::MAX_SKEW;
use crate::sync::{Mutex, lock};

/// One protection for each key, such as a [`Budget`](retry_runtime::Budget) or a [`Breaker`](crate::Breaker) for each
/// host, provider or tenant.
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
/// Keys often come from outside the program, so their number is bounded. Once the limit is reached, a new key replaces
/// keys whose value is at rest and not used by a call. A value is at rest if it is:
///
/// - in its initial state: a full budget, a closed breaker without failures or slow calls, a quota that owes nothing,
/// - an open or half-open breaker in which no trial call has started for a `window`, although one could have,
/// - a budget, a latency or an adaptive limiter that was not used for ten minutes. That time starts once another key
///   finds no room, because the clock is not read earlier.
///
/// A breaker or limiter that an operator forced, or whose settings an operator changed, is kept until the change is
/// undone.
///
/// If no value is at rest, further keys share one value, so that forged keys don't each get a full budget. At most once
/// a second, a new key causes another check for values at rest.
pub struct Keyed<K, V> {
    make: fn() -> V,
    most: usize,
    all: Mutex<Entries<K, V>>,
}

struct Entries<K, V> {
    known: HashMap<K, Entry<V>>,
    /// The value that is shared by keys for which there is no room.
    shared: Option<Arc<V>>,
    /// The time of the last check that found no value at rest.
    full_at: Option<Moment>,
}

struct Entry<V> {
    value: Arc<V>,
    /// The time of the last use. `None` until another key finds no room, because some systems have no clock.
    used: Option<Moment>,
}

/// A value that [`Keyed`] may remove while no call uses it.
pub trait Evictable {
    /// Returns true if the value is in its initial state or out of date. `is_unused` is true if the value was not used
    /// for ten minutes: the data in it is then out of date.
    fn can_evict(&self, is_unused: bool) -> bool;
}

impl Evictable for Budget {
    fn can_evict(&self, is_unused: bool) -> bool {
        is_unused || self.is_full()
    }
}

/// The time after which a value counts as unused.
const UNUSED_AFTER: Duration = Duration::from_secs(10 * 60);

/// The time until the next check for values at rest, if the last one found none. A check visits every key.
const RECHECK_AFTER: Duration = Duration::from_secs(1);

impl<K: Eq + Hash, V: Evictable> Keyed<K, V> {
    /// Creates a value with `make` when a key is first used. Keeps at most `most` keys at a time.
    pub fn new(most: usize, make: fn() -> V) -> Self {
        Self {
            make,
            most,
            all: Mutex::new(Entries {
                known: HashMap::new(),
                shared: None,
                full_at: None,
            }),
        }
    }

    /// The value of a key; created if the key is new. If there is no room, the value that further keys share.
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
        let known = Entry {
            value: Arc::clone(&new),
            used: None,
        };
        all.known.insert(key.to_owned(), known);
        new
    }

    /// The number of keys that have their own value.
    pub fn len(&self) -> usize {
        let all = lock(&self.all);
        all.known.len()
    }

    /// Returns true if no key has its own value.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl<K, V: Evictable> Entries<K, V> {
    /// Returns true if there is room for another key. Removes values at rest to make room.
    fn has_room(&mut self, most: usize) -> bool {
        if self.known.len() < most {
            return true;
        }
        let now = clock::now();
        let passed = self.full_at.and_then(|full_at| now.checked_since(full_at));
        if passed.is_some_and(|passed| passed < RECHECK_AFTER) {
            return false;
        }
        self.known.retain(|_, known| {
            let used = *known.used.get_or_insert(now);
            // If the clock was set back, the time of the last use is unknown.
            let is_unused = now.since(used) >= UNUSED_AFTER || used.since(now) > MAX_SKEW;
            // A value that a call still uses may change.
            Arc::strong_count(&known.value) > 1 || !known.value.can_evict(is_unused)
        });
        let has_room = self.known.len() < most;
        self.full_at = (!has_room).then_some(now);
        has_room
    }
}

impl<K, V> fmt::Debug for Keyed<K, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Keyed")
            .field("most", &self.most)
            .finish_non_exhaustive()
    }
}
