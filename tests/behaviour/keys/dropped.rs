//! Drops a call's future at every point where it waits.

use support::dropped::Alive;
use support::prelude::*;

/// The values that are alive, and the events so far.
#[derive(Debug, Default)]
struct World {
    alive: Cell<i32>,
    started: Cell<u32>,
    finished: Cell<u32>,
    events: Cell<u32>,
}

async fn pause(_: Duration) {
    yield_now().await;
}

#[retry(
    max = 2,
    repeats = 3,
    timeout = "1h",
    attempt = attempt,
    deadline = "1h",
    timer = TimerFn::new(pause_forever_after_an_hour),
    observe = |event| if let EventData::Started = event.data {
        world.events.set(world.events.get() + 1);
    },
    fallback = async |gave_up: GaveUp<Failure>| {
        let _alive = Alive::new(&world.alive);
        yield_now().await;
        Err(gave_up.into_error())
    },
)]
async fn call(world: &World, script: &mut Script) -> Result<usize, Failure> {
    let _alive = Alive::new(&world.alive);
    world.started.set(world.started.get() + 1);
    assert_eq!(attempt.number(), world.started.get());
    yield_now().await;
    yield_now().await;
    world.finished.set(world.finished.get() + 1);
    script.next()
}

/// The timeout's hour never passes; the pauses take one poll, and yield in another.
async fn pause_forever_after_an_hour(duration: Duration) {
    if duration == Duration::from_hours(1) {
        pending::<()>().await;
    }
    pause(duration).await;
}

#[test]
fn a_call_dropped_at_any_await_leaves_nothing_alive() {
    let mut context = Context::from_waker(Waker::noop());
    for polls in 0.. {
        let world = World::default();
        let mut script = Script::new(vec![TRANSIENT; 9]);
        let mut ended = false;
        {
            let mut future = pin!(call(&world, &mut script));
            for _ in 0..polls {
                if let Poll::Ready(outcome) = future.as_mut().poll(&mut context) {
                    assert_eq!(outcome, Err(TRANSIENT));
                    ended = true;
                    break;
                }
                assert!((0..=1).contains(&world.alive.get()), "{world:?}");
            }
        }
        assert_eq!(world.alive.get(), 0, "after {polls} polls");
        assert_eq!(world.started.get(), world.events.get());
        assert_eq!(world.finished.get() as usize, script.attempts);
        assert!(world.started.get() - world.finished.get() <= 1);
        if ended {
            assert_eq!(world.started.get(), 3);
            // 3 attempts of 2 waits, 2 pauses that also yield, 1 fallback.
            assert_eq!(polls, 3 * 2 + 2 * 2 + 1 + 1);
            return;
        }
    }
}
