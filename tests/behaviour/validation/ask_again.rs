//! Without `correct`, the body runs again and can read the validation error.

use retry_runtime::{Attempt, Draft};
use support::prelude::*;

use crate::validation::{
    Answer, Missing, Model, ModelError, Overloaded, Unauthorized, answer, check, secs,
};

/// The properties of an attempt in the body.
type Seen = (u32, Option<ModelError>, Vec<ModelError>, Option<Answer>);

fn see(attempt: &Attempt<ModelError, Draft<Answer>>) -> Seen {
    (
        attempt.number(),
        attempt.last_error().cloned(),
        attempt.errors().to_vec(),
        attempt.last_value().cloned(),
    )
}

#[retry(max = 3, jitter = "none", name = "extract", validate = check, attempt = attempt)]
async fn extract(model: &mut Model, seen: &mut Vec<Seen>) -> Result<Answer, ModelError> {
    seen.push(see(attempt));
    model.ask()
}

#[tokio::test(start_paused = true)]
async fn the_body_runs_again_and_sees_the_validation_error_and_the_rejected_value() {
    let recording = testing::record();
    let start = Instant::now();
    let mut model = Model::new([
        answer(&["age"]),
        answer(&["name"]),
        answer(&["name", "age"]),
    ]);
    let mut seen = Vec::new();
    let answered = extract(&mut model, &mut seen).await;
    assert_eq!(answered, answer(&["name", "age"]));
    assert_eq!(model.asked, 3);
    let (name, age) = (Missing("name"), Missing("age"));
    let expected = rows! {
        1, None, vec![], None;
        2, Some(name.clone()), vec![name.clone()], Some(Answer(vec!["age"]));
        3, Some(age.clone()), vec![name, age], Some(Answer(vec!["name"]));
    };
    assert_eq!(seen, expected);
    assert_eq!(start.elapsed(), secs(0));
    let lines = [
        "retrying extract attempt=1 max=3 delay=0ns error=name is missing reason=invalid",
        "retrying extract attempt=2 max=3 delay=0ns error=age is missing reason=invalid",
        "succeeded extract attempt=3 max=3",
    ];
    assert_eq!(recording.lines(), lines);
}

#[tokio::test(start_paused = true)]
async fn a_value_that_is_valid_at_once_costs_one_check_and_nothing_else() {
    asks!(async fn extract(model, checks: &mut u32), validate = |answer| { *checks += 1; check(answer) });

    let mut checks = 0;
    let recording = testing::record();
    let mut model = Model::new([answer(&["name", "age"])]);
    extract(&mut model, &mut checks).await.unwrap();
    assert_eq!((model.asked, checks), (1, 1));
    assert!(recording.lines().is_empty());
}

#[tokio::test(start_paused = true)]
async fn an_error_keeps_the_value_that_was_rejected_before() {
    let mut model = Model::new([answer(&["name"]), Err(Overloaded), answer(&["name", "age"])]);
    let mut seen = Vec::new();
    extract(&mut model, &mut seen).await.unwrap();
    let rejected = Some(Answer(vec!["name"]));
    let last = (
        3,
        Some(Overloaded),
        vec![Missing("age"), Overloaded],
        rejected,
    );
    assert_eq!(seen.last(), Some(&last));
}

/// The value that was rejected last and its error, as the body sees them.
type Rejected = Option<(Answer, ModelError)>;

async fn rejected_in_each_attempt(
    answers: impl IntoIterator<Item = Result<Answer, ModelError>>,
) -> Vec<Rejected> {
    #[retry(max = 200, backoff = "none", validate = check, attempt = attempt)]
    async fn extract(model: &mut Model, seen: &mut Vec<Rejected>) -> Result<Answer, ModelError> {
        let rejected = attempt.rejected();
        seen.push(rejected.map(|(value, error)| (value.clone(), error.clone())));
        model.ask()
    }

    let mut seen = Vec::new();
    let mut model = Model::new(answers);
    extract(&mut model, &mut seen).await.unwrap();
    seen
}

#[tokio::test(start_paused = true)]
async fn a_rejected_value_keeps_its_own_error_while_attempts_fail_for_other_reasons() {
    let no_age = Some((Answer(vec!["name"]), Missing("age")));
    let no_name = Some((Answer(vec!["age"]), Missing("name")));
    // The answer of each attempt, and what it sees.
    let (answers, expected): (Vec<_>, Vec<_>) = rows! {
        Err(Overloaded), None;
        answer(&["name"]), None;
        Err(Overloaded), no_age.clone();
        Err(Overloaded), no_age.clone();
        answer(&["age"]), no_age;
        Err(Overloaded), no_name.clone();
        answer(&["name", "age"]), no_name;
    }
    .into_iter()
    .unzip();
    assert_eq!(rejected_in_each_attempt(answers).await, expected);
}

#[tokio::test(start_paused = true)]
async fn after_many_errors_a_rejected_value_has_its_own_or_none() {
    for (before, after) in [(9, 120), (10, 99), (10, 100), (60, 99), (60, 100)] {
        let failures = |count| (0..count).map(|_| Err(Overloaded));
        let answers = failures(before)
            .chain([answer(&["name"])])
            .chain(failures(after))
            .chain([answer(&["name", "age"])]);
        let seen = rejected_in_each_attempt(answers).await;
        // The first 10 errors are kept, and the last 100.
        let is_kept = before < 10 || after < 100;
        let own = (Answer(vec!["name"]), Missing("age"));
        let last = seen.last().cloned().flatten();
        assert_eq!(last, is_kept.then_some(own), "{before} {after}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_timeout_does_not_become_the_error_of_the_rejected_value() {
    #[derive(Clone, Debug, PartialEq, Eq, thiserror::Error, Classify)]
    enum AskError {
        #[error("no number")]
        #[classify(invalid)]
        NoNumber,
        #[error(transparent)]
        #[classify(transparent)]
        TimedOut(#[from] TimedOut),
    }

    fn is_number(answer: &String) -> Result<(), AskError> {
        let number = answer.parse::<u32>();
        number.map(drop).map_err(|_| AskError::NoNumber)
    }

    #[retry(timeout = "1s", jitter = "none", validate = is_number, attempt = attempt)]
    async fn ask(prompts: &mut Vec<String>) -> Result<String, AskError> {
        prompts.push(match attempt.rejected() {
            Some((answer, error)) => format!("not {answer}: {error}"),
            None => String::from("how many?"),
        });
        match attempt.number() {
            1 => Ok(String::from("three")),
            2 => pending().await,
            _ => Ok(String::from("3")),
        }
    }

    let start = Instant::now();
    let mut prompts = Vec::new();
    assert_eq!(ask(&mut prompts).await.as_deref(), Ok("3"));
    let again = "not three: no number";
    assert_eq!(prompts, ["how many?", again, again]);
    assert_eq!(start.elapsed(), secs(2));
}

/// The errors of a call, its attempts and corrections, its reason and last value.
pub(super) type Story = (Vec<ModelError>, u32, u32, Reason, Option<Answer>);

pub(super) fn tell(gave_up: GaveUp<ModelError, Answer>) -> Story {
    (
        gave_up.errors().cloned().collect(),
        gave_up.attempts(),
        gave_up.corrections(),
        gave_up.reason(),
        gave_up.into_last_value(),
    )
}

asks!(async fn with_story(model, story: &mut Option<Story>), max = 1, jitter = "none", validate = check,
give_up = |gave_up| {
    let error = gave_up.error().clone();
    *story = Some(tell(gave_up));
    error
});

#[tokio::test(start_paused = true)]
async fn a_call_that_gives_up_ends_with_its_last_error_and_its_history() {
    for (last, error, reason, value) in rows! {
        answer(&["name"]), Missing("age"), Reason::Exhausted, vec!["name"];
        Err(Unauthorized), Unauthorized, Reason::NotRetryable, vec!["age"];
    } {
        let mut story = None;
        let mut model = Model::new([answer(&["age"]), last]);
        assert_eq!(with_story(&mut model, &mut story).await, Err(error.clone()));
        assert_eq!(model.asked, 2);
        let errors = vec![Missing("name"), error];
        assert_eq!(story, Some((errors, 2, 0, reason, Some(Answer(value)))));
    }
}

#[tokio::test(start_paused = true)]
async fn the_same_validation_error_in_a_row_gives_up() {
    asks!(async fn extract(model), max = 9, validate = check, repeats = 2, give_up = |gave_up| {
        assert_eq!(gave_up.reason(), Reason::Repeated);
        gave_up.into_error()
    });

    let mut model = Model::new([answer(&["age"]), answer(&["name"]), answer(&["name"])]);
    assert_eq!(extract(&mut model).await, Err(Missing("age")));
    assert_eq!(model.asked, 3);
}

#[tokio::test(start_paused = true)]
async fn a_fallback_gets_the_rejected_value() {
    asks!(async fn extract(model),
        max = 1, validate = check, fallback = async |gave_up| gave_up.into_last_value().ok_or(Overloaded));

    let mut model = Model::new([answer(&[]), answer(&["name"])]);
    assert_eq!(extract(&mut model).await, answer(&["name"]));
    assert_eq!(model.asked, 2);
}

#[tokio::test(start_paused = true)]
async fn until_is_checked_first() {
    asks!(async fn extract(model), max = 1, jitter = "none", until = |answer| !answer.0.is_empty(), validate = check);

    let recording = testing::record();
    let mut model = Model::new([answer(&[]), answer(&["age"]), answer(&["name", "age"])]);
    extract(&mut model).await.unwrap();
    assert_eq!(model.asked, 3);
    assert_eq!(recording.delays(), [secs(1), secs(0)]);
    // Out of retries, `until` lets the value through without `validate`.
    let mut model = Model::new([answer(&[])]);
    assert_eq!(extract(&mut model).await, answer(&[]));
    assert_eq!(model.asked, 2);
}
