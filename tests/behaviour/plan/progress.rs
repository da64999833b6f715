//! The progress of a plan in observers' events.

use retry_work::plan::Subtask;
use support::prelude::*;

use super::{EXACT, World};

#[tokio::test(start_paused = true)]
async fn completed_and_given_up_subtasks_are_counted() {
    let world = World::failing(&[("busy", 2), ("gone", 1)]);
    let mut plan = world.plan("first; busy: first; gone: first; blocked: gone");
    // Subtasks that ran before are included.
    plan.run().await.expect("a plan that can run");
    let events = RefCell::new(Vec::new());
    let policy = EXACT.on(|error: &String| error.starts_with("busy"));
    let policy = policy.observe(|event| {
        if let EventData::Progressed {
            done,
            failed,
            waiting,
        } = event.data
        {
            events
                .borrow_mut()
                .push((event.attempt, [done, failed, waiting]));
        }
    });
    let end = plan.run_until(policy, async |results| match results.output("added") {
        Some(_) => Validity::Valid,
        None => Validity::Missing(vec![Subtask::local("added", ["busy"], async |_| {
            Ok(String::new())
        })]),
    });
    assert!(end.await.expect("a plan that can run").is_valid());
    let expected = [
        (1, [1, 0, 3]),
        // Not worth a retry.
        (1, [1, 1, 2]),
        // Again in vain, and then the subtask that was missing.
        (3, [2, 1, 1]),
        (4, [2, 1, 2]),
        (4, [3, 1, 1]),
    ];
    assert_eq!(events.into_inner(), expected);
}
