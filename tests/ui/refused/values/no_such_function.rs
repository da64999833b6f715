use retry_runtime::{GaveUp, retry};

#[retry(on = Failure::Busy)]
async fn variant() -> Result<(), Failure> {
    Err(Failure::Busy)
}

#[retry(on = Failure::is_busy, fallback = |gave_up: GaveUp<Failure>| { log(gave_up); Ok(3) })]
async fn result_where_a_future_is_awaited() -> Result<u32, Failure> {
    Err(Failure::Busy)
}

#[retry(on = IS_BUSY, fallback = |_| Ok(3))]
fn blocking() -> Result<u32, Failure> {
    Err(Failure::Busy)
}

#[retry(fallback = |gave_up| other(gave_up))]
async fn future() -> Result<u32, Failure> {
    Err(Failure::Busy)
}

fn main() {}
