//! `invalid(…)`: a separate count, and no delay unless one is set.

use support::prelude::*;

use crate::validation::{Answer, Missing, Model, ModelError, Overloaded, answer, check, secs};

/// Returns an error and an invalid value alternately.
fn mixed() -> Model {
    let mut answers = Vec::new();
    for _ in 0..9 {
        answers.push(Err(Overloaded));
        answers.push(answer(&["name"]));
    }
    Model::new(answers)
}

fn pauses(
    call: impl FnOnce(&mut Model) -> Result<Answer, ModelError>,
) -> (Vec<Duration>, ModelError) {
    let _skipped = testing::skip_sleeps();
    let recording = testing::record();
    let mut model = mixed();
    let error = call(&mut model).unwrap_err();
    let pauses = recording.delays();
    assert_eq!(model.asked, pauses.len() + 1);
    (pauses, error)
}

#[test]
fn neither_kind_eats_the_retries_of_the_other() {
    type Call = fn(&mut Model) -> Result<Answer, ModelError>;

    asks!(fn own_limit(model), max = 3, jitter = "none", invalid(max = 2), validate = check);
    asks!(fn limit_of_the_call(model), max = 2, jitter = "none", validate = check);
    asks!(fn zero(model), max = 5, jitter = "none", invalid(max = 0), validate = check);
    // Any key of a delay adds one.
    asks!(fn base(model), max = 2, jitter = "none", invalid(base = "10s"), validate = check);
    asks!(fn backoff(model), max = 2, jitter = "none", invalid(backoff = "linear", cap = "5s"), validate = check);

    let rows: [(Call, ModelError, &[u64]); 5] = rows! {
        own_limit, Missing("age"), &[1, 0, 2, 0, 4];
        limit_of_the_call, Overloaded, &[1, 0, 2, 0];
        zero, Missing("age"), &[1];
        base, Overloaded, &[1, 10, 2, 20];
        backoff, Overloaded, &[1, 1, 2, 2];
    };
    for (call, error, expected) in rows {
        let expected: Vec<_> = expected.iter().map(|pause| secs(*pause)).collect();
        assert_eq!(pauses(call), (expected, error));
    }
}

#[test]
fn a_policy_has_the_section_as_well() {
    asks!(fn extract(model, policy: Policy), policy = policy, validate = check);

    let parsed = |text: &str| text.parse::<Policy>().unwrap();
    let policy = parsed("max=3, jitter=none, invalid(max=1, backoff=fixed, base=7s)");
    let shown = policy.to_string();
    assert!(shown.ends_with(", invalid(max=1, backoff=fixed, base=7s)"));
    let section = Section::new().max(1).backoff(Backoff::Fixed).base(secs(7));
    assert_eq!(policy, parsed("max=3, jitter=none").invalid(section));
    let (pauses, _) = pauses(|model| extract(model, policy));
    assert_eq!(pauses, [1, 7, 2].map(secs));
}

/// An error that the body creates for a response that can't be parsed.
#[derive(Debug, Classify)]
enum Unreadable {
    #[classify(invalid)]
    NoJson,
    #[classify(transient)]
    Overloaded,
}

/// Fails with one and the other error in turns.
fn unreadable(asked: &mut usize) -> Result<(), Unreadable> {
    *asked += 1;
    Err(if asked.is_multiple_of(2) {
        Unreadable::Overloaded
    } else {
        Unreadable::NoJson
    })
}

#[test]
fn errors_that_say_so_have_no_delay_and_a_count_of_their_own_where_one_is_named() {
    scripted! {
        #[retry(max = 2, jitter = "none", invalid(max = 2))]
        fn derived(asked: &mut usize) -> Result<(), Unreadable> = unreadable(asked);
        #[retry(max = 2, jitter = "none",
            on = |error| if matches!(error, Unreadable::NoJson) { Verdict::INVALID } else { Verdict::TRANSIENT })]
        fn answer(asked: &mut usize) -> Result<(), Unreadable> = unreadable(asked);
    }

    let _skipped = testing::skip_sleeps();
    let recording = testing::record();
    let mut asked = 0;
    assert!(matches!(derived(&mut asked), Err(Unreadable::NoJson)));
    assert_eq!(recording.delays(), [0, 1, 0, 2].map(secs));
    assert_eq!(asked, 5);
    let recording = testing::record();
    let mut asked = 0;
    assert!(answer(&mut asked).is_err());
    assert_eq!(recording.delays(), [0, 2].map(secs));
    assert_eq!(asked, 3);
}

#[tokio::test(start_paused = true)]
async fn the_log_shows_the_max_of_the_policy_and_the_count_of_the_kind() {
    #[retry(max = 2, backoff = "none", invalid(max = 1), name = "extract", on = |_| true,
        validate = |value| if *value > 0 { Ok(()) } else { Err("rejected") })]
    async fn extract(steps: &mut Vec<Result<u32, &'static str>>) -> Result<u32, &'static str> {
        steps.pop().unwrap_or(Ok(1))
    }

    let lines = async |steps: &[Result<u32, &'static str>]| {
        let recording = testing::record();
        let _ = extract(&mut steps.iter().rev().copied().collect()).await;
        recording.lines()
    };
    let expected = [
        "retrying extract attempt=1 max=2 delay=0ns error=busy reason=transient",
        "retrying extract attempt=2 max=2 retry=1 retry_max=1 delay=0ns error=rejected reason=invalid",
        "retrying extract attempt=3 max=2 retry=2 retry_max=2 delay=0ns error=busy reason=transient",
        "succeeded extract attempt=4 max=2",
    ];
    assert_eq!(lines(&[Err("busy"), Ok(0), Err("busy")]).await, expected);
    let expected = "gave up extract attempt=4 max=2 error=rejected reason=exhausted";
    let lines = lines(&[Err("busy"), Err("busy"), Ok(0), Ok(0)]).await;
    assert_eq!(lines[3], expected);
}

/// An error of `validate` whose default is to stop. Only an explicit mark means that asking again doesn't help.
#[derive(Clone, Debug, Classify)]
#[classify(stop)]
enum Invalid {
    Vague,
    #[classify(stop)]
    Filtered,
    #[classify(transparent)]
    Shared(Arc<Self>),
    #[classify(transparent)]
    Generic(Wrapper<u8>),
}

#[derive(Clone, Debug, Classify)]
#[classify(stop)]
struct Wrapper<T>(T);

#[tokio::test(start_paused = true)]
async fn a_validation_error_that_is_marked_to_stop_ends_the_call() {
    fn given(answer: &Invalid, asked: &mut usize) -> Result<Invalid, Invalid> {
        *asked += 1;
        Ok(answer.clone())
    }

    scripted! {
        #[retry(validate = |answer: &Invalid| Err(answer.clone()), give_up = |gave_up: GaveUp<_, _>| {
            *reason = Some(gave_up.reason());
            gave_up.into_error()
        })]
        async fn ask(answer: &Invalid, asked: &mut usize, reason: &mut Option<Reason>) -> Result<Invalid, Invalid>
            = given(answer, asked);
        #[retry(validate = async |answer| Err(answer.clone()), correct = async |draft, _| { *asked += 1; Ok(draft) },
            on = |_| true)]
        async fn correct(answer: &Invalid, asked: &mut usize) -> Result<Invalid, Invalid> = given(answer, asked);
        #[retry(validate = |answer| Err(answer.clone()))]
        fn blocking(answer: &Invalid, asked: &mut usize) -> Result<Invalid, Invalid> = given(answer, asked);
    }

    for (answer, times) in [
        (Invalid::Vague, 4),
        (Invalid::Filtered, 1),
        (Invalid::Shared(Invalid::Vague.into()), 4),
        (Invalid::Shared(Invalid::Filtered.into()), 1),
        (Invalid::Generic(Wrapper(1)), 1),
    ] {
        let (mut asked, mut corrected, mut blocked, mut reason) = (0, 0, 0, None);
        ask(&answer, &mut asked, &mut reason).await.unwrap_err();
        correct(&answer, &mut corrected).await.unwrap_err();
        blocking(&answer, &mut blocked).unwrap_err();
        assert_eq!([asked, corrected, blocked], [times; 3], "{answer:?}");
        let stops = Some(Reason::NotRetryable).filter(|_| times == 1);
        assert_eq!(reason, stops.or(Some(Reason::Exhausted)), "{answer:?}");
    }
}
