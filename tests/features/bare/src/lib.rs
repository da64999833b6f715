//! A program without an operating system: every form of a call, with embassy's timer or a blocking timer. `.ci/targets`
//! compiles it for a bare-metal target; `tests/embassy.rs` runs it on embassy's executor.

#![no_std]

extern crate alloc;

use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;
use core::cell::{Cell, RefCell};
use core::future::Future;
use core::pin::Pin;
use core::sync::atomic::AtomicBool;
use core::task::Waker;
use core::time::Duration;

use retry_runtime::seam::{
    Admission, AdmissionControl, BlockingTimer, Moment, Permit, RetryBudget, Timer,
};
use retry_runtime::{
    Attempt, Classify, Event, GaveUp, Jitter, Kind, Policies, Policy, Rejected, TimedOut, on,
    retry, retrying,
};

/// Embassy's timer and its clock.
#[derive(Clone, Copy)]
pub struct Embassy;

impl Timer for Embassy {
    async fn sleep(&self, duration: Duration) {
        let duration = duration.try_into().unwrap_or(embassy_time::Duration::MAX);
        let end = embassy_time::Instant::now().saturating_add(duration);
        embassy_time::Timer::at(end).await;
    }

    fn now(&self) -> Moment {
        let micros = embassy_time::Instant::now().as_micros();
        Moment::from_origin(Duration::from_micros(micros))
    }
}

/// Time that passes only while somebody sleeps.
#[derive(Default)]
pub struct Ticks(Cell<Duration>);

impl BlockingTimer for Ticks {
    fn sleep(&self, duration: Duration) {
        self.0.set(self.0.get() + duration);
    }

    fn now(&self) -> Moment {
        Moment::from_origin(self.0.get())
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Classify)]
pub enum BusError {
    #[classify(transient)]
    Busy,
    #[classify(timeout)]
    NoAnswer,
    #[classify(invalid)]
    Implausible,
    #[classify(stop)]
    Broken,
    #[classify(stop)]
    Rejected,
}

impl From<Rejected> for BusError {
    fn from(_: Rejected) -> Self {
        Self::Rejected
    }
}

impl From<TimedOut> for BusError {
    fn from(_: TimedOut) -> Self {
        Self::NoAnswer
    }
}

/// A bus that responds to each attempt according to a script, and records its start.
#[derive(Default)]
pub struct Bus {
    answers: RefCell<Vec<Result<u32, BusError>>>,
    began: RefCell<Vec<Duration>>,
}

impl Bus {
    /// The last response is repeated.
    pub fn new(answers: impl IntoIterator<Item = Result<u32, BusError>>) -> Self {
        Self {
            answers: RefCell::new(answers.into_iter().collect()),
            began: RefCell::default(),
        }
    }

    /// Returns the start of each attempt, relative to the first.
    pub fn began(&self) -> Vec<Duration> {
        let began = self.began.borrow();
        let since_first = |at: &Duration| *at - began[0];
        began.iter().map(since_first).collect()
    }

    pub fn answer(&self, now: Moment) -> Result<u32, BusError> {
        self.began.borrow_mut().push(now.since_origin());
        let mut answers = self.answers.borrow_mut();
        match answers.len() {
            1 => answers[0],
            _ => answers.remove(0),
        }
    }
}

#[retry(max = 3, base = "100ms", jitter = "none", timer = Embassy)]
pub async fn read(bus: &Bus) -> Result<u32, BusError> {
    bus.answer(Embassy.now())
}

#[retry(base = "100ms", jitter = "full", timer = Embassy)]
pub async fn read_jittered(bus: &Bus) -> Result<u32, BusError> {
    bus.answer(Embassy.now())
}

#[retry(max = 9, base = "100ms", jitter = "none", deadline = "1s", timer = Embassy)]
pub async fn read_in_time(bus: &Bus) -> Result<u32, BusError> {
    bus.answer(Embassy.now())
}

#[retry(max = 1, base = "100ms", jitter = "none", timeout = "250ms", timer = Embassy)]
pub async fn read_slowly(bus: &Bus) -> Result<u32, BusError> {
    let _ = bus.answer(Embassy.now());
    Embassy.sleep(Duration::from_secs(3600)).await;
    Ok(0)
}

#[retry(max = 1, hedge = "200ms", timer = Embassy)]
pub async fn read_hedged(bus: &Bus) -> Result<u32, BusError> {
    let answer = bus.answer(Embassy.now());
    Embassy.sleep(Duration::from_millis(300)).await;
    answer
}

pub async fn read_by_expression(bus: &Bus) -> Result<u32, BusError> {
    retrying!(
        max = 3,
        base = "100ms",
        jitter = "none",
        timer = Embassy,
        async { bus.answer(Embassy.now()) }
    )
    .await
}

pub async fn read_by_policy(policy: Policy, bus: &Bus) -> Result<u32, BusError> {
    policy
        .name("bus.read")
        .timer(Embassy)
        .call(async || bus.answer(Embassy.now()))
        .await
}

#[retry(policy = policies, name = "bus.read", timer = Embassy)]
pub async fn read_by_name(policies: &Policies, bus: &Bus) -> Result<u32, BusError> {
    bus.answer(Embassy.now())
}

#[retry(max = 3, base = "100ms", jitter = "none", deadline = "250ms", timer = ticks)]
pub fn read_blocking(ticks: &Ticks, bus: &Bus) -> Result<u32, BusError> {
    bus.answer(ticks.now())
}

pub fn read_blocking_by_policy(ticks: &Ticks, bus: &Bus) -> Result<u32, BusError> {
    let policy = Policy::fixed(Duration::from_millis(100))
        .max(3)
        .jitter(Jitter::None);
    let call = policy.timer(ticks).on(on::any);
    call.call_blocking(|| bus.answer(ticks.now()))
}

/// A shared budget without a lock: a maximum number of retries, and none while it is closed.
#[derive(Default)]
pub struct Allowance {
    pub retries: Cell<u32>,
    pub is_closed: Cell<bool>,
}

impl RetryBudget for Allowance {
    fn withdraw(&self, _: Kind) -> bool {
        let left = self.retries.get().checked_sub(1);
        self.retries.set(left.unwrap_or(0));
        left.is_some()
    }

    fn refund(&self, _: Kind) {
        self.retries.set(self.retries.get() + 1);
    }
}

impl AdmissionControl for Allowance {
    fn poll(&self, _: &mut Permit, _: &Waker) -> Admission {
        if self.is_closed.get() {
            Admission::Rejected
        } else {
            Admission::Admitted
        }
    }
}

#[retry(max = 9, base = "100ms", jitter = "none", timer = Embassy, cancel = after(millis))]
pub async fn read_until(millis: u64, bus: &Bus) -> Result<u32, BusError> {
    bus.answer(Embassy.now())
}

#[retry(max = 9, hedge = "100ms", timer = Embassy, cancel = after(millis))]
pub async fn read_hedged_until(millis: u64, bus: &Bus) -> Result<u32, BusError> {
    let answer = bus.answer(Embassy.now());
    Embassy.sleep(Duration::from_millis(450)).await;
    answer
}

pub async fn read_by_policy_until(millis: u64, bus: &Bus) -> Result<u32, BusError> {
    let policy = Policy::new().base(Duration::from_millis(100)).max(9);
    policy
        .jitter(Jitter::None)
        .timer(Embassy)
        .cancel(after(millis))
        .call(async || bus.answer(Embassy.now()))
        .await
}

fn after(millis: u64) -> embassy_time::Timer {
    embassy_time::Timer::after_millis(millis)
}

#[retry(
    max = 5,
    base = "100ms",
    jitter = "none",
    timer = Embassy,
    deadline = "1h",
    attempt = attempt,
    until = |value| *value > 1,
    budget = allowance,
    limiter = limiter,
    cancel = core::future::pending::<()>(),
    repeats = 4,
    observe = |event: &Event<'_>| events.push(alloc::format!("{event}")),
    fallback = fall_back
)]
pub async fn read_with_every_key(
    allowance: &Allowance,
    limiter: &dyn AdmissionControl,
    events: &mut Vec<String>,
    bus: &Bus,
) -> Result<u32, BusError> {
    let attempt: &Attempt<BusError> = attempt;
    let _ = (attempt.number(), attempt.elapsed());
    // On a system such as Linux, ids need `std`.
    #[cfg(target_os = "none")]
    let _ = attempt.call_id();
    bus.answer(Embassy.now())
}

async fn fall_back(gave_up: GaveUp<BusError>) -> Result<u32, BusError> {
    Ok(gave_up.attempts())
}

#[retry(max = 3, base = "100ms", jitter = "none", timer = ticks, cancel = cancel, breaker = allowance, attempt = attempt)]
pub fn read_blocking_with_keys(
    ticks: &Ticks,
    allowance: &Allowance,
    cancel: &AtomicBool,
    bus: &Bus,
) -> Result<u32, BusError> {
    let _ = attempt.last_error();
    bus.answer(ticks.now())
}

pub struct Sensors {
    pub bus: Bus,
}

#[retry(max = 3, base = "100ms", jitter = "none", timer = Embassy)]
impl Sensors {
    pub async fn humidity(&self) -> Result<u32, BusError> {
        self.bus.answer(Embassy.now())
    }

    #[retry(validate = is_plausible, correct = round)]
    pub async fn temperature(&self) -> Result<u32, BusError> {
        self.bus.answer(Embassy.now())
    }
}

fn is_plausible(celsius: &u32) -> Result<(), BusError> {
    if *celsius < 100 {
        Ok(())
    } else {
        Err(BusError::Implausible)
    }
}

async fn round(celsius: u32, _: &BusError) -> Result<u32, BusError> {
    Ok(celsius / 10)
}

#[retry(wrapper = PatientStore, max = 2, base = "100ms", jitter = "none", timer = Embassy)]
pub trait Store {
    fn load(&self, key: &str) -> impl Future<Output = Result<u32, BusError>>;
}

#[retry(max = 1, base = "100ms", jitter = "none", timer = Embassy)]
pub fn read_boxed<'a>(bus: &'a Bus) -> Pin<Box<dyn Future<Output = Result<u32, BusError>> + 'a>> {
    Box::pin(async { bus.answer(Embassy.now()) })
}
