//! The names of calls that failed in this process.

use alloc::borrow::ToOwned;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

use crate::call::site::Site;
use crate::error_text::shown::shown;
use crate::policy::Policy;
use crate::sync::{Mutex, lock};

/// How many names are kept. Without a limit, names that are made anew for each call would fill the memory.
const MOST: usize = 1000;

/// Sorted by [`order`].
static MET: Mutex<Vec<MetSite>> = Mutex::new(Vec::new());

/// What the calls of one name came to, as [`sites`] lists it.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct MetSite {
    /// The calls' name: the key `name`.
    pub name: String,
    /// The policy that was in force at the last failure, with what was [installed](crate::Policies::install) over it.
    pub policy: Policy,
    /// The attempts that failed. In a batch and a plan, attempts are rounds.
    pub failures: u64,
    /// The failures that a retry or a correction followed.
    pub retries: u64,
}

/// One line: `billing.charge failures=6 retries=5 max=5, backoff=exp, …`.
impl fmt::Display for MetSite {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            name,
            policy,
            failures,
            retries,
        } = self;
        let name = shown(name);
        write!(f, "{name} failures={failures} retries={retries} {policy}")
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
/// Calls that succeed at once are not known here: they pay nothing for it. Of more than 1000 names, it lists those that
/// failed first.
pub fn sites() -> Vec<MetSite> {
    let mut sites = lock(&MET).clone();
    sites.sort_unstable_by(|one, other| one.name.cmp(&other.name));
    sites
}

/// A failure pays for the search, so it compares lengths first, rather than names that begin alike.
fn order(name: &str) -> (usize, &str) {
    (name.len(), name)
}

/// Counts a failure under the policy in force, and whether a retry follows.
pub(crate) fn met(site: &Site<'_>, is_retried: bool) {
    let name = site.name();
    let mut met = lock(&MET);
    let place = met.binary_search_by(|known| order(&known.name).cmp(&order(name)));
    let place = match place {
        Ok(place) => place,
        Err(_) if met.len() == MOST => return,
        Err(place) => {
            let site = MetSite {
                name: name.to_owned(),
                policy: *site.policy,
                failures: 0,
                retries: 0,
            };
            met.insert(place, site);
            place
        }
    };
    let known = &mut met[place];
    known.policy = *site.policy;
    known.failures += 1;
    known.retries += u64::from(is_retried);
}
