//! The names of calls that failed in this process.

use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::fmt;

use crate::error_text::shown::shown_within;
use crate::policy::Policy;
use crate::sync::{Mutex, lock};

/// How many names are kept, and how many bytes of each: names that are made anew for each call must not fill the memory.
const MOST: usize = 1000;
const NAME_LIMIT: usize = 200;

/// The name that stands for all beyond [`MOST`].
const OTHERS: &str = "(others)";

/// Sorted by [`order`].
static COUNTS: Mutex<Vec<SiteCounts>> = Mutex::new(Vec::new());

/// What the calls of one name came to, as [`sites`] lists it.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct SiteCounts {
    /// The calls' name: the key `name`, as records show it, of at most 200 bytes. What may be a secret in it is left out.
    pub name: String,
    /// The policy that was in force at the last failure, with what was [installed](crate::Policies::install) over it.
    pub policy: Policy,
    /// The attempts that failed, or whose value `until` or `validate` rejected. In a plan, attempts are rounds. In a batch,
    /// what failed alike in a round counts as one.
    pub failures: u64,
    /// The failures that a retry or a correction followed.
    pub retries: u64,
}

/// One line: `billing.charge failures=6 retries=5 max=5, backoff=exp, …`.
impl fmt::Display for SiteCounts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} failures={} retries={} {}",
            self.name, self.failures, self.retries, self.policy
        )
    }
}

/// Lists the names of all calls in the process that had a failed attempt, in alphabetical order: for a debug page, or
/// to see which names to give to [`Policies::install`](crate::Policies::install).
///
/// ```
/// use retry_runtime::{retry, sites};
///
/// #[retry(max = 5, backoff = "none", on = |_| true, name = "billing.charge")]
/// fn charge() -> Result<(), String> {
///     Err(String::from("503"))
/// }
///
/// assert!(charge().is_err());
/// let page = sites().iter().map(|site| format!("{site}\n")).collect::<String>();
/// assert!(page.starts_with("billing.charge failures=6 retries=5 max=5, backoff=none"));
/// ```
///
/// Calls that succeed at once are not known here: they pay nothing for it. The first 1000 names that fail are listed until
/// the program ends; what fails under other names is counted together, as `(others)`.
pub fn sites() -> Vec<SiteCounts> {
    let mut sites = lock(&COUNTS).clone();
    sites.sort_unstable_by(|one, other| one.name.cmp(&other.name));
    sites
}

/// A failure pays for the search, so it compares lengths first, rather than names that begin alike.
fn order(name: &str) -> (usize, &str) {
    (name.len(), name)
}

fn find(all: &[SiteCounts], name: &str) -> Result<usize, usize> {
    all.binary_search_by(|known| order(&known.name).cmp(&order(name)))
}

/// Counts a failure under the policy in force, and whether a retry follows.
pub(crate) fn met(name: &str, policy: &Policy, is_retried: bool) {
    let mut all = lock(&COUNTS);
    let place = find(&all, name).unwrap_or_else(|_| listed(&mut all, name, policy));
    let known = &mut all[place];
    known.policy = *policy;
    known.failures += 1;
    known.retries += u64::from(is_retried);
}

/// The place of a name that is not listed as it stands: it is new, or shown in another way.
#[cold]
fn listed(all: &mut Vec<SiteCounts>, name: &str, policy: &Policy) -> usize {
    let mut name = shown_within(name, NAME_LIMIT).to_string();
    if all.len() >= MOST && find(all, &name).is_err() {
        name = String::from(OTHERS);
    }
    find(all, &name).unwrap_or_else(|place| {
        let new = SiteCounts {
            name,
            policy: *policy,
            failures: 0,
            retries: 0,
        };
        all.insert(place, new);
        place
    })
}
