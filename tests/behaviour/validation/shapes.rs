//! Every shape of function, validator and corrector, each with its attempts counted.

use std::future::Future;
use std::sync::atomic::Ordering::Relaxed;

use support::prelude::*;

use crate::validation::{Answer, Missing, Model, ModelError, Overloaded, answer, check, secs};

async fn check_slowly(answer: &Answer) -> Result<(), ModelError> {
    sleep(secs(1)).await;
    check(answer)
}

/// A client with a schema of its own.
struct Client {
    required: &'static str,
    asked: AtomicU32,
}

impl Client {
    fn new() -> Self {
        Self {
            required: "age",
            asked: AtomicU32::new(0),
        }
    }

    fn ask(&self) -> Result<Answer, ModelError> {
        match self.asked.fetch_add(1, Relaxed) {
            0 => answer(&[]),
            1 => Err(Overloaded),
            _ => answer(&["age"]),
        }
    }

    async fn check(&self, answer: &Answer) -> Result<(), ModelError> {
        sleep(secs(1)).await;
        check_field(answer, self.required)
    }

    scripted! {
        #[retry(backoff = "none", validate = async |answer| self.check(answer).await)]
        async fn method(&self) -> Result<Answer, ModelError> = self.ask();
        #[retry(backoff = "none", validate = async |answer| { self.check(answer).await?; Ok(()) })]
        async fn question_mark(&self) -> Result<Answer, ModelError> = self.ask();
        #[retry(backoff = "none", validate = check_age, correct = async |mut answer, _| {
            answer.0.push(self.required);
            Ok(answer)
        })]
        async fn corrected(&self) -> Result<Answer, ModelError> = self.ask();
        #[retry(backoff = "none", validate = check_age, correct = |mut answer, _| { answer.0.push("age"); Ok(answer) })]
        async fn corrected_at_once(&self) -> Result<Answer, ModelError> = self.ask();
        #[retry(backoff = "none", validate = |answer| has_fields(answer, 1), on = |_| true)]
        async fn boxed_error(&self) -> Result<Answer, Box<dyn Error + Send + Sync>> = Ok(self.ask()?);
        #[retry(backoff = "none", validate = |answer| has_fields(answer, 1), on = |_| true)]
        async fn local_error(&self) -> Result<Answer, Box<dyn Error>> = { yield_now().await; Ok(self.ask()?) };
    }

    #[retry(backoff = "none", validate = check_age)]
    fn future(&self) -> impl Future<Output = Result<Answer, ModelError>> + Send {
        async move { self.ask() }
    }

    #[retry(backoff = "none", validate = check_age)]
    fn boxed(&self) -> Pin<Box<dyn Future<Output = Result<Answer, ModelError>> + Send + '_>> {
        Box::pin(async move { self.ask() })
    }

    #[retry(backoff = "none", validate = |items| {
        if items.clone().count() == 0 { Err(Missing("age")) } else { Ok(()) }
    })]
    async fn unnamed(
        &self,
    ) -> Result<impl Iterator<Item = &'static str> + Clone + use<>, ModelError> {
        Ok(self.ask()?.0.into_iter())
    }
}

fn check_field(answer: &Answer, field: &'static str) -> Result<(), ModelError> {
    if answer.0.contains(&field) {
        Ok(())
    } else {
        Err(Missing(field))
    }
}

fn check_age(answer: &Answer) -> Result<(), ModelError> {
    check_field(answer, "age")
}

fn has_fields<E: From<&'static str>>(answer: &Answer, least: usize) -> Result<(), E> {
    if answer.0.len() < least {
        Err("age".into())
    } else {
        Ok(())
    }
}

async fn asked<R: Send>(call: impl AsyncFn(&Client) -> R) -> (R, u32) {
    let client = Client::new();
    let outcome = call(&client).await;
    (outcome, client.asked.load(Relaxed))
}

#[tokio::test(start_paused = true)]
async fn methods() {
    let age = || answer(&["age"]);
    let client = Client::new();
    let unnamed: Vec<_> = client.unnamed().await.unwrap().collect();
    assert_rows! {
        asked(Client::method).await => (age(), 3);
        asked(Client::question_mark).await => (age(), 3);
        asked(Client::future).await => (age(), 3);
        asked(Client::boxed).await => (age(), 3);
        asked(Client::corrected).await => (age(), 1);
        asked(Client::corrected_at_once).await => (age(), 1);
        asked(async |client| client.boxed_error().await.ok()).await => (age().ok(), 3);
        asked(async |client| client.local_error().await.ok()).await => (age().ok(), 3);
        (unnamed, client.asked.load(Relaxed)) => (vec!["age"], 3);
    }
}

#[tokio::test(start_paused = true)]
async fn functions_have_async_and_blocking_validators() {
    asks!(async fn slowly(model), validate = check_slowly);
    asks!(fn blocking(model), validate = check);

    let [mut one, mut other] =
        [(); 2].map(|()| Model::new([answer(&["age"]), answer(&["name", "age"])]));
    slowly(&mut one).await.unwrap();
    blocking(&mut other).unwrap();
    assert_eq!((one.asked, other.asked), (2, 2));
}

struct Blocked {
    asked: u32,
}

#[retry(backoff = "none", invalid(max = 1))]
impl Blocked {
    #[retry(validate = |number| if *number > 3 { Ok(()) } else { Err(Overloaded) })]
    async fn member(&mut self) -> Result<u32, ModelError> {
        self.asked += 1;
        Ok(self.asked)
    }

    async fn other(&mut self) -> Result<u32, ModelError> {
        self.asked += 1;
        Ok(self.asked)
    }
}

#[tokio::test]
async fn members_of_a_block() {
    let mut blocked = Blocked { asked: 0 };
    assert_eq!(blocked.member().await, Err(Overloaded));
    assert_eq!(blocked.asked, 2);
    assert_eq!(blocked.other().await, Ok(3));
}

#[retry(wrapper = Retrying, backoff = "none")]
trait Ask {
    #[retry(validate = check)]
    async fn ask(&self, question: String) -> Result<Answer, ModelError>;
}

struct Inner(AtomicU32);

impl Ask for Inner {
    async fn ask(&self, question: String) -> Result<Answer, ModelError> {
        assert_eq!(question, "who?");
        match self.0.fetch_add(1, Relaxed) {
            0 => answer(&["name"]),
            _ => answer(&["name", "age"]),
        }
    }
}

#[tokio::test]
async fn methods_of_a_decorator() {
    let retrying = Retrying::new(Inner(AtomicU32::new(0)));
    retrying.ask(String::from("who?")).await.unwrap();
    assert_eq!(retrying.inner().0.load(Relaxed), 2);
}

#[tokio::test(start_paused = true)]
async fn futures_are_send_where_their_parts_are() {
    let client = Client::new();
    drop(is_send(client.method()));
    drop(is_send(client.boxed_error()));
    drop(is_send(client.corrected()));
    let mut model = Model::new([answer(&["name", "age"])]);
    drop(is_send(crate::validation::correct::extract(&mut model)));
    // An error that is not `Send` is gone before any pause.
    drop(is_send(client.local_error()));
}
