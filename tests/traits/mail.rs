//! Mail, blocking. The asynchronous trait is in `tests/clients/foreign_traits.rs`.

use lettre::address::Envelope;
use lettre::{Message, Transport as _};
use retry_runtime::retry;

use crate::Attempts;

#[retry(wrapper = RetryMail, of = lettre::Transport, max = 3, backoff = "none", on = |_| true)]
trait Transport {
    type Ok;
    type Error;
    fn send(&self, message: &Message) -> Result<Self::Ok, Self::Error>;
    fn send_raw(&self, envelope: &Envelope, email: &[u8]) -> Result<Self::Ok, Self::Error>;
    fn shutdown(&self);
}

struct Server(Attempts);

impl lettre::Transport for Server {
    type Ok = usize;
    type Error = &'static str;

    fn send_raw(&self, _: &Envelope, email: &[u8]) -> Result<usize, &'static str> {
        self.0.make(email.len(), "disconnected")
    }
}

#[test]
fn a_message() {
    let message = Message::builder()
        .from("one@example.org".parse().unwrap())
        .to("two@example.org".parse().unwrap())
        .body(String::from("hello"))
        .unwrap();
    let transport = RetryMail::new(Server(Attempts::default()));
    assert_eq!(transport.send(&message), Ok(message.formatted().len()));
    assert_eq!(transport.inner().0.made(), 3);
}
