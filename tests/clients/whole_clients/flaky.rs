//! A service that fails according to a script.

use retry_clients::tower::testing::FlakyLayer;
use retry_runtime::testing::{fail_times, sequence};
use tower::{Layer, ServiceExt, service_fn};

use super::scripted::BoxError;

#[tokio::test]
async fn a_script_runs_in_front_of_a_service() {
    let flaky = FlakyLayer::new(fail_times(2, "busy"));
    let next = service_fn(|number: u32| async move { Ok::<_, BoxError>(number + 1) });
    let service = flaky.layer(next);
    let mut outcomes = Vec::new();
    for number in 0..4 {
        let outcome = service.clone().oneshot(number).await;
        outcomes.push(outcome.map_err(|error| error.to_string()));
    }
    let busy = || Err(String::from("busy"));
    assert_eq!(outcomes, [busy(), busy(), Ok(3), Ok(4)]);
    assert_eq!(flaky.requests(), 4);
}

#[tokio::test]
async fn a_script_may_respond() {
    let next = service_fn(|number: u32| async move { Ok::<_, &str>(number + 1) });
    let service = FlakyLayer::new(sequence([Ok(Some(7)), Err("gone"), Ok(None)])).layer(next);
    let mut outcomes = Vec::new();
    for number in 0..3 {
        outcomes.push(service.clone().oneshot(number).await);
    }
    assert_eq!(outcomes, [Ok(7), Err("gone"), Ok(3)]);
}
