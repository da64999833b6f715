//! `#[retry]` on `impl` blocks.

#![allow(clippy::manual_async_fn, clippy::unused_async)]

use async_trait::async_trait;
use retry_runtime::Attempt;
use support::prelude::*;

#[derive(Debug, PartialEq, Eq)]
struct Busy(u32);

type QueryResult<T> = Result<T, Busy>;

#[derive(Debug, Default)]
struct Client {
    attempts: u32,
    policy: Policy,
}

impl Client {
    /// Fails every time.
    fn fail<T>(&mut self) -> Result<T, Busy> {
        self.attempts += 1;
        Err(Busy(self.attempts))
    }
}

#[derive(Debug, PartialEq, Eq)]
struct TcpStream(u32);

macro_rules! constant {
    () => {
        const FROM_MACRO: u32 = 7;
    };
}

#[retry(max = 2, backoff = "none", name = "client", throttled(max = 1), on = |_| Verdict::TRANSIENT)]
impl Client {
    #![allow(clippy::unused_self)]

    const CONSTANT: fn(u32) -> u32 = |number| number + 1;
    constant! {}

    /// Neither async nor a `Result`: not retried.
    fn new() -> Self {
        Self::default()
    }

    fn count(&self) -> u32 {
        self.attempts
    }

    /// Called a stream, and none of items: left alone.
    fn socket(&self) -> TcpStream {
        TcpStream(self.attempts)
    }

    fn opened(&mut self) -> Result<TcpStream, Busy> {
        self.fail()
    }

    fn connect(attempts: &mut u32) -> Result<Self, Busy> {
        *attempts += 1;
        if *attempts < 2 {
            return Err(Busy(*attempts));
        }
        Ok(Self::new())
    }

    fn blocking(&mut self) -> Result<(), Busy> {
        self.fail()
    }

    pub(crate) async fn asynchronous(&mut self, prompt: String) -> Result<String, Busy> {
        assert_eq!(prompt, "hello");
        self.fail()
    }

    fn future(&mut self) -> impl Future<Output = Result<(), Busy>> {
        async move { self.fail() }
    }

    fn boxed(&mut self) -> Pin<Box<dyn Future<Output = Result<(), Busy>> + Send + '_>> {
        Box::pin(async move { self.fail() })
    }

    fn alias(&mut self) -> QueryResult<()> {
        self.fail()
    }

    #[retry(skip)]
    async fn skipped(&mut self) -> Result<(), Busy> {
        self.fail()
    }

    #[retry(skip)]
    async fn not_a_result(&self) -> u32 {
        self.attempts
    }

    #[retry(max = 4)]
    async fn overridden(&mut self) -> Result<(), Busy> {
        self.fail()
    }

    #[retry(name = "own", attempt = attempt, until = |number| *number > 2)]
    async fn extended(&mut self) -> Result<u32, Busy> {
        let attempt: &Attempt<Busy> = attempt;
        self.attempts = attempt.number();
        Ok(attempt.number())
    }

    #[retry(policy = self.policy)]
    async fn by_policy(&mut self) -> Result<(), Busy> {
        self.fail()
    }

    #[retry]
    fn marked(&mut self) -> Result<(), Busy> {
        self.fail()
    }
}

async fn attempts<T>(call: impl AsyncFnOnce(&mut Client) -> T) -> u32 {
    let mut client = Client::new();
    call(&mut client).await;
    client.count()
}

#[tokio::test]
async fn every_method_that_can_fail_is_retried_unless_skipped() {
    assert_rows! {
        attempts(async |client| client.blocking()).await => 3;
        attempts(async |client| client.asynchronous(String::from("hello")).await).await => 3;
        attempts(async |client| client.future().await).await => 3;
        attempts(async |client| client.boxed().await).await => 3;
        attempts(async |client| client.alias()).await => 3;
        attempts(async |client| client.opened()).await => 3;
        attempts(async |client| client.marked()).await => 3;
    }
    let mut connections = 0;
    assert!(Client::connect(&mut connections).is_ok());
    assert_eq!(connections, 2);
    // Skipped methods and those that can't fail are not.
    assert_rows! {
        attempts(async |client| client.skipped().await).await => 1;
        attempts(async |client| client.not_a_result().await).await => 0;
        Client::new().socket() => TcpStream(0);
        Client::FROM_MACRO + (Client::CONSTANT)(1) => 9;
    }
}

#[tokio::test]
async fn a_method_overrides_single_keys() {
    assert_eq!(attempts(async |client| client.overridden().await).await, 5);
    assert_eq!(attempts(async |client| client.extended().await).await, 3);
    let own = async |client: &mut Client| {
        client.policy = Policy::none().max(1);
        client.by_policy().await
    };
    assert_eq!(attempts(own).await, 2);
    // The names are those of the block and of the method.
    let (recording, mut client) = (testing::record(), Client::new());
    client.blocking().unwrap_err();
    client.extended().await.unwrap();
    let lines = recording.lines();
    let names = [&lines[0], &lines[3]].map(|line| line.split(' ').nth(1));
    assert_eq!(names, [Some("client.blocking"), Some("own")]);
}

#[async_trait]
trait Model {
    type Answer;
    const NAME: &'static str;
    async fn complete(&mut self, prompt: String) -> Result<Self::Answer, Busy>;
    async fn embed(&mut self, texts: &[&str], (one, two): (u8, u8)) -> Result<u32, Busy>;
    fn name(&self) -> &'static str {
        Self::NAME
    }
}

#[retry(max = 1, backoff = "none", observe = |_| self.seen += 1, on = |_| true)]
#[async_trait]
impl<T: Send + Clone> Model for Generic<T>
where
    T: Default,
{
    type Answer = T;
    const NAME: &'static str = "generic";

    async fn complete(&mut self, prompt: String) -> Result<T, Busy> {
        self.prompts.push(prompt.clone());
        Err(Busy(0))
    }

    #[retry(max = 2)]
    async fn embed(&mut self, texts: &[&str], (one, two): (u8, u8)) -> Result<u32, Busy> {
        self.prompts.push(texts.concat());
        Err(Busy(u32::from(one + two)))
    }
}

#[derive(Default)]
struct Generic<T> {
    value: T,
    seen: u32,
    prompts: Vec<String>,
}

#[tokio::test]
async fn above_async_trait() {
    let mut model = Generic::<u32>::default();
    assert_eq!(model.complete(String::from("hello")).await, Err(Busy(0)));
    assert_eq!(model.prompts, ["hello", "hello"]);
    assert_eq!(model.seen, 4);
    model.prompts.clear();
    assert_eq!(model.embed(&["a", "b"], (1, 2)).await, Err(Busy(3)));
    assert_eq!(model.prompts, ["ab", "ab", "ab"]);
    assert_eq!((model.name(), model.value), ("generic", 0));
}

trait Native {
    fn fetch(&self, attempts: &mut u32) -> impl Future<Output = Result<(), Busy>>;
    async fn post(&self, attempts: &mut u32) -> Result<(), Busy>;
}

#[retry(max = 3, backoff = "none", on = |_| true)]
impl Native for () {
    async fn fetch(&self, attempts: &mut u32) -> Result<(), Busy> {
        count(attempts)
    }

    async fn post(&self, attempts: &mut u32) -> Result<(), Busy> {
        count(attempts)
    }
}

#[tokio::test]
async fn trait_impls() {
    assert_eq!(().fetch(&mut 0).await, Err(Busy(4)));
    assert_eq!(().post(&mut 0).await, Err(Busy(4)));
}

struct Sections(u32);

#[retry(max = 0, throttled(max = 5, base = "2s", jitter = "none"), on = |_| Verdict::THROTTLED)]
impl Sections {
    #[retry(throttled(base = "1s"))]
    async fn base(&mut self) -> Result<(), Busy> {
        count(&mut self.0)
    }

    #[retry(throttled(backoff = ["3s"]))]
    async fn list(&mut self) -> Result<(), Busy> {
        count(&mut self.0)
    }
}

#[tokio::test(start_paused = true)]
async fn a_methods_section_lies_over_the_blocks_key_by_key() {
    let recording = testing::record();
    assert_eq!(Sections(0).base().await, Err(Busy(6)));
    assert_eq!(recording.delays(), [1, 2, 4, 8, 16].map(secs));
    let recording = testing::record();
    assert_eq!(Sections(0).list().await, Err(Busy(6)));
    assert_eq!(recording.delays(), [secs(3); 5]);
}

struct Store(u32);

#[retry(max = 0, max_hint = "1s", name = String::from("store"), on = |_| Verdict::TRANSIENT,
    fallback = |_: GaveUp<Busy>| Ok(7))]
impl Store {
    fn read(&self) -> Result<u32, Busy> {
        Err(Busy(self.0))
    }

    #[retry(hint = "ignore", give_up = |gave_up: GaveUp<Busy>| Busy(gave_up.attempts() + 1))]
    fn write(&self) -> Result<u32, Busy> {
        Err(Busy(self.0))
    }
}

/// A method's keys for the end of a call, or for hints, replace all related keys of its block.
#[test]
fn keys_that_belong_together_are_replaced_together() {
    let recording = testing::record();
    assert_eq!(Store(1).read(), Ok(7));
    assert_eq!(Store(1).write(), Err(Busy(2)));
    assert_eq!(recording.of("store.read").attempts(), [1]);
    assert_eq!(recording.of("store.write").attempts(), [1]);
}

struct Max;

#[expect(clippy::unused_self, reason = "the shape under test")]
#[retry(
    max = 5,
    backoff = "none",
    transient(max = 2),
    throttled(max = 7, backoff = "fixed", base = "1s", jitter = "none"),
    on = |_| Verdict::TRANSIENT
)]
impl Max {
    fn inherited(&self, attempts: &mut u32) -> Result<(), Busy> {
        count(attempts)
    }

    #[retry(max = 0)]
    fn once(&self, attempts: &mut u32) -> Result<(), Busy> {
        count(attempts)
    }

    #[retry(max = 3, transient(max = 1))]
    fn own_section(&self, attempts: &mut u32) -> Result<(), Busy> {
        count(attempts)
    }

    #[retry(max = 3, on = |_| Verdict::THROTTLED)]
    async fn throttled(&self, attempts: &mut u32) -> Result<(), Busy> {
        count(attempts)
    }
}

fn count(attempts: &mut u32) -> Result<(), Busy> {
    *attempts += 1;
    Err(Busy(*attempts))
}

#[tokio::test(start_paused = true)]
async fn a_methods_max_beats_the_sections_of_its_block() {
    let start = Instant::now();
    assert_rows! {
        Max.inherited(&mut 0) => Err(Busy(3));
        Max.once(&mut 0) => Err(Busy(1));
        Max.own_section(&mut 0) => Err(Busy(2));
        Max.throttled(&mut 0).await => Err(Busy(4));
        // The rest of the section stays in force.
        start.elapsed() => secs(3);
    }
}
