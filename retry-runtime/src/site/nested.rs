//! Nested calls: calls made within the attempts of other calls, so that their retries multiply.

use alloc::borrow::Cow;
use alloc::sync::Arc;
use core::cell::RefCell;
use core::future::poll_fn;
use core::pin::Pin;

use crate::observe::warnings::OncePerName;
use crate::observe::{Event, EventData, Observe, report};
use crate::policy::{Policy, Values};
use crate::site::{Name as SiteName, Site};

thread_local! {
    /// The innermost call whose attempt is running on this thread. Set only while the attempt is polled, because the
    /// thread may poll an unrelated task next.
    static CURRENT: RefCell<Option<Outer>> = const { RefCell::new(None) };
}

/// The pairs of functions already reported, by both names.
static REPORTED: OncePerName = OncePerName::new();

/// A call, as seen by calls made within its attempts.
#[derive(Clone)]
pub struct Outer {
    name: Name,
    /// The number of attempts that the call may make, multiplied by those of the calls around it. `None` if the number
    /// is unlimited, or unknown before a failure.
    attempts: Option<u64>,
}

#[derive(Clone)]
enum Name {
    Known(SiteName<'static>),
    Computed(fn() -> Cow<'static, str>),
    Shared(Arc<str>),
}

impl Outer {
    /// A call at this site.
    #[inline]
    pub const fn of(site: &'static Site<'static>, values: Values) -> Self {
        Self {
            name: Name::Known(site.name),
            attempts: site.policy.most_attempts(values),
        }
    }

    /// A call whose policy is evaluated only after a failure. `name` returns the call's name.
    #[inline]
    pub const fn named_by(name: fn() -> Cow<'static, str>) -> Self {
        Self {
            name: Name::Computed(name),
            attempts: None,
        }
    }

    /// An outer call with a name known at run time. The rounds of a plan are its attempts.
    pub(crate) fn with_name(policy: &Policy, name: Arc<str>) -> Self {
        Self {
            name: Name::Shared(name),
            attempts: policy.most_attempts(Values::Taken),
        }
    }

    /// Sets the number of attempts.
    pub const fn up_to(mut self, attempts: Option<u64>) -> Self {
        self.attempts = attempts;
        self
    }

    /// This call, nested in the current one. `None` if it makes only one attempt, which multiplies nothing.
    fn nest(self) -> Option<Self> {
        if self.attempts == Some(1) {
            return None;
        }
        let outer = with_current(|outer| outer.attempts).unwrap_or(Some(1));
        Some(Self {
            attempts: product(self.attempts, outer),
            ..self
        })
    }

    fn name(&self) -> Cow<'_, str> {
        match &self.name {
            Name::Known(name) => Cow::Borrowed(name.get()),
            Name::Computed(name) => name(),
            Name::Shared(name) => Cow::Borrowed(name),
        }
    }
}

/// The most attempts that the policy allows.
pub const fn most_attempts(policy: &Policy, values: Values) -> Option<u64> {
    policy.most_attempts(values)
}

/// `Some(1)` if the policy allows only one attempt, otherwise `None`. For a call whose retries an expression may turn
/// off.
pub const fn only_attempt(policy: &Policy, values: Values) -> Option<u64> {
    match policy.most_attempts(values) {
        Some(1) => Some(1),
        _ => None,
    }
}

/// Polls the attempt as part of this call.
pub fn within<F: Future>(
    mut attempt: Pin<&mut F>,
    outer: Outer,
) -> impl Future<Output = F::Output> {
    let outer = outer.nest();
    poll_fn(move |context| {
        let _entered = outer.clone().map(Entered::new);
        attempt.as_mut().poll(context)
    })
}

/// Marks this thread as running an attempt of this call, until the returned value is dropped.
pub fn enter(outer: Outer) -> Option<Entered> {
    outer.nest().map(Entered::new)
}

/// Marks the attempt that this thread is running. Restores the previous mark when dropped, even during a panic.
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
pub(crate) fn warn(site: &Site<'_>, attempt: u32, values: Values, observe: Option<Observe<'_>>) {
    let Some(outer) = with_current(Outer::clone) else {
        return;
    };
    let (call, outer_name) = (site.name(), &*outer.name());
    if !REPORTED.is_new(&format!("{outer_name}\n{call}")) {
        return;
    }
    let data = EventData::Nested {
        outer: outer_name,
        attempts: product(site.policy.most_attempts(values), outer.attempts),
    };
    report(&Event::new(call, attempt, data), observe);
}

fn product(inner: Option<u64>, outer: Option<u64>) -> Option<u64> {
    Some(inner?.saturating_mul(outer?))
}

/// Reads the innermost call. `None` if there is no such call, or while the thread is being destroyed.
fn with_current<T>(read: impl FnOnce(&Outer) -> T) -> Option<T> {
    let read = CURRENT.try_with(|current| current.borrow().as_ref().map(read));
    read.ok().flatten()
}

fn replace(outer: Option<Outer>) -> Option<Outer> {
    CURRENT.try_with(|it| it.replace(outer)).ok().flatten()
}
