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
async fn corrections_end_with_the_section_s_retries_or_their_own_error() {
    let age = Some(Answer(vec!["age"]));
    for (breaks_down, errors, corrected, reason, last, end) in rows! {
        9, vec![Missing("name"); 4], 3, Reason::Exhausted, age,
            "gave up extract attempt=1 corrections=3 max=9 error=name is missing reason=exhausted";
        1, vec![Missing("name"), Missing("name"), Overloaded], 2, Reason::CorrectionFailed, None,
            "gave up extract attempt=1 corrections=2 max=9 error=overloaded reason=correction failed";
    } {
        let (recording, start) = (testing::record(), Instant::now());
        let (mut story, mut model) = (None, Model::new([answer(&["age"])]));
        let error = hopeless(&mut model, breaks_down, &mut story).await;
        assert_eq!(error.as_ref().err(), errors.last());
        assert_eq!((model.asked, model.corrected), (1, corrected));
        let corrections = u32::try_from(corrected).unwrap();
        assert_eq!(start.elapsed(), secs(5) * corrections);
        assert_eq!(story, Some((errors, 1, corrections, reason, last)));
        assert_eq!(recording.lines()[corrected..], [end]);
    }
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
