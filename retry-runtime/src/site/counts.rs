//! The failures in this process, counted by call name.

use alloc::collections::BTreeMap;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::fmt;

use retry_classify::macro_support::shown_within;

use crate::policy::Policy;
use crate::sync::{Mutex, lock};

/// The most names that are kept, and the most bytes of each. Limited, so that names created for each call don't fill
/// the memory.
const MAX_NAMES: usize = 1000;
const NAME_LIMIT: usize = 200;

/// The name for all calls beyond [`MAX_NAMES`].
const OTHER_NAMES: &str = "(others)";

/// The counts, by name.
static COUNTS: Mutex<BTreeMap<String, SiteCounts>> = Mutex::new(BTreeMap::new());

/// The failures and retries of the calls with one name, as listed by [`sites`].
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct SiteCounts {
    /// The calls' name: the key `name`, as in the log, cut to 200 bytes and without possible secrets.
    pub name: String,
    /// The policy in force at the last failure, including [installed](crate::Policies::install) overrides.
    pub policy: Policy,
    /// The attempts that failed, or whose value `until` or `validate` rejected. In a plan, each round is an attempt. In
    /// a batch, similar failures in one round count as one.
    pub failures: u64,
    /// The failures that were followed by a retry or a correction.
    pub retries: u64,
}

/// One line: `billing.charge failures=6 retries=5 max=5, backoff=exp, …`.
impl fmt::Display for SiteCounts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (name, failures, retries) = (&self.name, self.failures, self.retries);
        write!(
            f,
            "{name} failures={failures} retries={retries} {}",
            self.policy
        )
    }
}

/// Lists the counts of this process's calls that had a failed attempt, sorted by name. Use it for a debug page, or to
/// find the names for [`Policies::install`](crate::Policies::install).
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
/// Calls that succeed on the first attempt are not counted, so counting costs them nothing. The first 1000 names that
/// fail are listed until the program ends; failures under other names are counted together, as `(others)`.
pub fn sites() -> Vec<SiteCounts> {
    lock(&COUNTS).values().cloned().collect()
}

/// Counts a failure under the policy in force, and the retry if one follows.
pub(crate) fn count(name: &str, policy: &Policy, is_retried: bool) {
    let mut all = lock(&COUNTS);
    let known = match all.get_mut(name) {
        Some(known) => known,
        None => insert(&mut all, name, policy),
    };
    known.policy = *policy;
    known.failures += 1;
    known.retries += u64::from(is_retried);
}

/// The counts of a name that is new, or listed in shortened form.
#[cold]
fn insert<'a>(
    all: &'a mut BTreeMap<String, SiteCounts>,
    name: &str,
    policy: &Policy,
) -> &'a mut SiteCounts {
    let mut name = shown_within(name, NAME_LIMIT).to_string();
    if all.len() >= MAX_NAMES && !all.contains_key(&name) {
        name = String::from(OTHER_NAMES);
    }
    all.entry(name.clone()).or_insert(SiteCounts {
        name,
        policy: *policy,
        failures: 0,
        retries: 0,
    })
}
