//! The arguments that decorators pass on.

use support::prelude::*;

use crate::decorators::Busy;

std::thread_local! {
    static CLONES: Cell<u32> = const { Cell::new(0) };
}

/// Counts its clones.
#[derive(Debug, PartialEq)]
struct Prompt(&'static str);

impl Clone for Prompt {
    fn clone(&self) -> Self {
        CLONES.set(CLONES.get() + 1);
        Self(self.0)
    }
}

/// A type that is not `Clone`.
struct Unique(u32);

#[retry(wrapper = Retrying, max = 2, backoff = "none", throttled(max = 1), on = verdict)]
trait Client {
    async fn owned(&self, prompt: Prompt, copied: u32) -> Result<u32, Busy>;
    async fn borrowed(&self, unique: &Unique, log: &mut Vec<u32>, _: &str) -> Result<u32, Busy>;
    fn blocking(&mut self, prompt: Prompt) -> Result<u32, Busy>;
    fn future(&self, prompt: Prompt) -> impl Future<Output = Result<u32, Busy>>;
    #[retry(skip)]
    fn unique(&self, unique: Unique) -> Result<u32, Busy>;
    fn plain(&self, unique: Unique) -> u32;
    #[retry(max = 0, throttled(max = 0))]
    async fn never(&self, prompt: Prompt) -> Result<u32, Busy>;
    async fn provided(&self, mut prompt: Prompt) -> Result<u32, Busy> {
        prompt.0 = "changed";
        self.owned(prompt, 1).await
    }
}

fn verdict(busy: &Busy) -> Verdict {
    if busy.0 == 429 {
        Verdict::THROTTLED
    } else {
        Verdict::TRANSIENT
    }
}

/// Fails with these errors, then succeeds.
#[derive(Default)]
struct Script(RefCell<Vec<u32>>);

impl Script {
    fn next(&self) -> Result<u32, Busy> {
        match self.0.borrow_mut().pop() {
            Some(error) => Err(Busy(error)),
            None => Ok(7),
        }
    }
}

impl Client for Script {
    async fn owned(&self, prompt: Prompt, copied: u32) -> Result<u32, Busy> {
        assert_eq!((prompt.0, copied), ("hello", 1));
        self.next()
    }

    async fn borrowed(&self, unique: &Unique, log: &mut Vec<u32>, _: &str) -> Result<u32, Busy> {
        log.push(unique.0);
        self.next()
    }

    fn blocking(&mut self, prompt: Prompt) -> Result<u32, Busy> {
        assert_eq!(prompt.0, "hello");
        self.next()
    }

    fn future(&self, prompt: Prompt) -> impl Future<Output = Result<u32, Busy>> {
        assert_eq!(prompt.0, "hello");
        ready(self.next())
    }

    fn unique(&self, unique: Unique) -> Result<u32, Busy> {
        Err(Busy(unique.0))
    }

    fn plain(&self, unique: Unique) -> u32 {
        unique.0
    }

    async fn never(&self, prompt: Prompt) -> Result<u32, Busy> {
        assert_eq!(prompt.0, "hello");
        self.next()
    }
}

fn client(errors: &[u32]) -> Retrying<Script> {
    Retrying::new(Script(RefCell::new(errors.to_vec())))
}

const HELLO: Prompt = Prompt("hello");

#[tokio::test]
async fn owned_ones_are_cloned_for_every_attempt_but_the_last_that_can_happen() {
    // 1 throttled and 2 other retries can happen.
    for (errors, outcome, clones) in [
        (vec![], Ok(7), 1),
        (vec![500], Ok(7), 2),
        (vec![500; 9], Err(Busy(500)), 3),
        (vec![500, 500, 429], Ok(7), 3),
        (vec![500, 500, 500, 429], Err(Busy(500)), 3),
        (vec![429, 429], Err(Busy(429)), 2),
    ] {
        CLONES.set(0);
        assert_eq!(client(&errors).owned(HELLO, 1).await, outcome);
        assert_eq!(CLONES.get(), clones, "{errors:?}");
    }
    CLONES.set(0);
    assert_eq!(client(&[500]).never(HELLO).await, Err(Busy(500)));
    assert_eq!(CLONES.get(), 0);
}

std::thread_local! {
    static ASKED: Cell<u32> = const { Cell::new(0) };
}

#[retry(wrapper = Growing, max = ASKED.get(), backoff = "none", on = verdict)]
trait Ask {
    async fn ask(&self, prompt: Prompt) -> Result<u32, Busy>;
}

struct Failing;

impl Ask for Failing {
    async fn ask(&self, _: Prompt) -> Result<u32, Busy> {
        ASKED.set(ASKED.get() + 1);
        Err(Busy(500))
    }
}

#[tokio::test]
async fn a_last_attempt_stays_the_last_even_if_the_limit_grows() {
    ASKED.set(0);
    assert_eq!(Growing::new(Failing).ask(HELLO).await, Err(Busy(500)));
    assert_eq!(ASKED.get(), 1);
}

#[tokio::test]
async fn borrowed_ones_are_handed_on() {
    let mut log = Vec::new();
    let outcome = client(&[500; 9]).borrowed(&Unique(3), &mut log, "").await;
    assert_eq!((outcome, log), (Err(Busy(500)), vec![3, 3, 3]));
}

#[tokio::test]
async fn arguments_are_passed_on_in_every_kind_of_method() {
    assert_eq!(client(&[1, 2]).blocking(HELLO), Ok(7));
    assert_eq!(client(&[1, 2]).future(HELLO).await, Ok(7));
    assert_eq!(client(&[1, 2]).unique(Unique(5)), Err(Busy(5)));
    assert_eq!(client(&[]).plain(Unique(5)), 5);
}

#[tokio::test]
#[should_panic(expected = "changed")]
async fn a_provided_body_may_change_its_argument() {
    let _ = client(&[]).provided(HELLO).await;
}
