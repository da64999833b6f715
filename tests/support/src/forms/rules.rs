//! Rules that hold in every form, each with its scenarios. `tests/behaviour` and `tests/clients` run all scenarios in
//! their forms.
//!
//! Every form sets all keys that it has, except `fallback`, which has separate columns.

mod between;
mod endings;
mod numbers;
mod protections;
mod rejected;

use retry_runtime::{Backoff, Section};

use super::{Scenario, events};
use crate::rows;
use crate::time::{millis, secs};

/// The rules, by name.
pub fn all() -> Vec<(&'static str, Vec<Scenario>)> {
    Vec::from(rows! {
        "`max` limits the retries, a section's its own", numbers::max();
        "a policy says how long each pause is", numbers::backoff();
        "nothing begins that would end too late", numbers::deadline();
        "a pause that ends late is over", numbers::stalled();
        "a cancelled call ends with what it has", between::cancelled();
        "a dropped attempt is a timeout", numbers::timeout();
        "a breaker sees each attempt once", protections::breaker();
        "an attempt begins in its turn", protections::limiter();
        "a limiter takes care of throttled retries", protections::throttled();
        "a retry that begins is paid for", protections::budget();
        "a rejection has a section of its own", rejected::at_first();
        "a rejected retry is still paid for", rejected::later();
        "a value that `until` rejects is free", endings::until();
        "a call returns a value that `until` rejected", endings::until_the_end();
        "an ambiguous failure may not be repeated", numbers::idempotent();
        "`enabled = false` ends calls as `max = 0` does", numbers::off();
        "the same failure in a row ends a call", numbers::repeats();
        "a fallback follows every reason", endings::fallback();
        "a hook runs once for each retry", between::hooks();
        "a call that is dropped gives everything back", between::dropped();
    })
}

/// Tries again every second.
const AGAIN: Section = Section::new().backoff(Backoff::Fixed).base(secs(1));

/// The tokens that a retry takes.
const RETRY: f64 = 14.0;
/// The tokens that a retry after a throttled attempt takes.
const THROTTLED_RETRY: f64 = 5.0;

/// The events of a call that retries once after 1 s, and those that follow.
fn retried(then: &'static str) -> Vec<&'static str> {
    [
        events("starting 1; retrying 1 after 1s: transient"),
        events(then),
    ]
    .concat()
}
