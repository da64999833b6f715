//! Agents that share their turns: `budget` counts, a computed `max` limits, `fallback` hands over.

use support::prelude::*;

/// A retried step costs one turn, however many its retries.
#[derive(Default)]
struct Team {
    turns: Cell<i32>,
    /// Retries of this step, and of all.
    step: Cell<i32>,
    retries: Cell<i32>,
}

impl Team {
    fn paid(&self) -> i32 {
        self.step.get().min(1)
    }

    fn limit(&self) -> i32 {
        (self.turns.get() + self.paid()).clamp(1, 3)
    }
}

impl RetryBudget for Team {
    fn withdraw(&self, _: Kind) -> bool {
        self.turns.update(|turns| turns + self.paid() - 1);
        self.step.update(|retries| retries + 1);
        self.retries.update(|retries| retries + 1);
        true
    }

    fn refund(&self, _: Kind) {
        unreachable!("no call is dropped");
    }
}

#[retry(max = team.limit(), backoff = "none", on = any, budget = team, repeats = 2, fallback = |gave_up| hand_over(&gave_up))]
fn step(team: &Team, script: &mut Script) -> Result<usize, Failure> {
    script.next()
}

/// Retries every error, each with its kind.
fn any(error: &Failure) -> Verdict {
    if error.0 == Verdict::STOP {
        Verdict::TRANSIENT
    } else {
        error.0
    }
}

/// Returns the input of the next agent: a number for the reason, and the number of errors.
fn hand_over(gave_up: &GaveUp<Failure>) -> Result<usize, Failure> {
    let reason = match gave_up.reason() {
        Reason::Exhausted => 100,
        Reason::Repeated => 200,
        _ => return Err(STOP),
    };
    Ok(reason + gave_up.errors().count())
}

/// No two in a row are the same, nor of the same kind.
fn errors() -> Vec<Failure> {
    let invalid = Failure(Verdict::INVALID);
    [TRANSIENT, THROTTLED, TIMEOUT, invalid, STOP].into()
}

#[test]
fn a_step_has_as_many_retries_as_turns_are_left_and_one_on_the_last() {
    let team = Team::default();
    for (turns, retries) in [(0, 1), (1, 1), (2, 2), (3, 3), (9, 3)] {
        team.turns.set(turns);
        team.step.set(0);
        let mut script = Script::new(errors());
        let answer = step(&team, &mut script).unwrap();
        assert_eq!(answer, 100 + script.attempts, "{turns} turns");
        assert_eq!(script.attempts, 1 + retries, "{turns} turns");
        assert_eq!(team.turns.get(), turns - 1);
    }
    assert_eq!(team.retries.get(), 1 + 1 + 2 + 3 + 3);
}

#[test]
fn every_kind_of_error_counts() {
    for error in errors() {
        let team = Team::default();
        team.turns.set(9);
        assert_eq!(step(&team, &mut Script::new([error])).unwrap(), 2);
        assert_eq!((team.turns.get(), team.step.get()), (8, 1));
    }
}

#[test]
fn a_loop_is_handed_over_with_its_errors() {
    let team = Team::default();
    team.turns.set(9);
    let mut script = Script::new([TRANSIENT, THROTTLED, THROTTLED, TIMEOUT]);
    assert_eq!(step(&team, &mut script).unwrap(), 203);
    assert_eq!(script.attempts, 3);
    assert_eq!(team.turns.get(), 8);
}
