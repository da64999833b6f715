//! Extracts JSON from a model that gives bad answers: `cargo run --example self_correcting`.
//!
//! An answer that does not match the schema is a failure: the validation error is sent back to the model, until the
//! answer is valid or the retries are used up. The simulated model at the end is a list of answers.

use std::cell::RefCell;

use retry_runtime::{Attempt, Classify, Draft, GaveUp, retry};
use serde_json::Value;

#[derive(Clone, Debug, thiserror::Error, Classify)]
enum ModelError {
    #[error("503 overloaded")]
    #[classify(transient)]
    Overloaded,
    /// Waiting doesn't help, but a shorter prompt does.
    #[error("413 prompt too long")]
    #[classify(invalid)]
    TooLong,
    #[error("{0}")]
    #[classify(invalid)]
    Invalid(&'static str),
}
use ModelError::{Invalid, Overloaded, TooLong};

impl Model {
    /// Asks again, with the validation error and the rejected answer in the prompt. If the prompt is too long, its last
    /// sentence is removed.
    #[retry(name = "extract", base = "50ms", validate = |answer| check(answer), attempt = attempt)]
    async fn extract(&self, text: &str) -> Result<String, ModelError> {
        self.ask(&prompt(text, attempt)).await
    }

    /// Repairs the answer instead, at most twice: a smaller model may be enough for that.
    #[retry(
        name = "repair",
        invalid(max = 2),
        validate = |answer| check(answer),
        correct = async |draft, error| self.ask(&format!("Repair {draft}: {error}")).await,
        give_up = tell,
    )]
    async fn extract_and_repair(&self, text: &str) -> Result<String, ModelError> {
        self.ask(text).await
    }
}

fn check(answer: &str) -> Result<(), ModelError> {
    let json: Value = serde_json::from_str(answer).map_err(|_| Invalid("no JSON"))?;
    match (&json["name"], &json["age"]) {
        (Value::String(_), Value::Number(_)) => Ok(()),
        (Value::String(_), _) => Err(Invalid("`age` must be a number")),
        _ => Err(Invalid("`name` is missing")),
    }
}

fn prompt(text: &str, attempt: &Attempt<ModelError, Draft<String>>) -> String {
    let mut text = text;
    let too_long = attempt
        .errors()
        .iter()
        .filter(|error| matches!(error, TooLong));
    for _ in too_long {
        text = text.rsplit_once(". ").map_or(text, |(rest, _)| rest);
    }
    match attempt.rejected() {
        Some((answer, error)) => format!("{text}. Not {answer}: {error}."),
        None => format!("{text}."),
    }
}

fn tell(gave_up: GaveUp<ModelError, String>) -> ModelError {
    let (reason, corrections) = (gave_up.reason(), gave_up.corrections());
    println!("  {reason} after {corrections} corrections");
    for error in gave_up.errors() {
        println!("  - {error}");
    }
    println!("  The last answer is {:?}", gave_up.last_value());
    gave_up.into_error()
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    tracing_subscriber::fmt().without_time().init();
    let (good, ageless) = (r#"{"name": "Ada", "age": 36}"#, r#"{"name": "Ada"}"#);
    let text = "Ada is 36 years old. She lives in London. And so on";

    println!("The answer is wrong twice, and the server busy in between:");
    let model = scripted([Ok("Sure!"), Err(Overloaded), Ok(ageless), Ok(good)]);
    assert_eq!(model.extract(text).await.unwrap(), good);

    println!("The prompt is too long:");
    let model = scripted([Err(TooLong), Err(TooLong), Ok(good)]);
    assert_eq!(model.extract(text).await.unwrap(), good);

    println!("The answer is repaired:");
    let model = scripted([Ok(ageless), Ok(good)]);
    assert_eq!(model.extract_and_repair(text).await.unwrap(), good);

    println!("It is repaired in vain:");
    let model = scripted([Ok("Sure!"), Ok("Sure!!"), Ok(ageless)]);
    model.extract_and_repair(text).await.unwrap_err();

    println!("The correction itself fails:");
    let model = scripted([Ok("Sure!"), Err(Overloaded)]);
    model.extract_and_repair(text).await.unwrap_err();
}

struct Model(RefCell<Vec<Result<&'static str, ModelError>>>);

fn scripted<const N: usize>(mut answers: [Result<&'static str, ModelError>; N]) -> Model {
    answers.reverse();
    Model(RefCell::new(answers.into()))
}

impl Model {
    async fn ask(&self, prompt: &str) -> Result<String, ModelError> {
        println!("  The model is asked: {prompt}");
        tokio::task::yield_now().await; // A real client would wait here.
        let answer = self.0.borrow_mut().pop().unwrap_or(Err(Overloaded));
        answer.map(String::from)
    }
}
