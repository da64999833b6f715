//! Calls on embassy's executor, with a clock that advances when the executor is idle.

use std::cell::Cell;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::task::Waker;
use std::time::Duration;

use bare::{
    Allowance, Bus, BusError, Embassy, PatientStore, Sensors, Store, Ticks, read, read_blocking,
    read_blocking_by_policy, read_blocking_with_keys, read_boxed, read_by_expression, read_by_name,
    read_by_policy, read_by_policy_until, read_hedged, read_hedged_until, read_in_time,
    read_jittered, read_slowly, read_until, read_with_every_key,
};
use embassy_executor::Executor;
use embassy_futures::select::select;
use embassy_futures::yield_now;
use embassy_time::MockDriver;
use retry_runtime::seam::{Admission, AdmissionControl, AttemptOutcome, Changes, Permit, Timer};
use retry_runtime::{Policies, Policy};

static IS_DONE: AtomicBool = AtomicBool::new(false);

#[test]
fn calls_wait_with_embassys_timer() {
    let executor = Box::leak(Box::new(Executor::new()));
    executor.run_until(
        |spawner| spawner.spawn(calls_while_a_clock_runs().unwrap()),
        || IS_DONE.load(SeqCst),
    );
}

#[embassy_executor::task]
async fn calls_while_a_clock_runs() {
    select(calls(), async {
        loop {
            // Once for each time that a call gives way, and once more.
            for _ in 0..3 {
                yield_now().await;
            }
            MockDriver::get().advance(embassy_time::Duration::from_millis(1));
        }
    })
    .await;
    IS_DONE.store(true, SeqCst);
}

const BUSY: Result<u32, BusError> = Err(BusError::Busy);

fn millis<const N: usize>(millis: [u64; N]) -> Vec<Duration> {
    millis.map(Duration::from_millis).to_vec()
}

/// The outcome of a call on a bus with these answers, and the start of each attempt in milliseconds.
async fn called<const N: usize>(
    answers: [Result<u32, BusError>; N],
    call: impl AsyncFnOnce(&Bus) -> Result<u32, BusError>,
) -> (Result<u32, BusError>, Vec<Duration>) {
    let bus = Bus::new(answers);
    (call(&bus).await, bus.began())
}

async fn calls() {
    let thrice = [BUSY, BUSY, Ok(42)];
    assert_eq!(called(thrice, read).await, (Ok(42), millis([0, 100, 300])));
    let (exhausted, broken) = ((BUSY, millis([0, 100, 300, 700])), Err(BusError::Broken));
    assert_eq!(called([BUSY], read).await, exhausted);
    assert_eq!(called([broken], read).await, (broken, millis([0])));
    assert_eq!(called([BUSY], read_by_expression).await, exhausted);
    // The next pause would take 800 ms.
    assert_eq!(called([BUSY], read_in_time).await, exhausted);
    let slow = (Err(BusError::NoAnswer), millis([0, 350]));
    assert_eq!(called([BUSY], read_slowly).await, slow);
    let hedged = (Ok(42), millis([0, 200]));
    assert_eq!(called([Ok(42)], read_hedged).await, hedged);
    let boxed = (Ok(42), millis([0, 100]));
    assert_eq!(called([BUSY, Ok(42)], read_boxed).await, boxed);

    let policy: Policy = "max=2, backoff=[50ms, 70ms], jitter=none".parse().unwrap();
    let by_policy = called([BUSY], async |bus| read_by_policy(policy, bus).await);
    assert_eq!(by_policy.await, (BUSY, millis([0, 50, 120])));
    let named = "max=2, base=1m, cap=1m, jitter=none, deadline=90s"
        .parse()
        .unwrap();
    let policies = Policies::of([("bus", named)]).unwrap();
    let by_name = called([BUSY], async |bus| read_by_name(&policies, bus).await);
    assert_eq!(by_name.await, (BUSY, millis([0, 60_000])));

    let sensors = |bus| Sensors { bus };
    let humid = sensors(Bus::new([BUSY, Ok(42)]));
    assert_eq!(humid.humidity().await, Ok(42));
    assert_eq!(humid.bus.began(), millis([0, 100]));
    let hot = sensors(Bus::new([Ok(420)]));
    assert_eq!(hot.temperature().await, Ok(42));

    let store = PatientStore::new(BusyStore(Bus::new([BUSY])));
    assert_eq!(store.load("volume").await, BUSY);
    assert_eq!(store.into_inner().0.began(), millis([0, 100, 300]));

    // The attribute's key is evaluated again for each failure.
    let until = called([BUSY], async |bus| read_until(250, bus).await);
    assert_eq!(until.await, (BUSY, millis([0, 100, 300])));
    let until = called([BUSY], async |bus| read_by_policy_until(250, bus).await);
    assert_eq!(until.await, (BUSY, millis([0, 100])));
    let until = called([Ok(42)], async |bus| read_hedged_until(250, bus).await);
    assert_eq!(until.await, (Ok(42), millis([0, 100, 200, 300, 400])));

    jitter_is_drawn().await;
    every_key_has_its_say().await;
}

struct BusyStore(Bus);

impl Store for BusyStore {
    async fn load(&self, _: &str) -> Result<u32, BusError> {
        self.0.answer(Embassy.now())
    }
}

async fn jitter_is_drawn() {
    let mut pauses = Vec::new();
    for _ in 0..20 {
        let bus = Bus::new([BUSY, Ok(42)]);
        assert_eq!(read_jittered(&bus).await, Ok(42));
        pauses.push(bus.began()[1]);
    }
    assert!(
        pauses
            .iter()
            .all(|pause| *pause <= Duration::from_millis(101)),
        "{pauses:?}"
    );
    pauses.sort();
    pauses.dedup();
    assert!(pauses.len() > 5, "{pauses:?}");
}

/// A limiter with a second between attempts.
#[derive(Default)]
struct Pace(Cell<Duration>);

impl AdmissionControl for Pace {
    fn enter(&self, cost: u32) -> Permit {
        Permit::new(0, cost)
    }

    fn poll(&self, _: &mut Permit, _: &Waker) -> Admission {
        let now = Embassy.now().since_origin();
        let left = self.0.get().saturating_sub(now);
        if left.is_zero() {
            self.0.set(now + Duration::from_secs(1));
            return Admission::Admitted;
        }
        Admission::Wait {
            ahead: 0,
            at_least: Some(left),
        }
    }

    fn leave(&self, _: Permit, _: AttemptOutcome) -> Changes {
        [None; 2]
    }
}

async fn every_key_has_its_say() {
    let allowance = Allowance::default();
    allowance.retries.set(2);
    let mut events = Vec::new();
    let bus = Bus::new([BUSY, Ok(1), BUSY]);
    let ended = read_with_every_key(&allowance, &Pace::default(), &mut events, &bus).await;
    assert_eq!(ended, Ok(3));
    assert_eq!(bus.began(), millis([0, 1000, 2000]));
    let names = events
        .iter()
        .map(|event| event.split(" bare::").next().unwrap());
    let of_retry = ["retrying", "waiting", "waited", "starting"];
    let all = [
        &["starting"],
        &of_retry[..],
        &of_retry,
        &["falling back", "fell back"],
    ];
    assert_eq!(names.collect::<Vec<_>>(), all.concat());
}

#[test]
fn blocking_calls_wait_with_a_timer_of_the_programs() {
    let (ticks, bus) = (Ticks::default(), Bus::new([BUSY]));
    assert_eq!(read_blocking(&ticks, &bus), BUSY);
    // The next pause would take 200 ms.
    assert_eq!(bus.began(), millis([0, 100]));

    let (ticks, bus) = (Ticks::default(), Bus::new([Err(BusError::Broken)]));
    assert_eq!(read_blocking_by_policy(&ticks, &bus), Err(BusError::Broken));
    assert_eq!(bus.began(), millis([0, 100, 200, 300]));
}

#[test]
fn blocking_calls_may_be_cancelled_or_kept_back() {
    let allowance = Allowance::default();
    let call = |bus: &Bus, is_cancelled| {
        let ticks = Ticks::default();
        read_blocking_with_keys(&ticks, &allowance, &AtomicBool::new(is_cancelled), bus)
    };
    let bus = Bus::new([BUSY, Ok(42)]);
    assert_eq!(call(&bus, false), Ok(42));
    assert_eq!(bus.began(), millis([0, 100]));

    let bus = Bus::new([BUSY]);
    assert_eq!(call(&bus, true), BUSY);
    assert_eq!(bus.began(), millis([0]));

    allowance.is_closed.set(true);
    assert_eq!(call(&bus, false), Err(BusError::Rejected));
    assert_eq!(bus.began(), millis([0]));
}
