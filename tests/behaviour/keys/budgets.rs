//! The built-in budgets: their costs and credits.

// Whole numbers and decimal fractions.
#![allow(clippy::float_cmp)]

use proptest::prelude::*;
use support::prelude::*;
use support::runtime;

#[retry(max = 4, backoff = "none", budget = budget)]
fn step(script: &mut Script, budget: &Budget) -> Result<usize, Failure> {
    script.next()
}

/// aws/aws-sdk-go-v2#3186: lookups that mostly find nothing.
#[test]
fn a_final_response_counts_as_a_success() {
    let recovered = |budget: Budget| {
        let lookups = (0..2000).map(|number| match number % 20 {
            0 => run!([TRANSIENT, STOP], |script| step(script, &budget)),
            _ => run!([STOP], |script| step(script, &budget)),
        });
        lookups.filter(|(_, attempts)| *attempts == 2).count()
    };
    assert_rows! {
        recovered(Budget::standard()) => 100;
        recovered(Budget::standard().credit_answers(false)) => 35;
        recovered(Budget::grpc(10, 0.1).credit_answers(true)) => 100;
        recovered(Budget::grpc(10, 0.1)) => 4;
        recovered(Budget::ratio(0.1)) => 100;
    }
    // Even if retries are off.
    let budget = Budget::standard();
    assert!(budget.withdraw(Kind::Transient));
    let off = Policy::new().enabled(false).budget(&budget);
    let _ = off.call_blocking(|| Err::<(), _>(STOP));
    assert_eq!(budget.available(), 487.0);
}

/// Each job is done at the 20th look, and its text is right at the 20th try: the server is well.
#[test]
fn a_rejected_value_costs_nothing() {
    scripted! {
        #[retry(max = 30, backoff = "none", until = |looks| *looks % 20 == 0, budget = budget)]
        fn poll(budget: &dyn RetryBudget);
        #[retry(max = 30, backoff = "none", validate = |tries| (*tries % 20 == 0).then_some(()).ok_or(STOP),
            budget = budget)]
        fn ask(budget: &dyn RetryBudget);
    }

    let budgets = [
        Budget::standard(),
        Budget::grpc(10, 0.1),
        Budget::ratio(0.1),
    ];
    for budget in &budgets {
        let (mut looks, mut tries) = <(Script, Script)>::default();
        for job in 1..=4 {
            assert_eq!(poll(budget, &mut looks), Ok(20 * job));
            assert_eq!(ask(budget, &mut tries), Ok(20 * job));
        }
    }
    let full = budgets.each_ref().map(Budget::available);
    assert_eq!(full, [500.0, 10.0, 100.0]);
    // A job that is done at last gives as much as one that was done at once.
    let [standard, ..] = budgets;
    assert!(standard.withdraw(Kind::Transient));
    assert_eq!(poll(&standard, &mut Script::default()), Ok(20));
    assert_eq!(standard.available(), 487.0);
}

#[test]
fn a_ratio_is_exact_at_every_ratio() {
    for ratio in [0.1, 0.2, 0.5, 0.6, 1.0, 0.001] {
        let calls = if ratio < 0.1 { 100_000 } else { 1_000 };
        let budget = Budget::ratio(ratio);
        while budget.withdraw(Kind::Transient) {}
        let mut retries = 0_u32;
        for _ in 0..calls {
            budget.called();
            while budget.withdraw(Kind::Transient) {
                retries += 1;
            }
        }
        assert_eq!(f64::from(retries), f64::from(calls) * ratio, "{ratio}");
    }
}

#[tokio::test(start_paused = true)]
async fn per_second_adds_tokens_over_time_up_to_the_capacity() {
    let budget = Budget::standard().capacity(100).per_second(1.0);
    while budget.withdraw(Kind::Throttled) {}
    for (wait, available) in [(0, 0.0), (5, 5.0), (1000, 100.0)] {
        advance(secs(wait)).await;
        assert_eq!(budget.available(), available);
    }
    // It is full once time has refilled it.
    assert!(budget.withdraw(Kind::Throttled));
    advance(secs(4)).await;
    assert!(!budget.is_full());
    advance(secs(1)).await;
    assert!(budget.is_full());
    // From then on, time adds nothing.
    advance(secs(3600)).await;
    while budget.withdraw(Kind::Throttled) {}
    assert_eq!(budget.available(), 0.0);
    advance(secs(2)).await;
    assert_eq!(budget.available(), 2.0);
}

#[tokio::test(start_paused = true)]
async fn tokens_are_added_after_the_clock_was_set_back() {
    let budget = Budget::standard().capacity(100).per_second(1.0);
    let far_ahead = || {
        runtime::paused().block_on(async {
            advance(secs(3600)).await;
            while budget.withdraw(Kind::Throttled) {}
        });
    };
    thread::scope(|threads| threads.spawn(far_ahead).join().unwrap());
    assert_eq!(budget.available(), 0.0);
    advance(secs(5)).await;
    assert_eq!(budget.available(), 5.0);
}

#[tokio::test(start_paused = true)]
async fn a_budget_unused_for_ten_minutes_makes_room_for_another_key() {
    type Take = fn(&Budget);

    let withdraw = |budget: &Budget| {
        budget.withdraw(Kind::Transient);
    };
    let takes: [(fn() -> Budget, Take); 3] = rows! {
        Budget::standard, withdraw;
        || Budget::grpc(10, 0.1), |budget| { budget.failed(Kind::Transient); };
        // Even if no token is left.
        || Budget::standard().capacity(14),
            |budget| { budget.withdraw(Kind::Transient); budget.withdraw(Kind::Transient); };
    };
    for (make, take) in takes {
        let hosts: Keyed<String, Budget> = Keyed::new(1, make);
        take(&hosts.of("a"));
        let shared = hosts.of("b");
        advance(secs(60)).await;
        hosts.of("a");
        advance(secs(599)).await;
        assert!(Arc::ptr_eq(&hosts.of("b"), &shared));
        advance(secs(1)).await;
        take(&hosts.of("b"));
        assert!(!Arc::ptr_eq(&hosts.of("b"), &shared));
        assert!(Arc::ptr_eq(&hosts.of("a"), &shared));
    }
}

/// The time of the search is proportional to the number of keys.
#[tokio::test(start_paused = true)]
async fn keyed_checks_for_room_again_after_a_second() {
    let hosts: Keyed<String, Budget> = Keyed::new(1, Budget::standard);
    assert!(hosts.of("a").withdraw(Kind::Transient));
    let shared = hosts.of("b");
    hosts.of("a").refund(Kind::Transient);
    advance(millis(999)).await;
    assert!(Arc::ptr_eq(&hosts.of("b"), &shared));
    advance(millis(1)).await;
    assert!(!Arc::ptr_eq(&hosts.of("b"), &shared));
    // A freed slot is found at once.
    assert!(!Arc::ptr_eq(&hosts.of("c"), &shared));
}

#[test]
fn numbers_out_of_range_are_the_nearest_within() {
    for ratio in [-1.0, f64::NAN, 0.0] {
        let budget = Budget::ratio(ratio).capacity(0);
        budget.called();
        assert!(!budget.withdraw(Kind::Transient), "{ratio}");
    }
    let budget = Budget::ratio(f64::INFINITY).capacity(2000);
    while budget.withdraw(Kind::Transient) {}
    budget.called();
    assert_eq!(budget.to_string(), "1000 of 2000 tokens");
}

#[test]
fn budget_without_a_value_is_shared_by_all_calls_of_a_function() {
    #[retry(max = 5, backoff = "none", budget)]
    fn generic<T: Default>(script: &mut Script) -> Result<T, Failure> {
        script.next().map(|_| T::default())
    }

    struct Client;

    #[retry(max = 5, backoff = "none", budget)]
    impl Client {
        fn first(&self, script: &mut Script) -> Result<usize, Failure> {
            script.next()
        }

        fn second(&self, script: &mut Script) -> Result<usize, Failure> {
            script.next()
        }
    }

    let mut script = Script::failing();
    for _ in 0..50 {
        generic::<u8>(&mut script).unwrap_err();
        generic::<String>(&mut script).unwrap_err();
    }
    // 35 retries of 14 tokens.
    assert_eq!(script.attempts, 100 + 35);
    for _ in 0..50 {
        Client.first(&mut script).unwrap_err();
    }
    assert_eq!(script.attempts, 100 + 35 + 50 + 35);
    let ran = run!([TRANSIENT; 9], |script| Client.second(script));
    assert_eq!(ran, (Err(TRANSIENT), 6));
}

#[test]
fn each_key_has_a_budget_and_their_number_is_limited() {
    let hosts: Keyed<String, Budget> = Keyed::new(2, Budget::standard);
    assert!(hosts.is_empty());
    let drain = |host: &str| while hosts.of(host).withdraw(Kind::Transient) {};
    drain("a");
    assert_eq!(hosts.of("a").to_string(), "10 of 500 tokens");
    assert_eq!(hosts.of("b").to_string(), "500 of 500 tokens");
    // "b" is full, so removing it loses no state.
    drain("c");
    assert_eq!(hosts.len(), 2);
    assert_eq!(hosts.of("a").to_string(), "10 of 500 tokens");
    // No room: made-up keys share one budget.
    drain("d");
    assert_eq!(hosts.of("e").to_string(), "10 of 500 tokens");
    assert!(!hosts.is_empty());
    // One that a call holds stays, full or not.
    let hosts: Keyed<String, Budget> = Keyed::new(1, Budget::standard);
    let held = hosts.of("a");
    assert!(!Arc::ptr_eq(&hosts.of("b"), &held));
    assert!(Arc::ptr_eq(&hosts.of("a"), &held));
}

proptest! {
    /// For any outcomes and ends of calls, no token is created, and exactly the cost of the retries is missing.
    #[test]
    fn tokens_are_neither_lost_nor_invented(
        scripts in proptest::collection::vec(proptest::collection::vec(0_u8..3, 0..8), 0..40),
        capacity in 0_u32..200,
    ) {
        let budget = Budget::standard().capacity(capacity);
        let mut model = u64::from(capacity);
        let cost = |failure: &Failure| if *failure == THROTTLED { 5 } else { 14 };
        for script in scripts {
            let failures: Vec<_> = script
                .into_iter()
                .map(|step| [TRANSIENT, THROTTLED, STOP][usize::from(step)].clone())
                .collect();
            let mut call = Script::new(failures.clone());
            let outcome = step(&mut call, &budget);
            for retried in &failures[..call.attempts - 1] {
                model -= cost(retried);
            }
            if outcome.is_ok() || outcome == Err(STOP) {
                let last = call.attempts.checked_sub(2).map(|last| cost(&failures[last]));
                model = (model + last.unwrap_or(1)).min(u64::from(capacity));
            }
            prop_assert_eq!(budget.to_string(), format!("{model} of {capacity} tokens"));
        }
    }
}
