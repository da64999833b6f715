#![no_std]

use core::time::Duration;

use retry_runtime::retry;
use retry_runtime::seam::{Moment, Timer};

pub struct Busy;

#[retry(max = 2, deadline = "5s", on = |_: &Busy| true)]
pub async fn without_timer() -> Result<(), Busy> {
    Err(Busy)
}

#[retry(max = 2, deadline = "5s", on = |_: &Busy| true)]
pub fn blocking_without_timer() -> Result<(), Busy> {
    Err(Busy)
}

async fn sleep(_: Duration) {}

#[retry(max = 2, timer = sleep, on = |_: &Busy| true)]
pub async fn with_function() -> Result<(), Busy> {
    Err(Busy)
}

#[retry(max = 2, timer = |_| {}, on = |_: &Busy| true)]
pub fn blocking_with_closure() -> Result<(), Busy> {
    Err(Busy)
}

struct Clockless;

impl Timer for Clockless {
    async fn sleep(&self, _: Duration) {}
}

struct Stopped;

impl Timer for Stopped {
    async fn sleep(&self, _: Duration) {}

    fn now(&self) -> Moment {
        Moment::from_origin(Duration::ZERO)
    }
}

#[retry(max = 2, budget, timer = Stopped, on = |_: &Busy| true)]
pub async fn with_a_budget() -> Result<(), Busy> {
    Err(Busy)
}
