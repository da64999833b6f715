//! The built-in observers and their events.

mod counts;
mod ends;
mod stats;
mod times;

use retry_runtime::Verdict;

fn verdict(error: &&str) -> Verdict {
    match *error {
        "busy" => Verdict::TRANSIENT,
        "slow down" => Verdict::THROTTLED,
        "no JSON" => Verdict::INVALID,
        _ => Verdict::STOP,
    }
}
