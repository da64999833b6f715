//! Free functions and methods, by receiver.

use support::prelude::*;

use crate::shapes::{Busy, Flaky, check};

#[retry(policy = flaky.policy, on = |_| true)]
async fn free(flaky: &Flaky) -> Result<u32, Busy> {
    flaky.answer()
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
        assert_eq!(client.calls, flaky.attempts());
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
        assert_eq!(client.calls, flaky.attempts());
        outcome
    });
}
