use support::prelude::*;
use support::turns::Turns;

#[tokio::test(start_paused = true)]
async fn a_correction_that_is_dropped_in_its_pause_is_refunded_and_one_that_began_is_not() {
    scripted! {
        #[retry(invalid(max = 9, backoff = "fixed", base = "5s", jitter = "none"), budget = turns,
            validate = |_| Err(TRANSIENT), correct = async |number, _| { sleep(secs(10)).await; Ok(number) })]
        async fn call(turns: &Turns) -> Result<u32, Failure> = Ok(1);
    }

    // Pauses from 0 and 15 s on, corrections from 5 and 20 s on.
    for (dropped, left) in [(3, 9), (7, 8), (17, 8), (22, 7)] {
        let turns = Turns::new(9);
        timeout(secs(dropped), call(&turns)).await.unwrap_err();
        assert_eq!(turns.left(), left, "dropped after {dropped} s");
    }
}

#[tokio::test(start_paused = true)]
async fn an_unused_payment_is_refunded_before_the_fallback() {
    scripted! {
        #[retry(jitter = "none", budget = turns, cancel = sleep(millis(500)), fallback = async |_| Ok(turns.left()))]
        async fn cancelled(turns: &Turns) -> Result<u32, Failure> = Err(TRANSIENT);
        #[retry(jitter = "none", budget = turns, breaker = breaker, fallback = async |_| Ok(turns.left()))]
        async fn open(turns: &Turns, breaker: &Breaker) -> Result<u32, Failure> = Err(TRANSIENT);
        #[retry(jitter = "none", budget = turns, breaker = breaker, fallback = |_| Ok(turns.left()))]
        fn blocking(turns: &Turns, breaker: &Breaker) -> Result<u32, Failure> = Err(TRANSIENT);
        #[retry(invalid(base = "1s", jitter = "none"), budget = turns, cancel = sleep(millis(500)),
            validate = |_| Err(TRANSIENT), correct = async |number, _| Ok(number), fallback = async |_| Ok(turns.left()))]
        async fn corrected(turns: &Turns) -> Result<u32, Failure> = Ok(0);
    }

    let turns = Turns::new(9);
    let opens = || Breaker::new().consecutive_failures(1);
    assert_rows! {
        cancelled(&turns).await => Ok(9);
        open(&turns, &opens()).await => Ok(9);
        blocking(&turns, &opens()) => Ok(9);
        corrected(&turns).await => Ok(9);
    }
}

#[test]
fn any_expression_will_do() {
    struct Agent {
        team: Arc<Turns>,
        own: Turns,
    }

    impl Agent {
        scripted! {
            #[retry(max = 5, backoff = "none", budget = &self.own)] fn own(&mut self) = Err(TRANSIENT);
            #[retry(max = 5, backoff = "none", budget = self.team.clone())] fn team(&mut self) = Err(TRANSIENT);
        }
    }

    scripted! {
        #[retry(max = 5, backoff = "none", budget = &*turns)] fn dynamic(turns: Rc<dyn RetryBudget>) = Err(TRANSIENT);
        // A budget that is created for each call limits that call alone.
        #[retry(max = 5, backoff = "none", budget = Turns::new(2))] fn of_one_call();
    }

    let (team, own) = (Arc::new(Turns::new(3)), Turns::new(2));
    let mut agent = Agent { team, own };
    agent.own().unwrap_err();
    agent.team().unwrap_err();
    let turns = Rc::new(Turns::new(2));
    dynamic(turns.clone()).unwrap_err();
    assert_eq!([agent.own.left(), agent.team.left(), turns.left()], [0; 3]);
    let ran = run!([TRANSIENT; 9], |script| of_one_call(script));
    assert_eq!(ran, (Err(TRANSIENT), 3));
}

#[test]
fn a_budget_gets_the_kind_and_pays_for_invalid_values_too() {
    scripted! {
        #[retry(backoff = "none", budget = turns, validate = |number| if *number > 4 { Ok(()) } else { Err(TRANSIENT) })]
        fn call(turns: &Turns);
        #[retry(backoff = "none", budget = turns, validate = |number| if *number > 2 { Ok(()) } else { Err(TRANSIENT) },
            correct = |number, _| Ok(number + 1))]
        fn corrected(turns: &Turns) -> Result<usize, Failure> = Ok(1);
    }

    let turns = Turns::new(9);
    let failures = [TRANSIENT, THROTTLED, TIMEOUT];
    assert_eq!(call(&turns, &mut Script::new(failures)), Ok(5));
    let expected = "called; failed transient; withdraw transient; failed throttled; withdraw throttled; \
        failed timeout; withdraw timeout; failed invalid; withdraw invalid; succeeded after invalid";
    assert_eq!(turns.notes().join("; "), expected);
    assert_eq!(corrected(&turns), Ok(3));
    let expected = "called; failed invalid; withdraw invalid; failed invalid; withdraw invalid; \
        succeeded after invalid";
    assert_eq!(turns.notes().join("; "), expected);
}
