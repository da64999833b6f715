use std::time::Duration;

use retry_runtime::{NextAttempt, retry};

macro_rules! given {
    ($limit:expr) => {
        match $limit {
            Some(limit) => limit,
            None => return Err(String::from("no limit")),
        }
    };
}

#[retry(max = 2, on = |_| true, deadline = given!(limit))]
fn blocking(limit: Option<Duration>) -> Result<u32, String> {
    Err(format!("busy {limit:?}"))
}

#[retry(max = 2, on = |_| true, span = given!(traced))]
async fn traced(traced: Option<bool>) -> Result<u32, String> {
    Err(format!("busy {traced:?}"))
}

#[retry(max = 2, on = |_| true, timer = given!(timer))]
fn waits(timer: Option<fn(Duration)>) -> Result<u32, String> {
    Err(format!("busy {timer:?}"))
}

#[retry(max = 2, on = |_| true, until = given!(accepts))]
async fn accepted(accepts: Option<fn(&u32) -> bool>) -> Result<u32, String> {
    Err(format!("busy {accepts:?}"))
}

#[retry(max = 2, on = |_| true, cancel = given!(cancel))]
async fn cancelled(cancel: Option<std::future::Ready<()>>) -> Result<u32, String> {
    Err(format!("busy {cancel:?}"))
}

macro_rules! first {
    ($given:expr) => {
        *$given.first()?
    };
}

#[retry(max = 2, on = first!(predicates))]
fn judged(predicates: &[fn(&String) -> bool]) -> Result<u32, String> {
    Err(format!("busy {}", predicates.len()))
}

#[retry(max = 2, on = |_| true, repeats = first!(repeats))]
fn repeated(repeats: &[u32]) -> Result<u32, String> {
    Err(format!("busy {repeats:?}"))
}

#[retry(max = 2, on = |_| true, before_pause = first!(hooks))]
fn told(hooks: &[fn(&String, NextAttempt)]) -> Result<u32, String> {
    Err(format!("busy {}", hooks.len()))
}

fn main() {
    let _ = (judged(&[]), repeated(&[]), told(&[]));
    let _ = (accepted(None), cancelled(None));
    let _ = waits(None);
    let _ = blocking(None);
    let _ = traced(None);
}
