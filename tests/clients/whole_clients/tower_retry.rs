//! The tests of tower's own `retry`: <https://github.com/tower-rs/tower/blob/master/tower/tests/retry/main.rs>.

use std::borrow::Cow;

use retry_clients::ClientRetries;
use retry_clients::repeat::{Judged, Repeat, Unrepeatable};
use retry_clients::tower::RetryLayer;
use retry_runtime::{Policy, Verdict};
use tower::{Layer, ServiceExt, service_fn};

use super::plain::{Fault, Outcome, Plain};

const POLICY: Policy = Policy::none();

fn unless_rejected(outcome: Result<&&str, &Fault>) -> Option<Verdict> {
    outcome.err().map(|fault| Verdict::from(fault.0 != "reject"))
}

/// `retry_errors`, `retry_limit` and `retry_error_inspection`.
#[tokio::test]
async fn errors_are_retried_while_the_policy_allows_it() {
    let cases: [(&[&str], Outcome, usize); 3] = [
        (&["retry me"], Ok("hello"), 2),
        (&["retry 1", "retry 2", "retry 3"], Err(Fault("retry 3")), 3),
        (&["retry 1", "reject"], Err(Fault("reject")), 2),
    ];
    for (faults, expected, attempts) in cases {
        let service = Plain::failing(faults.iter().copied());
        let layer = RetryLayer::cloning(POLICY.max(2), unless_rejected);
        let outcome = layer.layer(service.clone()).oneshot(String::from("hello"));
        assert_eq!(outcome.await, expected, "{faults:?}");
        assert_eq!(service.requests(), vec!["hello"; attempts], "{faults:?}");
    }
}

/// `retry_cannot_clone_request` and `success_with_cannot_clone`.
#[tokio::test]
async fn a_request_that_cannot_be_sent_again_is_sent_once() {
    struct Once(&'static str);

    impl Repeat<&'static str> for Once {
        type Kept = ();
        type Answer = &'static str;

        fn keep(self, _: usize) -> (Self, ()) {
            (self, ())
        }

        fn repeatable((): &()) -> Result<(), Unrepeatable> {
            Err(Unrepeatable::Consumed)
        }

        fn again((): &(), _: u32) -> Result<Self, Unrepeatable> {
            Err(Unrepeatable::Consumed)
        }

        async fn judge((): &(), answer: &'static str, _: &ClientRetries) -> Judged<&'static str> {
            Judged::success(answer)
        }

        fn name((): &()) -> Cow<'_, str> {
            Cow::Borrowed("once")
        }
    }

    let next = service_fn(async |request: Once| match request.0 {
        "fail" => Err(Fault("retry 1")),
        _ => Ok("world"),
    });
    let retries =
        ClientRetries::new(POLICY).on(|outcome| outcome.err().map(|_| Verdict::TRANSIENT));
    let service = RetryLayer::new(retries).layer(next);
    let failed = service.clone().oneshot(Once("fail")).await.unwrap_err();
    assert_eq!(failed.downcast_ref(), Some(&Fault("retry 1")));
    assert_eq!(service.oneshot(Once("hello")).await.unwrap(), "world");
}

/// `retry_mutating_policy`.
#[tokio::test]
async fn the_request_and_the_outcome_can_be_changed() {
    let service = Plain::new([]);
    let layer =
        RetryLayer::cloning(POLICY.max(2), |_: Result<&&str, &Fault>| Some(Verdict::TRANSIENT));
    let layer = layer
        .before_pause(|request: &mut String, _: Result<&&str, &Fault>, _| {
            Box::pin(async {
                *request = String::from("retrying");
                Ok(())
            })
        })
        .fallback(|_, _| Box::pin(async { Err(Fault("out of retries")) }));
    let outcome = layer.layer(service.clone()).oneshot(String::from("hello"));
    assert_eq!(outcome.await, Err(Fault("out of retries")));
    assert_eq!(service.requests(), ["hello", "retrying", "retrying"]);
}
