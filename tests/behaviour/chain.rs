//! The attribute as a chain. Tests of all forms of calls are in `forms`.

use retry_runtime::llm::ProviderError;
use retry_runtime::{ResponseError, show};
use support::dropped::{give_way, leaves_nothing_behind};
use support::prelude::*;

const EXACT: Policy = Policy::new().jitter(Jitter::None);

#[tokio::test(start_paused = true)]
async fn an_attempt_has_the_earlier_errors() {
    let (seen, ids) = (RefCell::new(Vec::new()), RefCell::new(Vec::new()));
    let script = RefCell::new(Script::new([TRANSIENT, THROTTLED]));
    let call = EXACT.max(2).name("call").call_attempt(async |attempt| {
        let (number, is_last) = (attempt.number(), attempt.is_last());
        let earlier = (attempt.errors().to_vec(), attempt.elapsed());
        seen.borrow_mut().push((number, is_last, earlier));
        ids.borrow_mut().push(attempt.call_id());
        script.borrow_mut().next()
    });
    assert_eq!(call.await, Ok(3));
    let expected = [
        (1, false, (vec![], secs(0))),
        (2, false, (vec![TRANSIENT], secs(1))),
        (3, true, (vec![TRANSIENT, THROTTLED], secs(3))),
    ];
    assert_eq!(seen.into_inner(), expected);
    let ids = ids.into_inner();
    assert!(ids.iter().all(|id| *id == ids[0]));
}

#[test]
fn a_blocking_attempt_has_the_earlier_errors() {
    let _skipped = testing::skip_sleeps();
    let mut seen = Vec::new();
    let mut script = Script::new([TRANSIENT]);
    let outcome = EXACT.name("call").call_attempt_blocking(|attempt| {
        seen.push((attempt.elapsed().as_secs(), attempt.last_error().cloned()));
        script.next()
    });
    assert_eq!(outcome, Ok(2));
    assert_eq!(seen, [(0, None), (1, Some(TRANSIENT))]);
}

/// The call continues, and its counts, too.
#[tokio::test(start_paused = true)]
async fn an_attempt_that_is_kept_keeps_its_errors() {
    let kept = RefCell::new(Vec::new());
    let chain = EXACT.max(2).fallback(async |gave_up: GaveUp<Failure>| {
        assert_eq!((gave_up.attempts(), gave_up.errors_left_out()), (3, 2));
        Err(gave_up.into_error())
    });
    let call = chain.call_attempt(async |attempt| {
        kept.borrow_mut().push(Arc::clone(&attempt));
        Err::<(), _>(TRANSIENT)
    });
    assert_eq!(call.await, Err(TRANSIENT));
    let kept = kept.into_inner();
    let numbers: Vec<_> = kept.iter().map(|attempt| attempt.number()).collect();
    assert_eq!(numbers, [1, 2, 3]);
    let id = kept[0].call_id();
    assert!(kept.iter().all(|attempt| attempt.call_id() == id));
}

#[tokio::test(start_paused = true)]
async fn a_policys_timeout_applies_to_calls_with_policy_timeout() {
    scripted! {
        #[retry(policy = policy, timeout)] async fn by_attribute(policy: &Policy) = pending().await;
        #[retry(policy = policy, timeout = "5s")] async fn by_its_own(policy: &Policy) = pending().await;
    }

    let policy: Policy = "max=1, jitter=none, timeout=3s".parse().unwrap();
    let hangs = pending::<Result<(), Failure>>;
    let recording = testing::record();
    let start = Instant::now();
    assert_rows! {
        (by_attribute(&policy).await, start.elapsed()) => (Err(TIMEOUT), secs(7));
        (by_its_own(&policy).await, start.elapsed()) => (Err(TIMEOUT), secs(7 + 11));
        (policy.policy_timeout().call(hangs).await, start.elapsed()) => (Err(TIMEOUT), secs(7 + 11 + 7));
        (policy.name("call").timeout(secs(5)).call(hangs).await, start.elapsed())
            => (Err(TIMEOUT), secs(7 + 11 + 7 + 11));
    }
    assert_eq!(recording.lines().len(), 4 * 2);
    // Without a timeout, there is no limit.
    let unlimited = EXACT.policy_timeout().call(hangs);
    assert!(timeout(secs(3600), unlimited).await.is_err());
}

#[tokio::test(start_paused = true)]
async fn an_ignored_policy_timeout_is_logged_once() {
    const POLICY: Policy = EXACT.max(0).timeout(secs(3));

    scripted! {
        #[retry(policy = POLICY, name = "ignored.by_async")]
        async fn by_async() -> Result<usize, Failure> = Ok(1);
        #[retry(policy = POLICY, name = "ignored.by_blocking")]
        fn by_blocking() -> Result<usize, Failure> = Ok(1);
    }

    let recording = testing::record();
    for _ in 0..2 {
        assert_eq!(by_async().await, Ok(1));
        assert_eq!(by_blocking(), Ok(1));
        let chain = POLICY.name("ignored.by_chain");
        assert_eq!(chain.call(async || Ok::<_, Failure>(1)).await, Ok(1));
        let chain = POLICY.name("ignored.by_blocking_chain");
        assert_eq!(chain.call_blocking(|| Ok::<_, Failure>(1)), Ok(1));
        let answers = |pending: Vec<usize>| Ok(pending.into_iter().map(Ok::<_, Failure>).collect());
        let chain = POLICY.name("ignored.by_batch");
        let batch = retry_each(chain, [1], async |pending| answers(pending));
        assert_eq!(batch.await, [Ok(1)]);
        let chain = POLICY.name("ignored.by_blocking_batch");
        assert_eq!(retry_each_blocking(chain, [1], answers), [Ok(1)]);
        let chain = POLICY.name("ignored.by_plan");
        let mut plan = Plan::<usize, Failure>::new();
        let end = plan.run_until(chain, async |_| Validity::Valid).await;
        assert!(end.unwrap().is_valid());
    }
    let mut lines = recording.lines();
    lines.retain(|line| line.starts_with("ignoring"));
    let forms = "async blocking chain blocking_chain batch blocking_batch plan";
    let line = |form: &str| {
        let reason = "the call doesn't set `timeout`, or can't have one";
        format!("ignoring the policy's timeout ignored.by_{form} reason={reason}")
    };
    assert_eq!(lines, forms.split(' ').map(line).collect::<Vec<_>>());
}

/// Returns the text of the error in a chain's log, if the call gives up at once.
macro_rules! shown {
    ($error:expr) => {
        shown!($error, |policy| policy)
    };
    ($error:expr, |$policy:ident| $chain:expr) => {{
        let recording = testing::record();
        let $policy = Policy::none().max(0).name("call");
        assert!($chain.call_blocking(|| Err::<(), _>($error)).is_err());
        let line = recording.lines().remove(0);
        let (_, shown) = line.split_once("error=").unwrap();
        shown.rsplit_once(" reason=").unwrap().0.to_owned()
    }};
}

#[test]
fn errors_are_shown() {
    #[derive(Classify, Debug)]
    #[classify(transient)]
    enum Shown {
        Plain,
    }

    #[derive(Classify, Debug)]
    #[classify(transient)]
    struct Displayed(&'static str);

    impl fmt::Display for Displayed {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str(self.0)
        }
    }

    /// There is no bound `E: Display`.
    #[derive(Classify, Debug)]
    #[classify(transient)]
    struct Caused<E>(E);

    impl<E: fmt::Display> fmt::Display for Caused<E> {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            write!(f, "caused by {}", self.0)
        }
    }

    #[derive(Classify, Debug, thiserror::Error)]
    #[classify(transient)]
    #[error("sending")]
    struct Sending(#[from] io::Error);

    struct Undescribed;

    impl Classify for Undescribed {
        fn classify(&self) -> Verdict {
            Verdict::TRANSIENT
        }
    }

    let refused = || io::Error::other("https://user:secret@host/path?key=secret is down");
    let boxed = || Box::<dyn Error + Send + Sync>::from(Sending(refused()));
    let bad_gateway = http::StatusCode::BAD_GATEWAY;
    let answer = || ResponseError::new(bad_gateway, http::HeaderMap::new(), "");
    let overloaded = r#"{"error": {"type": "overloaded_error", "message": "later"}}"#;
    assert_rows! {
        shown!(Shown::Plain) => "Shown::Plain";
        shown!(Displayed("503")) => "503";
        shown!(&Displayed("503")) => "503";
        shown!(Arc::new(Displayed("503"))) => "503";
        shown!(Undescribed) => std::any::type_name::<Undescribed>();
        shown!(io::ErrorKind::TimedOut) => "timed out";
        shown!(bad_gateway) => "502 Bad Gateway";
        shown!(answer()) => "502 Bad Gateway";
        shown!(ProviderError::parse(overloaded).unwrap()) => "overloaded_error: later";
        shown!(Caused(503)) => "Caused";
        shown!(refused()) => "https://host/path is down";
        shown!(Sending(refused())) => "sending: https://host/path is down";
        shown!(boxed()) => "sending: https://host/path is down";
        shown!(anyhow::Error::from(Sending(refused()))) => "sending: https://host/path is down";
        shown!(TimedOut::new(secs(3))) => "timed out after 3s";
        shown!(Rejected::new(RejectedBy::Breaker)) => "rejected by an open circuit breaker";
        shown!(Sending(refused()), |policy| policy.on(|_: &Sending| true)) => std::any::type_name::<Sending>();
        shown!(Sending(refused()), |policy| policy.on(|_: &Sending| true).show(show::with_causes))
            => "sending: https://host/path is down";
        shown!(String::from("503"), |policy| policy.on(|_: &String| true).show(fmt::Display::fmt)) => "503";
        shown!(Shown::Plain, |policy| policy.show(|error: &Shown, f: &mut fmt::Formatter<'_>| write!(f, "{error:?}!")))
            => "Plain!";
    }
}

#[tokio::test(start_paused = true)]
async fn a_dropped_call_releases_everything() {
    leaves_nothing_behind(1, async |shared| {
        let breaker = Breaker::new().consecutive_failures(99);
        let call = Policy::none()
            .max(2)
            .timer(TimerFn::new(|_| give_way()))
            .budget(&shared.budget)
            .breaker(&breaker)
            .limiter(&shared.limiter)
            .fallback(async |gave_up: GaveUp<Failure>| {
                give_way().await;
                Err(gave_up.into_error())
            })
            .call(async || Err::<(), _>(shared.attempts(1).await));
        assert_eq!(call.await, Err(TRANSIENT));
    });
}

/// The hook and the fallback return futures that borrow an argument.
async fn borrowing(policy: &Policy, prompt: &str) -> Result<usize, Failure> {
    let call = policy
        .before_retry(|error: &Failure, _| {
            let error = error.clone();
            async move {
                yield_now().await;
                assert_ne!(error.to_string(), prompt);
            }
        })
        .fallback(|gave_up: GaveUp<Failure>| async move {
            yield_now().await;
            assert!(prompt.is_empty());
            Err(gave_up.into_error())
        })
        .until(|len: &usize| *len == prompt.len());
    call.call(async || Ok(prompt.len())).await
}

/// They are `Send` if the values of the keys are. The error must be `Send` only if a key keeps it.
#[tokio::test(start_paused = true)]
async fn futures_are_send() {
    async fn length(text: &str) -> Result<usize, Failure> {
        yield_now().await;
        Ok(text.len())
    }

    let prompt = String::from("prompt");
    let (budget, breaker) = (&Budget::standard(), &Breaker::new());
    let plain = EXACT.on(|_: &Rc<str>| false).name("call").call(async || {
        yield_now().await;
        Ok::<_, Rc<str>>(prompt.len())
    });
    assert_eq!(is_send(plain).await, Ok(6));
    let all = EXACT
        .name("call")
        .timer(TimerFn::new(sleep))
        .timeout(secs(9))
        .until(|_: &usize| true)
        .budget(budget)
        .breaker(breaker)
        .cancel(pending())
        .observe(|_| {})
        .fallback(async |gave_up: GaveUp<Failure>| Err(gave_up.into_error()))
        .call_attempt(async |attempt| {
            yield_now().await;
            Ok(prompt.len() * attempt.number() as usize)
        });
    assert_eq!(is_send(all).await, Ok(6));
    let hooked = EXACT
        .before_pause(|_: &Failure, _| ready(()))
        .before_retry(|_: &Failure, _| async {
            yield_now().await;
            prompt.parse::<u32>().map(drop)
        })
        .abort(pending())
        .call(|| length(&prompt));
    assert_eq!(is_send(hooked).await, Ok(6));
    assert_eq!(is_send(borrowing(&EXACT, &prompt)).await, Ok(6));
    let dynamic = async || {
        let call = async || Ok::<_, Box<dyn Error + Send + Sync>>(prompt.len());
        EXACT.timeout(secs(9)).policy_timeout().call(call).await
    };
    assert_eq!(is_send(dynamic()).await.unwrap(), 6);
}

/// The body's variables are in the call's future once, with any key that cancels the call.
#[test]
fn cancellation_does_not_double_the_future() {
    async fn attempt() -> Result<u8, Failure> {
        let page = [1; 16 * 1024];
        yield_now().await;
        Ok(page[7])
    }

    let plain = size_of_val(&EXACT.call(attempt));
    let cancelled = size_of_val(&EXACT.cancel(pending()).call(attempt));
    assert!(cancelled < plain + 288, "{plain} {cancelled}");
}

#[test]
fn a_flag_cancels_a_chain_that_blocks() {
    let stopping = AtomicBool::new(false);
    let _skipped = testing::skip_sleeps();
    let mut attempts = 0;
    let outcome = EXACT.max(9).cancel(&stopping).call_blocking(|| {
        attempts += 1;
        stopping.store(attempts == 2, Ordering::Relaxed);
        Err::<(), _>(TRANSIENT)
    });
    assert_eq!((outcome, attempts), (Err(TRANSIENT), 2));
}
