//! AWS's "Retry Behavior 2.1", the default of the SDKs from 2026-11-10. The jitter's factor is 1 in these tables, as in
//! the SDKs' own tests.
//!
//! Sources: smithy-kotlin `NewStandardRetryIntegrationTestResources.kt`, smithy-rs `standard.rs`, smithy-typescript
//! `util-retry/retries.integ.spec.ts`, botocore `test_standard_retry_v2_1.py`.

use http::{HeaderMap, HeaderValue, StatusCode};
use support::prelude::*;

use super::{millis, secs};

/// 3 attempts, 50 ms, doubling, 20 s; throttling from 1 s.
const STANDARD: Policy = Policy::new()
    .max(2)
    .base(millis(50))
    .cap(secs(20))
    .jitter(Jitter::None)
    .hint(Hint::Clamp)
    .throttled(Section::new().base(secs(1)));

/// A service's response.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Answer {
    Status(u16),
    /// 400 with the code `Throttling`.
    Throttling,
    /// 500 with the header `x-amz-retry-after`.
    After(&'static str),
}

use Answer::{After, Status, Throttling};

impl Answer {
    fn verdict(&self) -> Verdict {
        let (status, after) = match self {
            Throttling => return Verdict::THROTTLED,
            Status(status) => (*status, None),
            After(after) => (500, Some(HeaderValue::from_static(after))),
        };
        let headers = after.map(|after| ("x-amz-retry-after".parse().unwrap(), after));
        let status = StatusCode::from_u16(status).unwrap();
        Verdict::from_http(status, &HeaderMap::from_iter(headers))
    }
}

/// The step after a response, in the terms of the tables. Delays are in milliseconds.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Then {
    Retry(u64),
    Success,
    MaxAttempts,
    QuotaExceeded,
}

use Then::{MaxAttempts, QuotaExceeded, Retry, Success};

/// The steps after the responses, each with the remaining tokens.
type Steps = RefCell<Vec<(Then, f64)>>;

/// The attempt's number is also the response's.
fn answered(answers: &[Answer], attempt: u32) -> Result<(), Answer> {
    match answers[attempt as usize - 1] {
        Status(200) => Ok(()),
        answer => Err(answer),
    }
}

#[retry(policy = policy, budget = budget, on = Answer::verdict, attempt = attempt, observe = |event: &Event<'_>| {
    let then = match event.data {
        EventData::Retrying { delay, .. } => Retry(delay.as_millis() as u64),
        EventData::GaveUp { reason: Reason::Exhausted, .. } => MaxAttempts,
        EventData::GaveUp { reason: Reason::Budget, .. } => QuotaExceeded,
        _ => return,
    };
    steps.borrow_mut().push((then, budget.available()));
})]
#[expect(clippy::cast_possible_truncation, reason = "seconds")]
async fn invoke(
    policy: &Policy,
    budget: &Budget,
    answers: &[Answer],
    steps: &Steps,
) -> Result<(), Answer> {
    answered(answers, attempt.number())
}

/// A call, with the time that it took, which is that of its delays.
async fn called(policy: &Policy, budget: &Budget, answers: &[Answer], steps: &Steps) {
    if invoke(policy, budget, answers, steps).await.is_ok() {
        steps.borrow_mut().push((Success, budget.available()));
    }
}

async fn steps(policy: &Policy, budget: &Budget, answers: &[Answer]) -> Vec<(Then, f64)> {
    let steps = Steps::default();
    let start = Instant::now();
    called(policy, budget, answers, &steps).await;
    let steps = steps.into_inner();
    let delays = steps.iter().map(|(then, _)| match then {
        Retry(delay) => *delay,
        _ => 0,
    });
    assert_eq!(start.elapsed(), millis(delays.sum()));
    steps
}

const FAULT: Answer = Status(500);
const OK: Answer = Status(200);

/// A name, the tokens at the start, and for each response the next step and the remaining tokens.
type Row<'a> = (&'a str, u32, Policy, &'a [(Answer, Then, f64)]);

async fn check(rows: &[Row<'_>]) {
    for (name, tokens, policy, row) in rows {
        let budget = Budget::standard().capacity(*tokens);
        let answers: Vec<_> = row.iter().map(|(answer, _, _)| *answer).collect();
        let expected: Vec<_> = row.iter().map(|(_, then, left)| (*then, *left)).collect();
        assert_eq!(steps(policy, &budget, &answers).await, expected, "{name}");
    }
}

#[tokio::test(start_paused = true)]
async fn single_invocations() {
    const BAD_GATEWAY: Answer = Status(502);

    check(&rows! {
        "eventually succeeds", 500, STANDARD,
            &[(FAULT, Retry(50), 486.0), (FAULT, Retry(100), 472.0), (OK, Success, 486.0)];
        "max attempts", 500, STANDARD,
            &[(BAD_GATEWAY, Retry(50), 486.0), (BAD_GATEWAY, Retry(100), 472.0), (BAD_GATEWAY, MaxAttempts, 472.0)];
        "quota after a single retry", 14, STANDARD, &[(FAULT, Retry(50), 0.0), (FAULT, QuotaExceeded, 0.0)];
        "no quota", 0, STANDARD, &[(FAULT, QuotaExceeded, 0.0)];
        "backoff timing", 500, STANDARD.max(4),
            &[(FAULT, Retry(50), 486.0), (FAULT, Retry(100), 472.0), (FAULT, Retry(200), 458.0),
                (FAULT, Retry(400), 444.0), (FAULT, MaxAttempts, 444.0)];
        "max backoff", 500, STANDARD.max(4).cap(millis(200)),
            &[(FAULT, Retry(50), 486.0), (FAULT, Retry(100), 472.0), (FAULT, Retry(200), 458.0),
                (FAULT, Retry(200), 444.0), (FAULT, MaxAttempts, 444.0)];
        "stops after the quota is used up", 20, STANDARD.max(4),
            &[(FAULT, Retry(50), 6.0), (BAD_GATEWAY, QuotaExceeded, 6.0)];
        "throttling", 500, STANDARD, &[(Throttling, Retry(1000), 495.0), (OK, Success, 500.0)];
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn retry_after_dynamodb_and_backoff_range() {
    check(&rows! {
        "retry-after honoured", 500, STANDARD, &[(After("1500"), Retry(1500), 486.0), (OK, Success, 500.0)];
        "retry-after, at least the own delay", 500, STANDARD, &[(After("0"), Retry(50), 486.0), (OK, Success, 500.0)];
        "retry-after, at most 5 s more", 500, STANDARD, &[(After("10000"), Retry(5050), 486.0), (OK, Success, 500.0)];
        "retry-after, invalid", 500, STANDARD, &[(After("invalid"), Retry(50), 486.0), (OK, Success, 500.0)];
        "retry-after, negative", 500, STANDARD, &[(After("-100"), Retry(50), 486.0), (OK, Success, 500.0)];
        // smithy-rs, `retry_after` under 2.1, also has 10000.
        "retry-after, smithy-rs", 500, STANDARD, &[(After("3000"), Retry(3000), 486.0), (OK, Success, 500.0)];
        "retry-after, below the own delay", 500, STANDARD, &[(After("10"), Retry(50), 486.0), (OK, Success, 500.0)];
        "dynamodb", 500, STANDARD.max(3).base(millis(25)),
            &[(FAULT, Retry(25), 486.0), (FAULT, Retry(50), 472.0), (FAULT, Retry(100), 458.0),
                (FAULT, MaxAttempts, 458.0)];
        "backoff range", 500, STANDARD.max(11),
            &[(FAULT, Retry(50), 486.0), (FAULT, Retry(100), 472.0), (FAULT, Retry(200), 458.0),
                (FAULT, Retry(400), 444.0), (FAULT, Retry(800), 430.0), (FAULT, Retry(1600), 416.0),
                (FAULT, Retry(3200), 402.0), (FAULT, Retry(6400), 388.0), (FAULT, Retry(12800), 374.0),
                (FAULT, Retry(20000), 360.0), (FAULT, Retry(20000), 346.0), (FAULT, MaxAttempts, 346.0)];
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn several_invocations() {
    let budget = Budget::standard().capacity(30);
    let policy = STANDARD.max(4);
    let first = steps(&policy, &budget, &[FAULT, Status(502), OK]).await;
    let expected = [(Retry(50), 16.0), (Retry(100), 2.0), (Success, 16.0)];
    assert_eq!(first, expected);
    let second = steps(&policy, &budget, &[FAULT, OK]).await;
    assert_eq!(second, [(Retry(50), 2.0), (Success, 16.0)]);
}

/// Only the last number doesn't depend on the order of the steps: this is the order in the table.
#[tokio::test(start_paused = true)]
async fn a_bucket_that_several_threads_share() {
    let budget = Budget::standard();
    let policy = STANDARD.max(4);
    let steps = Steps::default();
    let later = async {
        sleep(millis(60)).await;
        called(&policy, &budget, &[FAULT, OK], &steps).await;
    };
    tokio::join!(called(&policy, &budget, &[FAULT, FAULT, OK], &steps), later);
    let expected = [
        (Retry(50), 486.0),
        (Retry(100), 472.0),
        (Retry(50), 458.0),
        (Success, 472.0),
        (Success, 486.0),
    ];
    assert_eq!(*steps.borrow(), expected);
}

/// The delay of the retry that the budget did not pay for.
fn unpaid(gave_up: &GaveUp<Answer>) -> Duration {
    let policy = match gave_up.error() {
        Throttling => STANDARD.base(secs(1)),
        _ => STANDARD,
    };
    let retry = gave_up.attempts() as usize - 1;
    policy.delays().nth(retry).unwrap_or_default()
}

/// Operations that poll are called again at once, so they wait before they fail for want of a quota: with a `fallback`.
#[tokio::test(start_paused = true)]
async fn long_polls_wait_before_they_fail() {
    #[retry(policy = STANDARD, budget = budget, on = Answer::verdict, attempt = attempt,
        fallback = async |gave_up: GaveUp<Answer>| {
            if gave_up.reason() == Reason::Budget {
                sleep(unpaid(&gave_up)).await;
            }
            Err(gave_up.into_error())
        })]
    async fn poll(budget: &Budget, answers: &[Answer]) -> Result<(), Answer> {
        answered(answers, attempt.number())
    }

    let rows: [(u32, &[Answer], u64); 6] = [
        (0, &[Status(500)], 50),
        (0, &[Throttling], 1000),
        (14, &[Status(500), Status(500)], 50 + 100),
        (500, &[Status(500), Status(500), Status(500)], 50 + 100),
        (500, &[Status(500), Status(200)], 50),
        (500, &[Status(404)], 0),
    ];
    for (tokens, answers, delays) in rows {
        let start = Instant::now();
        let outcome = poll(&Budget::standard().capacity(tokens), answers).await;
        assert_eq!(outcome.is_ok(), answers.ends_with(&[Status(200)]));
        assert_eq!(start.elapsed(), millis(delays), "{answers:?}");
    }
}

/// smithy-typescript: all retries count in the exponent, and the base is that of the failure. The capacity at the end
/// is what the costs leave. The former behaviour has the same delays from other bases, and other costs, which no budget
/// of ours has: a standard one has those of 2.1.
#[tokio::test(start_paused = true)]
async fn sequences_of_smithy_typescript() {
    let throttled = Section::new().base(millis(500));
    let legacy = STANDARD.max(7).base(millis(100)).throttled(throttled);
    let mixed = [
        Throttling, Throttling, FAULT, FAULT, FAULT, FAULT, Throttling, FAULT,
    ];
    let rows: [(Policy, [Answer; 8], [u64; 7], f64); 3] = rows! {
        legacy, [FAULT; 8], [100, 200, 400, 800, 1600, 3200, 6400], 500.0 - 7.0 * 14.0;
        legacy, [Throttling; 8], [500, 1000, 2000, 4000, 8000, 16000, 20000], 500.0 - 7.0 * 5.0;
        STANDARD.max(7), mixed, [1000, 2000, 200, 400, 800, 1600, 20000], 500.0 - 3.0 * 5.0 - 4.0 * 14.0;
    };
    for (policy, answers, delays, left) in rows {
        let steps = steps(&policy, &Budget::standard(), &answers).await;
        let retried: Vec<_> = steps.iter().map(|(then, _)| *then).collect();
        let mut expected: Vec<_> = delays.map(Retry).into();
        expected.push(MaxAttempts);
        assert_eq!(retried, expected);
        assert_eq!(steps[7].1, left);
    }
}
