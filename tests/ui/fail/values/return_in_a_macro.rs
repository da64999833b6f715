use std::time::Duration;

use retry_runtime::retry;

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

fn main() {
    let _ = (accepted(None), cancelled(None));
    let _ = waits(None);
    let _ = blocking(None);
    let _ = traced(None);
}
