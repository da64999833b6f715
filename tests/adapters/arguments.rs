//! Prints the policy from the command line and the environment, or their error.

use clap::Parser;
use retry_runtime::configuration::{PolicyArgs, PolicyFlags};
use retry_runtime::{Policy, Section};

#[derive(Parser)]
struct Arguments {
    #[command(flatten)]
    retry: PolicyArgs<Retries>,
}

struct Retries;

impl PolicyFlags for Retries {
    const ENV: &'static str = "APP_RETRY";
    const POLICY: Policy = Policy::new().max(7).throttled(Section::new().max(9));
}

fn main() {
    let policy = Arguments::parse().retry.policy();
    println!(
        "{}",
        policy.map_or_else(|error| error.to_string(), |policy| policy.to_string())
    );
}
