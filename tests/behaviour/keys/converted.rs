//! `give_up` that converts the error to another type, in a chain and in `retrying!`.

use support::prelude::*;

const POLICY: Policy = Policy::new().max(1).jitter(Jitter::None);

/// The errors, the number of attempts, the elapsed seconds and the reason.
pub(super) type Story = (Vec<Failure>, u32, u64, Reason);

pub(super) fn story(gave_up: GaveUp<Failure>) -> Story {
    assert_eq!(gave_up.errors().next_back(), Some(gave_up.error()));
    let (attempts, elapsed) = (gave_up.attempts(), gave_up.elapsed().as_secs());
    let reason = gave_up.reason();
    (gave_up.into_errors(), attempts, elapsed, reason)
}

#[tokio::test(start_paused = true)]
async fn a_call_returns_all_errors_and_the_reason() {
    let steps = || RefCell::new(Script::new([THROTTLED, TRANSIENT]));
    let (script, recording) = (steps(), testing::record());
    let chain = POLICY.name("call").give_up(|gave_up| gave_up);
    let failed = chain.call(async || script.borrow_mut().next()).await;
    let expected = (vec![THROTTLED, TRANSIENT], 2, 1, Reason::Exhausted);
    assert_eq!(failed.map_err(story), Err(expected.clone()));
    // The log has the attempts' errors.
    let line = "gave up call attempt=2 max=1 error=transient reason=exhausted";
    assert_eq!(recording.lines().pop().as_deref(), Some(line));

    let script = steps();
    let chain = POLICY.give_up(story);
    let called = chain.call_attempt(async |_| script.borrow_mut().next());
    assert_eq!(called.await, Err(expected.clone()));

    let mut script = Script::new([THROTTLED, TRANSIENT]);
    let policy = POLICY;
    let failed: Result<usize, GaveUp<Failure>> =
        retrying!(policy = policy, give_up = |gave_up| gave_up, async {
            script.next()
        })
        .await;
    assert_eq!(failed.map_err(story), Err(expected));
}

#[test]
fn a_blocking_call_returns_them() {
    let _skipped = testing::skip_sleeps();
    let expected = Err((vec![STOP], 1, 0, Reason::NotRetryable));
    let chain = POLICY.give_up(story);
    assert_rows! {
        POLICY.give_up(story).call_blocking(|| Err::<(), _>(STOP)) => expected;
        chain.call_attempt_blocking(|_| Err::<(), _>(STOP)) => expected;
        retrying!(give_up = story, { Err::<(), _>(STOP) }) => expected;
    }
}

#[tokio::test(start_paused = true)]
async fn a_value_is_returned_as_it_is() {
    let chain = POLICY.give_up(story).until(|value| *value > 7);
    assert_eq!(chain.call(async || Ok(7)).await, Ok(7));
    let called = retrying!(give_up = story, until = |value| *value > 7, async {
        Ok::<_, Failure>(7)
    });
    assert_eq!(called.await, Ok(7));
}

/// The fallback comes first, in whichever order the keys are set.
#[tokio::test(start_paused = true)]
async fn a_failed_fallback_is_converted() {
    let fail = async || Err::<u32, _>(TRANSIENT);
    let slow = async |_: GaveUp<Failure>| {
        sleep(secs(5)).await;
        Err(STOP)
    };
    let failed = (vec![STOP], 2, 6, Reason::FallbackFailed);
    let first = POLICY.fallback(slow).give_up(story);
    assert_eq!(first.call(fail).await, Err(failed.clone()));
    let last = POLICY.give_up(story).fallback(slow);
    assert_eq!(last.call(fail).await, Err(failed.clone()));
    let policy = POLICY;
    let called: Result<u32, Story> =
        retrying!(policy = policy, fallback = slow, give_up = story, async {
            fail().await
        })
        .await;
    assert_eq!(called, Err(failed));

    let own = async |gave_up: GaveUp<Failure>| Err(gave_up.into_error());
    let called = POLICY.fallback(own).give_up(story).call(fail).await;
    assert_eq!(called, Err((vec![TRANSIENT], 2, 1, Reason::Exhausted)));
    let found = POLICY.fallback(async |_| Ok(7)).give_up(story);
    assert_eq!(found.call(fail).await, Ok(7));
}

#[test]
fn an_attribute_may_have_both() {
    #[retry(
        max = 1,
        backoff = "none",
        on = |_| true,
        validate = |answer: &u32| if *answer > 7 { Ok(()) } else { Err(String::from("low")) },
        fallback = |gave_up| match gave_up.last_value() {
            Some(7) => Err(String::from("no cache")),
            _ => Ok(9),
        },
        give_up = |gave_up| format!("{} ({})", gave_up.error(), gave_up.reason()),
    )]
    fn answer(value: u32) -> Result<u32, String> {
        Ok(value)
    }

    assert_eq!(answer(7), Err(String::from("no cache (fallback failed)")));
    assert_eq!(answer(6), Ok(9));
    assert_eq!(answer(8), Ok(8));
}

#[tokio::test(start_paused = true)]
async fn an_aborted_chain_is_converted() {
    let chain = POLICY.abort(sleep(secs(3))).give_up(story);
    let called = chain.call(pending::<Result<(), Failure>>);
    assert_eq!(
        is_send(called).await,
        Err((vec![STOP], 1, 3, Reason::Cancelled))
    );
}
