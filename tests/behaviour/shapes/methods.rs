//! Free functions and methods, by receiver: async ones, and those that block their thread during pauses.

use support::prelude::*;

use crate::shapes::{Busy, Flaky, check, check_blocking};

scripted! {
    #[retry(policy = flaky.policy, on = |_| true)]
    async fn free(flaky: &Flaky) -> Result<u32, Busy> = flaky.answer();
    #[retry(policy = flaky.policy, on = |_| true)]
    fn free_blocking(flaky: &Flaky) -> Result<u32, Busy> = flaky.answer();
    #[retry(max = 2, backoff = "fixed", base = "5ms", jitter = "none", on = |_| true)]
    fn sleeps(attempts: &mut u32) -> Result<(), Busy> = { *attempts += 1; Err(Busy(*attempts)) };
}

#[derive(Clone)]
struct Client<'a> {
    flaky: &'a Flaky,
    calls: u32,
}

impl<'a> Client<'a> {
    scripted! {
        #[retry(policy = flaky.policy, on = |_| true)]
        async fn associated(flaky: &'a Flaky) -> Result<u32, Busy> = flaky.answer();
        #[retry(policy = self.flaky.policy, on = |_| true)]
        async fn by_ref(&self) -> Result<u32, Busy> = self.flaky.answer();
        #[retry(policy = self.flaky.policy, on = |_| true)]
        async fn by_mut(&mut self) -> Result<u32, Busy> = { self.calls += 1; self.flaky.answer() };
        #[retry(policy = self.flaky.policy, on = |_| true)]
        async fn by_value(self) -> Result<u32, Busy> = self.flaky.answer();
        #[retry(policy = self.flaky.policy, on = |_| true)]
        async fn by_mut_value(mut self) -> Result<u32, Busy> = {
            self.calls += 1;
            assert_eq!(self.calls, self.flaky.attempts() + 1);
            self.flaky.answer()
        };
        #[retry(policy = self.flaky.policy, on = |_| true)]
        async fn by_box(self: Box<Self>) -> Result<u32, Busy> = self.flaky.answer();
        #[retry(policy = self.flaky.policy, on = |_| true)]
        async fn by_arc(self: Arc<Self>) -> Result<u32, Busy> = self.flaky.answer();
        #[retry(policy = self.flaky.policy, on = |_| true)]
        async fn by_rc_ref(self: &Rc<Self>) -> Result<u32, Busy> = self.flaky.answer();
        #[retry(policy = self.flaky.policy, on = |_| true)]
        async fn by_pin(mut self: Pin<&mut Self>) -> Result<u32, Busy> = { self.calls += 1; self.flaky.answer() };
        #[retry(policy = self.flaky.policy, on = |_| true)]
        fn blocking_by_ref(&self, prompt: &str) -> Result<u32, Busy> = Ok(self.flaky.answer_to(prompt)?);
        #[retry(policy = self.flaky.policy, on = |_| true)]
        fn blocking_by_mut(&mut self, prompt: String) -> Result<u32, Busy> = {
            self.calls += 1;
            self.flaky.answer_to(&prompt)
        };
    }

    /// Checks that each attempt changed the client itself.
    fn assert_changed(&self) {
        assert_eq!(self.calls, self.flaky.attempts());
    }
}

fn client(flaky: &Flaky) -> Client<'_> {
    Client { flaky, calls: 0 }
}

#[tokio::test(start_paused = true)]
async fn every_receiver() {
    check!(|flaky| free(flaky).await);
    check!(|flaky| Client::associated(flaky).await);
    check!(|flaky| client(flaky).by_ref().await);
    check!(|flaky| {
        let mut client = client(flaky);
        let outcome = client.by_mut().await;
        client.assert_changed();
        outcome
    });
    check!(|flaky| client(flaky).by_value().await);
    check!(|flaky| client(flaky).by_mut_value().await);
    check!(|flaky| Box::new(client(flaky)).by_box().await);
    check!(|flaky| Arc::new(client(flaky)).by_arc().await);
    check!(|flaky| Rc::new(client(flaky)).by_rc_ref().await);
    check!(|flaky| {
        let mut client = client(flaky);
        let outcome = Pin::new(&mut client).by_pin().await;
        client.assert_changed();
        outcome
    });
    check_blocking!(|flaky| free_blocking(flaky));
    check_blocking!(|flaky| client(flaky).blocking_by_ref("hello"));
    check_blocking!(|flaky| {
        let mut client = client(flaky);
        let outcome = client.blocking_by_mut(String::from("hello"));
        client.assert_changed();
        outcome
    });
}

#[test]
fn the_thread_really_sleeps() {
    let start = std::time::Instant::now();
    let mut attempts = 0;
    assert_eq!(sleeps(&mut attempts), Err(Busy(3)));
    assert_eq!(attempts, 3);
    assert!(start.elapsed() >= millis(10));
}
