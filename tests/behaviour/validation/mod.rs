//! Values that are checked, requested again or corrected: the keys `validate`, `correct` and `invalid`.

// The code under test takes values by reference, and policies and `GaveUp` by value.
#![allow(
    clippy::large_types_passed_by_value,
    clippy::manual_async_fn,
    clippy::needless_pass_by_value,
    clippy::ptr_arg,
    clippy::unnecessary_wraps
)]

/// A function whose attempts ask a model, with further arguments and keys.
macro_rules! asks {
    (async fn $name:ident($model:ident$(, $arg:ident: $type:ty)*), $($key:tt)*) => {
        #[retry($($key)*)]
        async fn $name($model: &mut Model, $($arg: $type),*) -> Result<Answer, ModelError> {
            $model.ask()
        }
    };
    (fn $name:ident($model:ident$(, $arg:ident: $type:ty)*), $($key:tt)*) => {
        #[retry($($key)*)]
        fn $name($model: &mut Model, $($arg: $type),*) -> Result<Answer, ModelError> {
            $model.ask()
        }
    };
}

mod ask_again;
mod correct;
mod counts;
mod shapes;

use support::prelude::*;

#[derive(Clone, Debug, PartialEq, Eq)]
enum ModelError {
    Overloaded,
    Unauthorized,
    Missing(&'static str),
}

use ModelError::{Missing, Overloaded, Unauthorized};

impl fmt::Display for ModelError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Overloaded => f.write_str("overloaded"),
            Unauthorized => f.write_str("unauthorized"),
            Missing(field) => write!(f, "{field} is missing"),
        }
    }
}

impl Error for ModelError {}

impl Classify for ModelError {
    fn classify(&self) -> Verdict {
        match self {
            Overloaded => Verdict::TRANSIENT,
            // `on` is not asked about values that were rejected.
            Unauthorized | Missing(_) => Verdict::STOP,
        }
    }
}

/// A model's answer: the fields that it filled in.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Answer(Vec<&'static str>);

const REQUIRED: [&str; 2] = ["name", "age"];

fn answer(fields: &[&'static str]) -> Result<Answer, ModelError> {
    Ok(Answer(fields.to_vec()))
}

/// Reports the first required field that is missing.
fn check(answer: &Answer) -> Result<(), ModelError> {
    let missing = REQUIRED.iter().find(|field| !answer.0.contains(field));
    missing.map_or(Ok(()), |field| Err(Missing(field)))
}

/// The model's answers, in order. Counts the questions.
struct Model {
    answers: Vec<Result<Answer, ModelError>>,
    asked: usize,
    checked: usize,
    corrected: usize,
}

impl Model {
    fn new(answers: impl IntoIterator<Item = Result<Answer, ModelError>>) -> Self {
        Self {
            answers: answers.into_iter().collect(),
            asked: 0,
            checked: 0,
            corrected: 0,
        }
    }

    /// The last answer is repeated forever.
    fn ask(&mut self) -> Result<Answer, ModelError> {
        let index = self.asked.min(self.answers.len() - 1);
        self.asked += 1;
        self.answers[index].clone()
    }
}
