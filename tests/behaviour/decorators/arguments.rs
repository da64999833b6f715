//! The arguments that decorators pass on.

use support::prelude::*;

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

#[retry(wrapper = Retrying, max = 2, backoff = "none", throttled(max = 1))]
trait Client {
    async fn owned(&self, prompt: Prompt, copied: u32) -> Result<usize, Failure>;
    async fn borrowed(&self, unique: &Unique, log: &mut Vec<u32>, _: &str) -> Result<(), Failure>;
    fn blocking(&mut self, prompt: Prompt) -> Result<usize, Failure>;
    fn future(&self, prompt: Prompt) -> impl Future<Output = Result<usize, Failure>>;
    #[retry(skip)]
    fn unique(&self, unique: Unique) -> Result<(), u32>;
    fn plain(&self, unique: Unique) -> u32;
    #[retry(max = 0, throttled(max = 0))]
    async fn never(&self, prompt: Prompt) -> Result<usize, Failure>;
    async fn provided(&self, mut prompt: Prompt) -> Result<usize, Failure> {
        prompt.0 = "changed";
        self.owned(prompt, 1).await
    }
}

impl Client for RefCell<Script> {
    scripted! {
        async fn owned(&self, prompt: Prompt, copied: u32) -> Result<usize, Failure> = {
            assert_eq!((prompt.0, copied), ("hello", 1));
            self.borrow_mut().next()
        };
        async fn borrowed(&self, unique: &Unique, log: &mut Vec<u32>, _: &str) -> Result<(), Failure> = {
            log.push(unique.0);
            Err(TRANSIENT)
        };
        fn blocking(&mut self, prompt: Prompt) -> Result<usize, Failure> = {
            assert_eq!(prompt.0, "hello");
            self.get_mut().next()
        };
        fn future(&self, prompt: Prompt) -> impl Future<Output = Result<usize, Failure>> = {
            assert_eq!(prompt.0, "hello");
            ready(self.borrow_mut().next())
        };
        fn unique(&self, unique: Unique) -> Result<(), u32> = Err(unique.0);
        fn plain(&self, unique: Unique) -> u32 = unique.0;
        async fn never(&self, prompt: Prompt) -> Result<usize, Failure> = self.owned(prompt, 1).await;
    }
}

fn client(steps: impl IntoIterator<Item = Failure>) -> Retrying<RefCell<Script>> {
    Retrying::new(RefCell::new(Script::new(steps)))
}

const HELLO: Prompt = Prompt("hello");

#[tokio::test]
async fn owned_ones_are_cloned_for_every_attempt_but_the_last_that_can_happen() {
    // 1 throttled and 2 other retries can happen.
    for (steps, outcome, clones) in rows! {
        vec![], Ok(1), 1;
        vec![TRANSIENT], Ok(2), 2;
        vec![TRANSIENT; 9], Err(TRANSIENT), 3;
        vec![THROTTLED, TRANSIENT, TRANSIENT], Ok(4), 3;
        vec![THROTTLED, TRANSIENT, TRANSIENT, TRANSIENT], Err(TRANSIENT), 3;
        vec![THROTTLED; 2], Err(THROTTLED), 2;
    } {
        CLONES.set(0);
        let client = client(steps.clone());
        assert_eq!(client.owned(HELLO, 1).await, outcome);
        assert_eq!(CLONES.get(), clones, "{steps:?}");
    }
    CLONES.set(0);
    assert_eq!(client([TRANSIENT]).never(HELLO).await, Err(TRANSIENT));
    assert_eq!(CLONES.get(), 0);
}

std::thread_local! {
    static ASKED: Cell<u32> = const { Cell::new(0) };
}

#[retry(wrapper = Growing, max = ASKED.get(), backoff = "none")]
trait Ask {
    async fn ask(&self, prompt: Prompt) -> Result<(), Failure>;
}

impl Ask for () {
    async fn ask(&self, _: Prompt) -> Result<(), Failure> {
        ASKED.set(ASKED.get() + 1);
        Err(TRANSIENT)
    }
}

#[tokio::test]
async fn a_last_attempt_stays_the_last_even_if_the_limit_grows() {
    assert_eq!(Growing::new(()).ask(HELLO).await, Err(TRANSIENT));
    assert_eq!(ASKED.get(), 1);
}

#[tokio::test]
async fn arguments_are_passed_on_in_every_kind_of_method() {
    let mut log = Vec::new();
    let outcome = client([]).borrowed(&Unique(3), &mut log, "").await;
    assert_eq!((outcome, log), (Err(TRANSIENT), vec![3, 3, 3]));
    assert_eq!(client([TRANSIENT; 2]).blocking(HELLO), Ok(3));
    assert_eq!(client([TRANSIENT; 2]).future(HELLO).await, Ok(3));
    assert_eq!(client([]).unique(Unique(5)), Err(5));
    assert_eq!(client([]).plain(Unique(5)), 5);
}

#[tokio::test]
#[should_panic(expected = "changed")]
async fn a_provided_body_may_change_its_argument() {
    let _ = client([]).provided(HELLO).await;
}
