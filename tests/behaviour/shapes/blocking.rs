//! Blocking functions, which block their thread during pauses.

use std::time::Instant;

use support::prelude::*;

use crate::shapes::{Busy, Flaky, check_blocking};

#[retry(policy = flaky.policy, on = |_| true)]
fn free(flaky: &Flaky) -> Result<u32, Busy> {
    flaky.answer()
}

struct Client<'a> {
    flaky: &'a Flaky,
    calls: u32,
}

impl Client<'_> {
    #[retry(policy = self.flaky.policy, on = |_| true)]
    fn by_ref(&self, prompt: &str) -> Result<u32, Busy> {
        Ok(self.flaky.answer_to(prompt)?)
    }

    #[retry(policy = self.flaky.policy, on = |_| true)]
    fn by_mut(&mut self, prompt: String) -> Result<u32, Busy> {
        assert_eq!(prompt, "hello");
        self.calls += 1;
        let answer = self.flaky.answer();
        if answer.is_err() {
            return answer;
        }
        answer
    }
}

#[test]
fn blocking() {
    check_blocking!(|flaky| free(flaky));
    check_blocking!(|flaky| Client { flaky, calls: 0 }.by_ref("hello"));
    check_blocking!(|flaky| {
        let mut client = Client { flaky, calls: 0 };
        let outcome = client.by_mut(String::from("hello"));
        assert_eq!(client.calls, flaky.attempts());
        outcome
    });
}

#[retry(max = 2, backoff = "fixed", base = "5ms", jitter = "none", on = |_| true)]
fn sleeps(attempts: &mut u32) -> Result<(), Busy> {
    *attempts += 1;
    Err(Busy(*attempts))
}

#[test]
fn the_thread_really_sleeps() {
    let start = Instant::now();
    let mut attempts = 0;
    assert_eq!(sleeps(&mut attempts), Err(Busy(3)));
    assert_eq!(attempts, 3);
    assert!(start.elapsed() >= Duration::from_millis(10));
}
