use std::time::Duration;

use retry_runtime::{Kind, retry};

fn kind(_: &String) -> Kind {
    Kind::Transient
}

fn wait(_: &String) -> Option<Duration> {
    None
}

#[retry(throttled(max = 6), timed_out(max = 1), invalid(max = 2), hint = "clamp", on = |_| true)]
fn of_bool() -> Result<(), String> {
    Ok(())
}

#[retry(max_hint = "5s", on = |_| true)]
fn longest_hint() -> Result<(), String> {
    Ok(())
}

#[retry(throttled(max = 6), timed_out(max = 1), invalid(max = 2), max_hint = "5s", on = kind)]
fn of_kind() -> Result<(), String> {
    Ok(())
}

#[retry(throttled(max = 6), timed_out(max = 1), invalid(max = 2), max_hint = "5s", on = wait)]
fn hinted() -> Result<(), String> {
    Ok(())
}

struct Client;

#[retry(on = |_| true)]
impl Client {
    #[retry(throttled(max = 6))]
    fn method(&self) -> Result<(), String> {
        Ok(())
    }
}

fn main() {}
