use support::prelude::*;

#[retry(max = 3, jitter = "none", name = "model", until = |text| !text.is_empty())]
async fn call(answers: &mut Vec<&'static str>) -> Result<String, Failure> {
    match answers.remove(0) {
        "error" => Err(TRANSIENT),
        "stop" => Err(STOP),
        answer => Ok(String::from(answer)),
    }
}

#[tokio::test(start_paused = true)]
async fn a_rejected_value_is_retried() {
    for (answers, outcome, left, lines) in rows! {
        vec!["", "error", "", "hello", "left"], Ok("hello"), 1,
            vec![
                "retrying model attempt=1 max=3 delay=1s error=value rejected reason=transient",
                "retrying model attempt=2 max=3 delay=2s error=transient reason=transient",
                "retrying model attempt=3 max=3 delay=4s error=value rejected reason=transient",
                "succeeded model attempt=4 max=3",
            ];
        // Without a retry left, the call returns the value.
        vec![""; 9], Ok(""), 5, vec!["gave up model attempt=4 max=3 error=value rejected reason=exhausted"];
        vec!["", "stop", "left"], Err(STOP), 1,
            vec!["gave up model attempt=2 max=3 error=stop reason=not retryable"];
    } {
        let (recording, mut answers) = (testing::record(), answers);
        assert_eq!(call(&mut answers).await, outcome.map(String::from));
        assert_eq!(answers.len(), left);
        let reported = recording.lines();
        assert_eq!(reported[reported.len() - lines.len()..], lines);
    }
}

#[expect(clippy::ptr_arg, reason = "the value's type")]
fn is_long(text: &String) -> bool {
    text.len() > 3
}

#[test]
fn may_be_a_path_and_see_the_arguments() {
    #[retry(max = 5, backoff = "none", until = is_long)]
    fn path(text: &mut String) -> Result<String, Failure> {
        text.push('a');
        Ok(text.clone())
    }

    #[retry(max = 5, backoff = "none", until = |length| *length >= wanted, transient(max = 2),
        give_up = |gave_up| panic!("{}", gave_up.reason() == Reason::Exhausted))]
    fn closure(text: &mut String, wanted: usize) -> Result<usize, Failure> {
        text.push('a');
        Ok(text.len())
    }

    assert_eq!(path(&mut String::new()).as_deref(), Ok("aaaa"));
    assert_eq!(closure(&mut String::new(), 2), Ok(2));
    assert_eq!(closure(&mut String::new(), 9), Ok(3));
}
