//! Without `correct`, the body runs again and sees what was wrong.

use retry_runtime::{Attempt, Classify, Draft, GaveUp, Reason, TimedOut, retry, testing};
use support::rows;
use tokio::time::Instant;

use crate::validation::{
    Answer, Missing, Model, ModelError, Overloaded, Unauthorized, answer, check,
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
async fn the_body_runs_again_and_sees_the_complaint_and_the_rejected_value() {
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
    assert_eq!(start.elapsed(), crate::validation::secs(0));
    let lines = [
        "retrying extract attempt=1 max=3 delay=0ns error=name is missing reason=invalid",
        "retrying extract attempt=2 max=3 delay=0ns error=age is missing reason=invalid",
        "succeeded extract attempt=3 max=3",
    ];
    assert_eq!(recording.lines(), lines);
}

#[tokio::test(start_paused = true)]
async fn a_value_that_is_valid_at_once_costs_one_check_and_nothing_else() {
    #[retry(validate = |answer| { *checks += 1; check(answer) })]
    async fn extract(model: &mut Model, checks: &mut u32) -> Result<Answer, ModelError> {
        model.ask()
    }

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
    let (no_age, no_name) = (
        Some((Answer(vec!["name"]), Missing("age"))),
        Some((Answer(vec!["age"]), Missing("name"))),
    );
    let answers = [
        Err(Overloaded),
        answer(&["name"]),
        Err(Overloaded),
        Err(Overloaded),
        answer(&["age"]),
        Err(Overloaded),
        answer(&["name", "age"]),
    ];
    let expected = [
        None,
        None,
        no_age.clone(),
        no_age.clone(),
        no_age,
        no_name.clone(),
        no_name,
    ];
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
        answer
            .parse::<u32>()
            .map(drop)
            .map_err(|_| AskError::NoNumber)
    }

    #[retry(timeout = "1s", jitter = "none", validate = is_number, attempt = attempt)]
    async fn ask(prompts: &mut Vec<String>) -> Result<String, AskError> {
        prompts.push(match attempt.rejected() {
            Some((answer, error)) => format!("not {answer}: {error}"),
            None => String::from("how many?"),
        });
        match attempt.number() {
            1 => Ok(String::from("three")),
            2 => std::future::pending().await,
            _ => Ok(String::from("3")),
        }
    }

    let start = Instant::now();
    let mut prompts = Vec::new();
    assert_eq!(ask(&mut prompts).await.as_deref(), Ok("3"));
    let again = "not three: no number";
    assert_eq!(prompts, ["how many?", again, again]);
    assert_eq!(start.elapsed(), crate::validation::secs(2));
}

/// The end of a call.
type Story = (Vec<ModelError>, u32, u32, Reason, Option<Answer>);

fn tell(gave_up: GaveUp<ModelError, Answer>) -> Story {
    (
        gave_up.errors().cloned().collect(),
        gave_up.attempts(),
        gave_up.corrections(),
        gave_up.reason(),
        gave_up.into_last_value(),
    )
}

#[retry(
    max = 1,
    jitter = "none",
    validate = check,
    give_up = |gave_up| {
        let error = gave_up.error().clone();
        *story = Some(tell(gave_up));
        error
    },
)]
async fn told(model: &mut Model, story: &mut Option<Story>) -> Result<Answer, ModelError> {
    model.ask()
}

#[tokio::test(start_paused = true)]
async fn a_call_that_gives_up_ends_with_the_validation_error_and_its_history() {
    let mut story = None;
    let mut model = Model::new([answer(&["age"]), answer(&["name"])]);
    assert_eq!(told(&mut model, &mut story).await, Err(Missing("age")));
    assert_eq!(model.asked, 2);
    let expected = (
        vec![Missing("name"), Missing("age")],
        2,
        0,
        Reason::Exhausted,
        Some(Answer(vec!["name"])),
    );
    assert_eq!(story, Some(expected));
}

#[tokio::test(start_paused = true)]
async fn errors_of_the_body_end_the_call_as_ever() {
    let mut story = None;
    let mut model = Model::new([answer(&["age"]), Err(Unauthorized)]);
    assert_eq!(told(&mut model, &mut story).await, Err(Unauthorized));
    let expected = (
        vec![Missing("name"), Unauthorized],
        2,
        0,
        Reason::NotRetryable,
        Some(Answer(vec!["age"])),
    );
    assert_eq!(story, Some(expected));
}

#[tokio::test(start_paused = true)]
async fn the_same_validation_error_in_a_row_gives_up() {
    #[retry(
        max = 9,
        validate = check,
        repeats = 2,
        give_up = |gave_up| {
            assert_eq!(gave_up.reason(), Reason::Repeated);
            gave_up.into_error()
        }
    )]
    async fn extract(model: &mut Model) -> Result<Answer, ModelError> {
        model.ask()
    }

    let mut model = Model::new([answer(&["age"]), answer(&["name"]), answer(&["name"])]);
    assert_eq!(extract(&mut model).await, Err(Missing("age")));
    assert_eq!(model.asked, 3);
}

#[tokio::test(start_paused = true)]
async fn a_fallback_gets_the_rejected_value() {
    #[retry(
        max = 1,
        validate = check,
        fallback = async |gave_up| gave_up.into_last_value().ok_or(Overloaded)
    )]
    async fn extract(model: &mut Model) -> Result<Answer, ModelError> {
        model.ask()
    }

    let mut model = Model::new([answer(&[]), answer(&["name"])]);
    assert_eq!(extract(&mut model).await, answer(&["name"]));
    assert_eq!(model.asked, 2);
}

#[tokio::test(start_paused = true)]
async fn until_is_checked_first() {
    #[retry(max = 1, jitter = "none", until = |answer| !answer.0.is_empty(), validate = check)]
    async fn extract(model: &mut Model) -> Result<Answer, ModelError> {
        model.ask()
    }

    let recording = testing::record();
    let mut model = Model::new([answer(&[]), answer(&["age"]), answer(&["name", "age"])]);
    extract(&mut model).await.unwrap();
    assert_eq!(model.asked, 3);
    assert_eq!(
        recording.delays(),
        [crate::validation::secs(1), crate::validation::secs(0)]
    );
    // Out of retries, `until` lets the value through without `validate`.
    let mut model = Model::new([answer(&[])]);
    assert_eq!(extract(&mut model).await, answer(&[]));
    assert_eq!(model.asked, 2);
}
