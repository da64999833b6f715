//! The history of a call that never ends: its first and last errors, and the counts.

use retry_runtime::{GaveUp, Reason, retry};

/// An error with a number.
#[derive(Clone, Debug, PartialEq)]
struct Numbered(u32);

#[test]
fn the_first_10_errors_and_the_last_100_are_kept() {
    #[retry(max = "unlimited", backoff = "none", attempt = attempt, on = |error: &Numbered| error.0 < 100_000,
        give_up = |gave_up: GaveUp<Numbered>| {
            assert_eq!((gave_up.attempts(), gave_up.reason()), (100_000, Reason::NotRetryable));
            assert_eq!(gave_up.errors_left_out(), 100_000 - 111);
            let numbers: Vec<_> = gave_up.errors().map(|error| error.0).collect();
            assert!(numbers.iter().copied().eq((1..=10).chain(99_900..=100_000)));
            assert_eq!(gave_up.clone().into_errors().len(), 111);
            gave_up.into_error()
        })]
    fn call() -> Result<(), Numbered> {
        let number = attempt.number();
        assert!(attempt.errors().len() <= 110);
        let kept = u64::try_from(attempt.errors().len()).unwrap();
        assert_eq!(kept + attempt.errors_left_out(), u64::from(number) - 1);
        let last = attempt.last_error().map(|error| error.0);
        assert_eq!(last, (number > 1).then(|| number - 1));
        Err(Numbered(number))
    }

    assert_eq!(call(), Err(Numbered(100_000)));
}

#[test]
fn repeats_count_further_than_what_is_kept() {
    #[retry(max = "unlimited", backoff = "none", repeats = 1_000, on = |_| true)]
    fn call(attempts: &mut u32) -> Result<(), Numbered> {
        *attempts += 1;
        // The row breaks after 500.
        Err(Numbered(u32::from(*attempts > 500)))
    }

    let mut attempts = 0;
    assert_eq!(call(&mut attempts), Err(Numbered(1)));
    assert_eq!(attempts, 1_500);
}

#[test]
fn a_rejected_value_ends_the_row() {
    #[retry(max = "unlimited", backoff = "none", repeats = 3, until = |()| false, on = |_| true)]
    fn call(outcomes: &mut Vec<Result<(), Numbered>>) -> Result<(), Numbered> {
        outcomes.pop().expect("given up before")
    }

    let (busy, rejected) = (Err(Numbered(0)), Ok(()));
    let mut outcomes = [&busy, &busy, &rejected, &busy, &busy, &busy, &busy]
        .map(Clone::clone)
        .to_vec();
    outcomes.reverse();
    assert_eq!(call(&mut outcomes), busy);
    assert_eq!(outcomes.len(), 1);
}
