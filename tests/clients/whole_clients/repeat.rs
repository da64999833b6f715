//! A request of a type with its own `Repeat`.

use std::borrow::Cow;

use retry_clients::ClientRetries;
use retry_clients::repeat::{Judged, Repeat, Unrepeatable};
use retry_clients::tower::RetryLayer;
use retry_runtime::{Policy, Verdict};
use tower::{Layer, ServiceExt, service_fn};

use super::plain::Fault;

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
        ClientRetries::new(Policy::none()).on(|outcome| outcome.err().map(|_| Verdict::TRANSIENT));
    let service = RetryLayer::new(retries).layer(next);
    let failed = service.clone().oneshot(Once("fail")).await.unwrap_err();
    assert_eq!(failed.downcast_ref(), Some(&Fault("retry 1")));
    assert_eq!(service.oneshot(Once("hello")).await.unwrap(), "world");
}
