//! `correct` repairs the rejected value, and the body does not run again.

use support::prelude::*;

use crate::validation::ask_again::{Story, tell};
use crate::validation::{
    Answer, Missing, Model, ModelError, Overloaded, Unauthorized, answer, check, secs,
};

/// Adds the field that was missing.
async fn add(mut draft: Answer, error: &ModelError) -> Result<Answer, ModelError> {
    match error {
        Missing(field) => draft.0.push(field),
        _ => return Err(Unauthorized),
    }
    sleep(secs(2)).await;
    Ok(draft)
}

#[retry(max = 3, name = "extract", validate = check, correct = add)]
pub(crate) async fn extract(model: &mut Model) -> Result<Answer, ModelError> {
    model.ask()
}

#[tokio::test(start_paused = true)]
async fn the_value_is_repaired_and_validated_again() {
    let recording = testing::record();
    let start = Instant::now();
    let mut model = Model::new([answer(&[])]);
    assert_eq!(extract(&mut model).await, answer(&["name", "age"]));
    assert_eq!(model.asked, 1);
    assert_eq!(start.elapsed(), secs(4));
    let expected = [
        "correcting extract attempt=1 correction=1 retry_max=3 delay=0ns error=name is missing reason=invalid",
        "correcting extract attempt=1 correction=2 retry_max=3 delay=0ns error=age is missing reason=invalid",
        "succeeded extract attempt=1 corrections=2 max=3",
    ];
    assert_eq!(recording.lines(), expected);
}

/// A corrector that has no effect, and that breaks down at that number of corrections made.
#[retry(
    max = 9,
    name = "extract",
    invalid(max = 3, backoff = "fixed", base = "5s", jitter = "none"),
    validate = check,
    attempt = attempt,
    correct = async |draft, error| {
        model.corrected += 1;
        assert_eq!(*error, Missing("name"));
        // Counted from 0, with the complaints before this one.
        assert_eq!(attempt.corrections() as usize, model.corrected - 1);
        assert_eq!(attempt.errors().len(), model.corrected - 1);
        // Only the corrector has the value.
        assert_eq!(attempt.rejected(), None);
        if attempt.corrections() == breaks_down { Err(Overloaded) } else { Ok(draft) }
    },
    give_up = |gave_up: GaveUp<_, _>| {
        let error = gave_up.error().clone();
        *story = Some(tell(gave_up));
        error
    },
)]
async fn hopeless(
    model: &mut Model,
    breaks_down: u32,
    story: &mut Option<Story>,
) -> Result<Answer, ModelError> {
    model.ask()
}

#[tokio::test(start_paused = true)]
async fn corrections_end_with_the_section_s_retries() {
    let start = Instant::now();
    let mut story = None;
    let mut model = Model::new([answer(&["age"])]);
    let error = hopeless(&mut model, 9, &mut story).await;
    assert_eq!(error, Err(Missing("name")));
    assert_eq!((model.asked, model.corrected), (1, 3));
    assert_eq!(start.elapsed(), secs(15));
    let last = Some(Answer(vec!["age"]));
    let expected = (vec![Missing("name"); 4], 1, 3, Reason::Exhausted, last);
    assert_eq!(story, Some(expected));
}

#[tokio::test(start_paused = true)]
async fn a_correction_that_fails_ends_the_call_with_its_error() {
    let recording = testing::record();
    let mut story = None;
    let mut model = Model::new([answer(&["age"])]);
    let error = hopeless(&mut model, 1, &mut story).await;
    assert_eq!(error, Err(Overloaded));
    assert_eq!((model.asked, model.corrected), (1, 2));
    let errors = vec![Missing("name"), Missing("name"), Overloaded];
    let expected = (errors, 1, 2, Reason::CorrectionFailed, None);
    assert_eq!(story, Some(expected));
    let last =
        "gave up extract attempt=1 corrections=2 max=9 error=overloaded reason=correction failed";
    assert_eq!(recording.lines()[2..], [last]);
}

#[test]
fn blocking_functions_correct_too() {
    fn add(mut draft: Answer, error: &ModelError) -> Result<Answer, ModelError> {
        if let Missing(field) = error {
            draft.0.push(field);
        }
        Ok(draft)
    }

    asks!(fn path(model), validate = check, correct = add);

    asks!(fn closure(model), invalid(max = 1),
        validate = |answer| { model.checked += 1; check(answer) },
        correct = |draft, error| { model.corrected += 1; add(draft, error) });

    let mut model = Model::new([answer(&[])]);
    assert_eq!(path(&mut model), answer(&["name", "age"]));
    assert_eq!(model.asked, 1);
    let mut model = Model::new([answer(&[])]);
    assert_eq!(closure(&mut model), Err(Missing("age")));
    assert_eq!((model.asked, model.checked, model.corrected), (1, 2, 1));
}

#[tokio::test(start_paused = true)]
async fn the_deadline_holds_for_corrections() {
    scripted! {
        #[retry(deadline = "3s", validate = check, correct = add, give_up = |gave_up| {
            assert_eq!(gave_up.reason(), Reason::Deadline);
            gave_up.into_error()
        })]
        async fn extract(model: &mut Model) -> Result<Answer, ModelError> = { sleep(secs(2)).await; model.ask() };
    }

    let mut model = Model::new([answer(&[])]);
    assert_eq!(extract(&mut model).await, Err(Missing("age")));
}

#[tokio::test(start_paused = true)]
async fn the_log_shows_the_max_of_the_policy_for_any_exhausted_count() {
    #[retry(name = "extract", max = 4, invalid(max = 2), backoff = "none", on = |_| true,
        validate = |value| if *value < valid { Err("invalid") } else { Ok(()) },
        correct = async |value: u32, _| if value == 9 { Err("no idea") } else { Ok(value + 1) })]
    async fn extract(failures: &mut u32, first: u32, valid: u32) -> Result<u32, &'static str> {
        let Some(left) = failures.checked_sub(1) else {
            return Ok(first);
        };
        *failures = left;
        Err("busy")
    }

    let recording = testing::record();
    for (mut failures, first, valid, last) in rows! {
        4, 0, 1, "succeeded extract attempt=5 corrections=1 max=4";
        0, 0, 1, "succeeded extract attempt=1 corrections=1 max=4";
        4, 0, 3, "gave up extract attempt=5 corrections=2 max=4 error=invalid reason=exhausted";
        4, 8, 99,
            "gave up extract attempt=5 corrections=2 max=4 error=no idea reason=correction failed";
    } {
        let outcome = extract(&mut failures, first, valid).await;
        assert_eq!(outcome.is_ok(), last.starts_with("succeeded"));
        assert_eq!(recording.lines().pop().unwrap(), last);
    }
}

#[tokio::test(start_paused = true)]
async fn a_correction_that_never_started_is_not_reported() {
    #[retry(name = "extract", jitter = "none", invalid(base = "2s"), on = |_| true,
        cancel = sleep(secs(3)), validate = |_| Err("invalid"),
        correct = async |value: u32, _| Ok(value + 1))]
    async fn extract() -> Result<u32, &'static str> {
        Ok(0)
    }

    let recording = testing::record();
    extract().await.unwrap_err();
    // The first pause took 2 s, the second would take 4 s.
    let expected = "gave up extract attempt=1 corrections=1 max=3 error=invalid reason=cancelled";
    assert_eq!(recording.lines()[2], expected);
}
