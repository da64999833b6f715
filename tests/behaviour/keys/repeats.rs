use support::prelude::*;

/// Runs a call of at most 10 attempts whose errors come in equal pairs.
macro_rules! pairs {
    ($error:ident, |$number:ident| $make:expr) => {{
        #[retry(max = 9, backoff = "none", repeats = times, on = |_| Verdict::TRANSIENT)]
        fn call(attempts: &mut u32, times: usize) -> Result<(), $error> {
            let $number = *attempts / 2;
            *attempts += 1;
            Err($make)
        }

        let mut attempts = 0;
        let _ = call(&mut attempts, 2);
        let pairs = attempts;
        attempts = 0;
        let _ = call(&mut attempts, 3);
        (pairs, attempts)
    }};
}

#[test]
fn a_computed_number_that_is_too_small_counts_as_the_smallest() {
    scripted! { #[retry(max = 9, backoff = "none", repeats = times)] fn call(times: i64); }

    for (times, attempts) in [(i64::MIN, 2), (-1, 2), (0, 2), (1, 2), (2, 2), (3, 3)] {
        let ran = run!([TRANSIENT; 9], |script| call(times, script));
        assert_eq!(ran, (Err(TRANSIENT), attempts), "{times}");
        let different = [TRANSIENT, THROTTLED, TRANSIENT];
        let ran = run!(different, |script| call(times, script));
        assert_eq!(ran, (Ok(4), 4), "{times}");
    }
}

struct OnlyDisplay(u32);

impl fmt::Display for OnlyDisplay {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)
    }
}

#[derive(Debug)]
#[expect(dead_code, reason = "read by Debug")]
struct OnlyDebug(u32);

/// Not equal to any other error, even with the same text.
struct NeverEqual(u32);

impl PartialEq for NeverEqual {
    fn eq(&self, _: &Self) -> bool {
        false
    }
}

impl fmt::Display for NeverEqual {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the same {}", self.0 * 0)
    }
}

#[test]
fn errors_are_compared_by_value_else_by_text() {
    assert_rows! {
        pairs!(u32, |number| number) => (2, 10);
        pairs!(OnlyDisplay, |number| OnlyDisplay(number)) => (2, 10);
        pairs!(OnlyDebug, |number| OnlyDebug(number)) => (2, 10);
        pairs!(NeverEqual, |number| NeverEqual(number)) => (10, 10);
    }
}

#[test]
fn repeats_count_further_than_the_errors_that_are_kept() {
    scripted! { #[retry(max = "unlimited", backoff = "none", repeats = 1_000)] fn call(); }

    // The row breaks after 500.
    let steps = [vec![THROTTLED; 500], vec![TRANSIENT; 2_000]].concat();
    let ran = run!(steps, |script| call(script));
    assert_eq!(ran, (Err(TRANSIENT), 1_500));
}

#[test]
fn a_rejected_value_ends_the_row() {
    scripted! {
        #[retry(max = "unlimited", backoff = "none", repeats = 3, until = |()| false)]
        fn call(outcomes: &mut VecDeque<Result<(), Failure>>) = outcomes.pop_front().expect("given up before");
    }

    let busy = || Err(TRANSIENT);
    let outcomes = [busy(), busy(), Ok(()), busy(), busy(), busy(), busy()];
    let mut outcomes = VecDeque::from(outcomes);
    assert_eq!(call(&mut outcomes), busy());
    assert_eq!(outcomes.len(), 1);
}
