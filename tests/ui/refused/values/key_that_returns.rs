use retry_runtime::{retry, retrying};
use std::time::Duration;

fn limit() -> Result<Duration, String> {
    Ok(Duration::from_secs(1))
}

#[retry(timeout = limit()?, deadline = return Ok(1), max = limit().map_or(3, |_| 5), on = |_| true)]
async fn complete() -> Result<u32, String> {
    Ok(7)
}

#[retry(timeout = limit().map(|limit| limit * 2)?, on = |_| true)]
async fn after_a_closure() -> Result<u32, String> {
    Ok(7)
}

#[retry(backoff = |retry| delay(retry)?, timeout = { let double = |limit| limit * 2; double(SECOND) }, on = |_| true)]
async fn within_a_closure() -> Result<u32, String> {
    Ok(7)
}

#[retry(timeout = match kind { 1 | 2 => limit()?, _ => SECOND }, on = |_| true)]
async fn after_an_or_pattern(kind: u32) -> Result<u32, String> {
    Ok(7)
}

#[retry(timeout = match kind { | 1 | 2 => limit()?, _ => SECOND }, on = |_| true)]
async fn after_a_leading_bar(kind: u32) -> Result<u32, String> {
    Ok(7)
}

#[retry(enabled = is_on || is_on(7)?, on = if is_on || is_on(7)? { yes } else { no })]
fn after_an_operator(is_on: bool) -> Result<u32, String> {
    Ok(7)
}

#[retry(max = pick(|limit| limit + 1, async { limit()? }, limit()?), on = |_| true)]
fn after_functions() -> Result<u32, String> {
    Ok(7)
}

#[retry(
    max = { fn parsed() -> Option<u32> { text()?.parse().ok() } parsed().unwrap_or(3) },
    base = loop { if is_late() { break SECOND } for _ in 0..3 { continue } },
    cap = 'found: { if is_late() { break 'found SECOND } SECOND * 2 },
    floor = floors().map(|floor: Duration| -> Option<_> { floor.checked_mul(2)? }).max(),
    on = match kind { 1 => |error| reason::<u8, u16>(error)?, _ => move |_| false },
    deadline = limit()?,
)]
fn within_functions_and_loops(kind: u32) -> Result<u32, String> {
    Ok(7)
}

fn in_a_loop() {
    'outer: loop {
        let _ = retrying!(deadline = if is_late() { break } else { SECOND }, { first() });
        let _ = retrying!(timeout = if is_late() { continue 'outer } else { SECOND }, async { first() });
        let _ = retrying!(base = { for _ in limits() {} break }, { first() });
    }
}

fn main() {}
