//! The keys `on` and `until`: what is retried.

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

scripted! {
    #[retry(max = 2, backoff = "none", on = Status::is_retryable)]
    fn by_method(tries: &mut u32, status: u16) -> Result<(), Status> = fail(tries, status);
    #[retry(max = 2, backoff = "none", on = verdict)]
    fn by_verdict(tries: &mut u32, status: u16) -> Result<(), Status> = fail(tries, status);
    #[retry(max = 2, backoff = "none", on = |error| error.0 == status && *tries < 2)]
    async fn by_closure(tries: &mut u32, status: u16) -> Result<(), Status> = fail(tries, status);
    #[retry(max = 2, backoff = "none", on = |error| { seen.push(error.0); true })]
    fn by_changing_closure(seen: &mut Vec<u16>) -> Result<(), Status> = {
        seen.push(0);
        Err(Status(418))
    };
}

fn fail(tries: &mut u32, status: u16) -> Result<(), Status> {
    *tries += 1;
    Err(Status(status))
}

#[tokio::test]
async fn says_what_is_retried() {
    for (call, status, expected) in rows! {
        by_method as fn(&mut u32, u16) -> _, 503, 3;
        by_method, 429, 1;
        by_method, 418, 1;
        by_verdict, 503, 3;
        by_verdict, 429, 3;
        by_verdict, 418, 1;
    } {
        let mut tries = 0;
        assert_eq!(call(&mut tries, status), Err(Status(status)));
        assert_eq!(tries, expected, "{status}");
    }
    let mut tries = 0;
    assert_eq!(by_closure(&mut tries, 418).await, Err(Status(418)));
    assert_eq!(tries, 2);
    let mut seen = Vec::new();
    assert_eq!(by_changing_closure(&mut seen), Err(Status(418)));
    assert_eq!(seen, [0, 418, 0, 418, 0, 418]);
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

#[test]
fn errors_are_shown_by_what_they_have() {
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
        #[retry(max = 0, name = "n", on = |_| true)] fn nameless() -> Result<(), Nameless> = Err(Nameless);
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
    assert!(nameless().is_err() && derefs().is_err());
    generic("quoted");
    let expected = [
        "gave up n attempt=1 max=0 error=calls::keys::on::Nameless reason=exhausted",
        "gave up r attempt=1 max=0 error=calls::keys::on::errors_are_shown_by_what_they_have::Derefs reason=exhausted",
        "gave up g attempt=1 max=0 error=&str reason=exhausted",
    ];
    assert_eq!(recording.lines(), expected);
}

#[expect(clippy::ptr_arg, reason = "the value's type")]
fn is_long(text: &String) -> bool {
    text.len() > 3
}

#[test]
fn until_may_be_a_path_and_see_the_arguments() {
    #[retry(max = 5, backoff = "none", until = is_long)]
    fn path(text: &mut String) -> Result<String, Failure> {
        text.push('a');
        Ok(text.clone())
    }

    #[retry(max = 5, backoff = "none", until = |length| *length >= wanted, transient(max = 2),
        give_up = |gave_up| panic!("{}", gave_up.reason() == Reason::Exhausted))]
    fn closure(text: &mut String, wanted: usize) -> Result<usize, Failure> {
        text.push('a');
        Ok(text.len())
    }

    assert_eq!(path(&mut String::new()).as_deref(), Ok("aaaa"));
    assert_eq!(closure(&mut String::new(), 2), Ok(2));
    assert_eq!(closure(&mut String::new(), 9), Ok(3));
}
