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
        Err(Overloaded),
        answer(&["name", "age"]),
    ]);
    let mut seen = Vec::new();
    let answered = extract(&mut model, &mut seen).await;
    assert_eq!(answered, answer(&["name", "age"]));
    assert_eq!(model.asked, 4);
    let (name, age) = (Missing("name"), Missing("age"));
    let expected = rows! {
        1, None, vec![], None;
        2, Some(name.clone()), vec![name.clone()], Some(Answer(vec!["age"]));
        3, Some(age.clone()), vec![name.clone(), age.clone()], Some(Answer(vec!["name"]));
        // Another error keeps the value that was rejected before.
        4, Some(Overloaded), vec![name, age, Overloaded], Some(Answer(vec!["name"]));
    };
    assert_eq!(seen, expected);
    assert_eq!(start.elapsed(), secs(1));
    let lines = [
        "retrying extract attempt=1 max=3 delay=0ns error=name is missing reason=invalid",
        "retrying extract attempt=2 max=3 delay=0ns error=age is missing reason=invalid",
        "retrying extract attempt=3 max=3 retry=1 retry_max=3 delay=1s error=overloaded reason=transient",
        "succeeded extract attempt=4 max=3",
    ];
    assert_eq!(recording.lines(), lines);
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
