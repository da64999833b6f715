//! Calls made within the attempts of other calls: their retries multiply.

use alloc::borrow::Cow;
use alloc::sync::Arc;
use core::cell::RefCell;
use core::future::{Future, poll_fn};
use core::pin::Pin;
use std::sync::Mutex;

use crate::call::site::{Name as SiteName, Site};
use crate::observe::event::{Event, EventData};
use crate::observe::report::{Observe, report};
use crate::policy::Policy;
use crate::policy::values::Values;
use crate::sync::lock;

thread_local! {
    /// The innermost call whose attempt runs on this thread. Set only while it runs: the next task that this thread
    /// polls has nothing to do with it.
    static HERE: RefCell<Option<Outer>> = const { RefCell::new(None) };
}

/// The functions already reported, each after the one around it. Some names are made at run time,
/// so the number of pairs is bounded.
static TOLD: Mutex<Vec<(String, String)>> = Mutex::new(Vec::new());
const MOST_TOLD: usize = 256;

/// A call, as those made within its attempts see it.
#[derive(Clone, Debug)]
pub struct Outer {
    name: Name,
    /// How many attempts it may make, multiplied by those of the calls around it. `None` if that is unlimited, or not
    /// known before a failure.
    attempts: Option<u64>,
}

#[derive(Clone, Debug)]
enum Name {
    Written(&'static str),
    Known(fn() -> &'static str),
    Made(fn() -> String),
    Shared(Arc<str>),
}

impl Outer {
    const fn new(name: Name, attempts: Option<u64>) -> Self {
        Self { name, attempts }
    }

    /// A call whose policy is known.
    #[inline]
    pub const fn with_policy(policy: &Policy, name: &'static str, values: Values) -> Self {
        Self::new(Name::Written(name), policy.most_attempts(values))
    }

    /// A call of that site.
    #[inline]
    pub const fn of(site: &'static Site<'static>, values: Values) -> Self {
        let name = match site.name {
            SiteName::Text(name) => Name::Written(name),
            SiteName::By(name) => Name::Known(name),
        };
        Self::new(name, site.policy.most_attempts(values))
    }

    /// An outer call whose name is known at run time. The rounds of a plan are its attempts.
    pub(crate) fn shared(policy: &Policy, name: Arc<str>) -> Self {
        Self::new(Name::Shared(name), policy.most_attempts(Values::Taken))
    }

    /// A call whose policy is evaluated at its failures.
    #[inline]
    pub const fn named(name: &'static str) -> Self {
        Self::new(Name::Written(name), None)
    }

    /// An outer call whose name only a function knows.
    #[inline]
    pub const fn named_as(name: fn() -> &'static str) -> Self {
        Self::new(Name::Known(name), None)
    }

    /// An outer call whose name depends on a type.
    #[inline]
    pub const fn named_by(name: fn() -> String) -> Self {
        Self::new(Name::Made(name), None)
    }

    /// This call, where the number of its attempts is known after all.
    pub const fn up_to(mut self, attempts: Option<u64>) -> Self {
        self.attempts = attempts;
        self
    }

    /// This call within what is here now. `None` where it makes one attempt, and so multiplies nothing.
    fn placed(self) -> Option<Self> {
        if self.attempts == Some(1) {
            return None;
        }
        let around = here(|outer| outer.attempts).unwrap_or(Some(1));
        Some(Self {
            attempts: product(self.attempts, around),
            ..self
        })
    }

    fn name(&self) -> Cow<'_, str> {
        match &self.name {
            Name::Written(name) => Cow::Borrowed(name),
            Name::Known(name) => Cow::Borrowed(name()),
            Name::Made(name) => Cow::Owned(name()),
            Name::Shared(name) => Cow::Borrowed(name),
        }
    }
}

/// How many attempts that policy allows.
pub const fn most_attempts(policy: &Policy, values: Values) -> Option<u64> {
    policy.most_attempts(values)
}

/// The only attempt of a call whose retries an expression may switch off: known only where the policy allows none either.
pub const fn only_attempt(policy: &Policy, values: Values) -> Option<u64> {
    match policy.most_attempts(values) {
        Some(1) => Some(1),
        _ => None,
    }
}

/// The attempt, polled as part of that call.
pub fn within<F: Future>(
    mut attempt: Pin<&mut F>,
    outer: Outer,
) -> impl Future<Output = F::Output> {
    let outer = outer.placed();
    poll_fn(move |context| {
        let _entered = outer.clone().map(Entered::new);
        attempt.as_mut().poll(context)
    })
}

/// Has this thread run an attempt of that call until what is returned is dropped.
pub fn enter(outer: Outer) -> Option<Entered> {
    outer.placed().map(Entered::new)
}

/// The attempt that this thread runs. Dropped, also by a panic, it leaves what was here before.
#[derive(Debug)]
pub struct Entered {
    before: Option<Outer>,
}

impl Entered {
    fn new(outer: Outer) -> Self {
        Self {
            before: replace(Some(outer)),
        }
    }
}

impl Drop for Entered {
    fn drop(&mut self) {
        replace(self.before.take());
    }
}

/// Reports that a call is retried within an attempt of another, once for each pair of functions.
pub(crate) fn tell(site: &Site<'_>, attempt: u32, values: Values, observe: Option<Observe<'_>>) {
    let Some(outer) = here(Outer::clone) else {
        return;
    };
    let (call, outer_name) = (site.name(), &*outer.name());
    if !is_news(outer_name, call) {
        return;
    }
    let data = EventData::Nested {
        outer: outer_name,
        attempts: product(site.policy.most_attempts(values), outer.attempts),
    };
    report(&Event::new(call, attempt, data), observe);
}

/// Whether the pair has not been reported yet.
fn is_news(outer: &str, inner: &str) -> bool {
    let mut told = lock(&TOLD);
    let is_told = told.iter().any(|pair| pair.0 == outer && pair.1 == inner);
    let is_news = !is_told && told.len() < MOST_TOLD;
    if is_news {
        told.push((outer.to_owned(), inner.to_owned()));
    }
    is_news
}

fn product(inner: Option<u64>, outer: Option<u64>) -> Option<u64> {
    Some(inner?.saturating_mul(outer?))
}

/// `None` also where the thread ends.
fn here<T>(read: impl FnOnce(&Outer) -> T) -> Option<T> {
    let read = HERE.try_with(|here| here.borrow().as_ref().map(read));
    read.ok().flatten()
}

fn replace(outer: Option<Outer>) -> Option<Outer> {
    HERE.try_with(|here| here.replace(outer)).ok().flatten()
}
