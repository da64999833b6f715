//! The types that are accepted as a policy, and the timer that is used.

use retry_runtime::chain::{MayCancel, OnError};
use support::prelude::*;

use super::{EXACT, NONE, Server, errors, secs};

/// The sizes of the calls for 5 items. The first item fails once.
async fn sizes(
    policy: impl IntoBatches<Timer: Timer, On: OnError<Failure>, Cancel: MayCancel>,
) -> Vec<usize> {
    let server = Server::new([(0..1, vec![TRANSIENT])]);
    assert_eq!(errors(&server.run(policy, 5).await), NONE);
    server.items().iter().map(Vec::len).collect()
}

#[tokio::test(start_paused = true)]
async fn any_policy_does() {
    let policy = Policy::new();
    assert_rows! {
        sizes(policy).await => [5, 1];
        sizes(&policy).await => [5, 1];
        sizes(policy.on(|_: &Failure| true)).await => [5, 1];
        sizes(policy.batches(3)).await => [3, 2, 1];
        sizes(policy.on(|_: &Failure| true).batches(4)).await => [4, 1, 1];
        sizes(policy.batches(0)).await => [1; 6];
        sizes(policy.batches(usize::MAX)).await => [5, 1];
    }
}

#[tokio::test(start_paused = true)]
async fn any_timer_does() {
    let slept = RefCell::new(Vec::new());
    let timer = TimerFn::new(|pause: Duration| {
        slept.borrow_mut().push(pause);
        ready(())
    });
    assert_eq!(sizes(EXACT.timer(timer).batches(5)).await, [5, 1]);
    assert_eq!(slept.into_inner(), [secs(1)]);
}
