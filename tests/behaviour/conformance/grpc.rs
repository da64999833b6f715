//! gRPC's retry throttling: gRFC A6, and gRPC core's `retry_throttle_test.cc`.

use support::prelude::*;

/// Four tokens, so that there are retries above two. A failure takes one, a success gives 1.6.
#[test]
fn tokens_of_the_core() {
    let budget = Budget::grpc(4, 1.6);
    let failure = |left: f64, retries: bool| {
        budget.failed(Kind::Transient);
        assert_eq!(budget.available(), left);
        assert_eq!(budget.withdraw(Kind::Transient), retries, "{left}");
    };
    let success = |left: f64| {
        budget.succeeded(None);
        assert_eq!(budget.available(), left);
    };
    failure(3.0, true);
    success(4.0);
    failure(3.0, true);
    failure(2.0, false);
    failure(1.0, false);
    failure(0.0, false);
    failure(0.0, false);
    success(1.6);
    success(3.2);
    failure(2.2, true);
    failure(1.2, false);
    success(2.8);
    failure(1.8, false);
    success(3.4);
    failure(2.4, true);
}

/// A6: "if the token count is less than or equal to the threshold", half of the maximum, there are no retries. The last
/// failure of a call counts, too; a failure that is not worth a retry does not.
#[test]
fn calls_under_the_customary_numbers() {
    #[retry(max = 4, backoff = "none", budget = budget)]
    fn call(budget: &Budget, fails: Option<&Failure>, attempts: &mut u32) -> Result<(), Failure> {
        *attempts += 1;
        fails.cloned().map_or(Ok(()), Err)
    }
    let budget = Budget::grpc(10, 0.1);
    let after = |fails: Option<&Failure>| {
        let mut attempts = 0;
        let _ = call(&budget, fails, &mut attempts);
        (budget.available(), attempts)
    };

    assert_eq!(after(None), (10.0, 1), "never above");
    // After 4 retries, 6 tokens are left; the fifth failure leaves 5, which is not more than half.
    assert_eq!(after(Some(&TRANSIENT)), (5.0, 5));
    assert_eq!(after(Some(&TRANSIENT)), (4.0, 1));
    assert_eq!(after(Some(&STOP)), (4.0, 1));
    for _ in 0..19 {
        after(None);
    }
    assert_eq!(after(None), (6.0, 1));
    assert_eq!(after(Some(&TRANSIENT)), (5.0, 1));
}
