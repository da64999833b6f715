use support::prelude::*;

#[derive(Debug, Clone, Copy, PartialEq)]
struct Status(u16);

impl Status {
    fn is_retryable(&self) -> bool {
        self.0 >= 500
    }
}

fn verdict(status: &Status) -> Verdict {
    match status.0 {
        429 => Verdict::THROTTLED,
        500.. => Verdict::TRANSIENT,
        _ => Verdict::STOP,
    }
}

struct Client {
    retried: Vec<u16>,
    attempts: u32,
}

impl Client {
    scripted! {
        #[retry(max = 2, backoff = "none", on = Status::is_retryable)]
        fn by_method(&mut self, status: u16) -> Result<(), Status> = self.fail(status);
        #[retry(max = 2, backoff = "none", on = verdict)]
        async fn by_verdict(&mut self, status: u16) -> Result<(), Status> = self.fail(status);
        #[retry(max = 2, backoff = "none", on = |status| self.retried.contains(&status.0))]
        fn by_closure(&mut self, status: u16) -> Result<(), Status> = self.fail(status);
        #[retry(max = 2, backoff = "none", on = |status| { self.retried.push(status.0); true })]
        async fn by_changing_closure(&mut self, status: u16) -> Result<(), Status> = self.fail(status);
    }

    fn fail(&mut self, status: u16) -> Result<(), Status> {
        self.attempts += 1;
        Err(Status(status))
    }

    fn attempts(&mut self) -> u32 {
        std::mem::take(&mut self.attempts)
    }
}

#[tokio::test]
async fn says_what_is_retried() {
    let mut client = Client {
        retried: vec![418],
        attempts: 0,
    };
    for (status, attempts) in [(503, 3), (429, 1), (418, 1)] {
        assert_eq!(client.by_method(status), Err(Status(status)));
        assert_eq!(client.attempts(), attempts);
    }
    for (status, attempts) in [(503, 3), (429, 3), (418, 1)] {
        assert_eq!(client.by_verdict(status).await, Err(Status(status)));
        assert_eq!(client.attempts(), attempts);
    }
    for (status, attempts) in [(503, 1), (418, 3)] {
        assert_eq!(client.by_closure(status), Err(Status(status)));
        assert_eq!(client.attempts(), attempts);
    }
    assert!(client.by_changing_closure(1).await.is_err());
    assert_eq!(client.retried, [418, 1, 1, 1]);
}

#[test]
fn without_on_the_error_type_decides() {
    #[retry(max = 2, backoff = "none")]
    fn call(kind: io::ErrorKind, attempts: &mut u32) -> io::Result<()> {
        *attempts += 1;
        Err(kind.into())
    }

    for (kind, expected) in [
        (io::ErrorKind::ConnectionRefused, 3),
        (io::ErrorKind::NotFound, 1),
    ] {
        let mut attempts = 0;
        assert_eq!(call(kind, &mut attempts).unwrap_err().kind(), kind);
        assert_eq!(attempts, expected);
    }
}

struct Nameless;

#[derive(Debug)]
#[expect(dead_code, reason = "read by Debug")]
struct Debugged(u8);

#[test]
fn errors_are_shown_by_what_they_have() {
    scripted! {
        #[retry(max = 0, name = "n", on = |_| true)]
        fn nameless() -> Result<(), Nameless> = Err(Nameless);
        #[retry(max = 0, name = "d", on = |_| true)]
        fn debugged() -> Result<(), Debugged> = Err(Debugged(7));
        #[retry(max = 0, name = "b", on = |_| true)]
        fn boxed() -> Result<(), Box<dyn Error>> = Err("503 overloaded".into());
    }

    /// The target of an error's `Deref` is not the error.
    #[derive(Debug)]
    struct Derefs(&'static str);

    impl std::ops::Deref for Derefs {
        type Target = str;

        fn deref(&self) -> &Self::Target {
            self.0
        }
    }

    scripted! {
        #[retry(max = 0, name = "r", on = |_| true)] fn derefs() -> Result<(), Derefs> = Err(Derefs("target"));
    }

    fn generic<E: fmt::Debug>(error: E) {
        #[retry(max = 0, name = "g", on = |_| true)]
        fn inner<E: fmt::Debug>(error: &mut Option<E>) -> Result<(), E> {
            Err(error.take().unwrap())
        }
        assert!(inner(&mut Some(error)).is_err());
    }

    let recording = testing::record();
    assert!(nameless().is_err() && debugged().is_err() && boxed().is_err());
    assert!(derefs().is_err());
    generic("quoted");
    let expected = [
        "gave up n attempt=1 max=0 error=calls::keys::on::Nameless reason=exhausted",
        "gave up d attempt=1 max=0 error=calls::keys::on::Debugged reason=exhausted",
        "gave up b attempt=1 max=0 error=503 overloaded reason=exhausted",
        "gave up r attempt=1 max=0 error=calls::keys::on::errors_are_shown_by_what_they_have::Derefs reason=exhausted",
        "gave up g attempt=1 max=0 error=&str reason=exhausted",
    ];
    assert_eq!(recording.lines(), expected);
}
