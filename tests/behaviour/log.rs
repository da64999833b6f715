//! The log: one record per retry, per call given up, per call that succeeded after retries, and the records of plans.

use std::sync::Once;

use support::prelude::*;
use support::sink::Sink;
use tracing::field::{Field, Visit};
use tracing::subscriber::{self, Subscriber};
use tracing::{Level, span};
use tracing_subscriber::fmt::format::FmtSpan;

#[derive(Debug)]
struct Status(u16, &'static str);

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.0, self.1)
    }
}

impl Classify for Status {
    fn classify(&self) -> Verdict {
        (self.0 >= 500).into()
    }
}

#[retry(max = 5, backoff = "fixed", base = "1200ms", jitter = "none", name = "model.complete",
    until = |answer| *answer > 0)]
async fn complete(failures: &mut Vec<u16>) -> Result<u32, Status> {
    match failures.pop() {
        Some(200) => Ok(0),
        Some(status) => Err(Status(status, "overloaded")),
        None => Ok(1),
    }
}

/// Installs a subscriber for every level. Otherwise, a record that another test's subscriber ignores on another thread
/// may be cached as disabled.
fn hear_everything() {
    static HEARD: Once = Once::new();
    HEARD.call_once(|| {
        let all = tracing_subscriber::fmt()
            .with_max_level(Level::TRACE)
            .with_writer(io::sink);
        subscriber::set_global_default(all.finish()).unwrap();
    });
}

/// The log as people see it.
pub(crate) async fn log_of<T>(call: impl Future<Output = T>) -> String {
    log_up_to(Level::INFO, FmtSpan::NONE, call).await
}

/// Like `log_of`, with a record at the end of each span.
pub(crate) async fn log_with_ends_of<T>(call: impl Future<Output = T>) -> String {
    log_up_to(Level::INFO, FmtSpan::CLOSE, call).await
}

async fn log_up_to<T>(most: Level, spans: FmtSpan, call: impl Future<Output = T>) -> String {
    let sink = Sink::default();
    let subscriber = tracing_subscriber::fmt()
        .with_writer(sink.writer())
        .without_time()
        .with_ansi(false)
        .with_max_level(most)
        .with_span_events(spans)
        .finish();
    hear_everything();
    let _guard = subscriber::set_default(subscriber);
    call.await;
    sink.text()
}

/// A number that is not there can't be summed wrongly.
#[tokio::test]
async fn an_unlimited_max_has_no_number() {
    let chain = Policy::new().max(u32::MAX).name("poll");
    let log = log_of(chain.call(async || Err::<(), _>(STOP))).await;
    let expected = " WARN retry: gave up call=poll attempt=1 error=stop reason=not retryable\n";
    assert_eq!(log, expected);
}

/// 1 plus 0.848 is 1.8479999999999999, and 10.416 µs are 1.0416e-5 s.
#[tokio::test(start_paused = true)]
async fn a_delay_has_no_more_digits_than_it_needs() {
    for (nanos, shown, delay) in [
        (1_848_000_000, "1.848s", "1.848"),
        (250_000, "250µs", "0.0002"),
        (10_416, "10µs", "0.0"),
    ] {
        let policy = Policy::fixed(Duration::from_nanos(nanos)).max(1);
        let chain = policy.jitter(Jitter::None).name("load");
        let log = log_of(chain.call(async || Err::<(), _>(TRANSIENT))).await;
        let line = format!("retrying in {shown} call=load attempt=1 max=1 delay={delay} ");
        assert!(log.starts_with(&format!(" WARN retry: {line}")), "{log}");
    }
}

async fn log(failures: &[u16]) -> String {
    log_of(complete(&mut failures.to_vec())).await
}

#[tokio::test(start_paused = true)]
async fn reads_as_promised() {
    assert_eq!(log(&[]).await, "");
    let lines = [
        " WARN retry: retrying in 1.2s call=model.complete attempt=1 max=5 delay=1.2 error=503 overloaded reason=transient\n",
        " WARN retry: retrying in 1.2s call=model.complete attempt=2 max=5 delay=1.2 error=value rejected reason=transient\n",
        " INFO retry: succeeded call=model.complete attempt=3 max=5\n",
    ];
    assert_eq!(log(&[200, 503]).await, lines.concat());
    let ignoring = Policy::none().timeout(secs(3)).name("without_timeout");
    assert_eq!(
        log_of(ignoring.call(async || Ok::<_, Failure>(()))).await,
        " WARN retry: ignoring the policy's timeout call=without_timeout \
         reason=the call doesn't set `timeout`, or can't have one\n"
    );
    assert_eq!(
        log(&[401]).await,
        " WARN retry: gave up call=model.complete attempt=1 max=5 error=401 overloaded reason=not retryable\n"
    );
    let exhausted = log(&[500; 9]).await;
    let lines: Vec<_> = exhausted.lines().collect();
    assert_eq!(lines.len(), 6);
    assert!(lines[..5].iter().all(|line| line.contains(" retrying ")));
    assert_eq!(
        lines[5],
        " WARN retry: gave up call=model.complete attempt=6 max=5 error=500 overloaded reason=exhausted"
    );
}

#[tokio::test(start_paused = true)]
async fn corrections_are_logged() {
    scripted! {
        #[retry(name = "extract", on = |_| true,
            validate = |number| if *number > 2 { Ok(()) } else { Err(format!("{number} is too small")) },
            correct = async |number, _| Ok(number + 1))]
        async fn extract() -> Result<u32, String> = Ok(1);
    }

    let lines = [
        " WARN retry: correcting at once call=extract attempt=1 correction=1 delay=0.0 error=1 is too small reason=invalid retry_max=3\n",
        " WARN retry: correcting at once call=extract attempt=1 correction=2 delay=0.0 error=2 is too small reason=invalid retry_max=3\n",
        " INFO retry: succeeded call=extract attempt=1 correction=2 max=3\n",
    ];
    assert_eq!(log_of(extract()).await, lines.concat());
}

/// A record's level, the place in the source, and the fields as text.
type Record = (Level, Option<u32>, Vec<(String, String)>);

/// Collects records and checks that each declares the same fields.
#[derive(Clone, Default)]
struct Fields(Arc<Mutex<Vec<Record>>>);

impl Subscriber for Fields {
    fn enabled(&self, metadata: &tracing::Metadata<'_>) -> bool {
        metadata.target() == "retry"
    }

    fn event(&self, event: &tracing::Event<'_>) {
        let names = event.metadata().fields().iter().map(|field| field.name());
        let declared: Vec<_> = names.collect();
        for name in "call attempt correction max delay error reason".split(' ') {
            assert!(declared.contains(&name), "{name} in {declared:?}");
        }
        let mut values = Values(Vec::new());
        event.record(&mut values);
        let (level, line) = (*event.metadata().level(), event.metadata().line());
        self.0.lock().unwrap().push((level, line, values.0));
    }

    fn new_span(&self, _: &span::Attributes<'_>) -> span::Id {
        span::Id::from_u64(1)
    }

    fn record(&self, _: &span::Id, _: &span::Record<'_>) {}
    fn record_follows_from(&self, _: &span::Id, _: &span::Id) {}
    fn enter(&self, _: &span::Id) {}
    fn exit(&self, _: &span::Id) {}
}

struct Values(Vec<(String, String)>);

impl Values {
    fn push(&mut self, field: &Field, value: String) {
        self.0.push((String::from(field.name()), value));
    }
}

impl Visit for Values {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        self.push(field, format!("{value:?}"));
    }

    fn record_u64(&mut self, field: &Field, value: u64) {
        self.push(field, format!("number {value}"));
    }

    fn record_f64(&mut self, field: &Field, value: f64) {
        self.push(field, format!("number {value}"));
    }
}

/// Subscribers that limit how often one place logs must not let retries crowd out what ends a call.
#[tokio::test(start_paused = true)]
async fn has_the_fields_as_values_and_each_kind_of_record_from_its_own_line() {
    let fields = Fields::default();
    let _guard = subscriber::set_default(fields.clone());
    complete(&mut vec![503]).await.unwrap();
    complete(&mut vec![401]).await.unwrap_err();
    let records = fields.0.lock().unwrap().clone();
    let levels: Vec<_> = records.iter().map(|(level, ..)| *level).collect();
    assert_eq!(levels, [Level::WARN, Level::INFO, Level::WARN]);
    let lines = records.iter().map(|(_, line, _)| line.expect("a line"));
    let [retrying, succeeded, gave_up] = *lines.collect::<Vec<_>>() else {
        panic!("three records, not {records:?}");
    };
    assert!(retrying != gave_up && retrying != succeeded, "{records:?}");
    for (name, value) in [
        ("attempt", "number 1"),
        ("max", "number 5"),
        ("delay", "number 1.2"),
        ("message", "retrying in 1.2s"),
        ("error", "503 overloaded"),
        ("reason", "transient"),
        ("call", "model.complete"),
    ] {
        let field = (name.into(), value.into());
        assert!(records[0].2.contains(&field), "{name} in {records:?}");
    }
    plan().await;
    let mut plan = Plan::<(), Status>::new();
    plan.add("search", [], async |[]| Ok(()));
    plan.run().await.unwrap();
    let records = fields.0.lock().unwrap();
    let (level, _, values) = &records[records.len() - 2];
    assert_eq!(*level, Level::DEBUG);
    for (name, value) in [
        ("attempt", "number 1"),
        ("call", "plan.search"),
        ("message", "completed"),
    ] {
        let field = (name.into(), value.into());
        assert!(values.contains(&field), "{name} in {values:?}");
    }
}

/// A plan that retries a failure that heals and one that does not.
async fn plan() {
    let search = testing::sequence([Err(Status(503, "overloaded")), Ok(())]);
    let mut plan = Plan::new().name("bird");
    plan.add("search", [], async |[]| search.next());
    plan.add("reviews", [], async |[]| Err(Status(404, "gone")));
    plan.run().await.unwrap();
    plan.retry_failed().await.unwrap();
}

#[tokio::test]
async fn plans_log_what_fails_heals_and_ends_dead() {
    let lines = [
        " WARN retry: failed call=bird.search attempt=1 error=503 overloaded\n",
        " WARN retry: failed call=bird.reviews attempt=1 error=404 gone\n",
        " INFO retry: summary: 0 completed; 2 failed: search, reviews; 2 executions call=bird\n",
        " WARN retry: retrying call=bird error=2 of 2 subtasks failed: search, reviews\n",
        " INFO retry: recovered call=bird.search attempt=2\n",
        " WARN retry: dead end call=bird.reviews attempt=2 error=404 gone reason=exhausted\n",
        " INFO retry: summary: 1 completed; 1 failed: reviews; 1 dead end: reviews; 4 executions call=bird\n",
    ];
    assert_eq!(log_of(plan()).await, lines.concat());
}

#[tokio::test]
async fn an_error_of_unknown_types_is_explained() {
    #[derive(Debug, thiserror::Error, Classify)]
    #[error("busy")]
    #[classify(transient)]
    struct Busy;

    scripted! {
        #[retry(name = "model.complete")]
        fn complete() -> anyhow::Result<()> = Err(Busy.into());
        #[retry(name = "model.ask", on = |error: &anyhow::Error| error.classify())]
        fn ask() -> anyhow::Result<()> = Err(Busy.into());
    }

    let log = log_up_to(Level::DEBUG, FmtSpan::NONE, async {
        complete().unwrap_err();
        complete().unwrap_err();
        ask().unwrap_err();
    });
    let log = log.await;
    let why = "retry::classify: not retried: no known type in this error decides whether to retry; \
               name yours, as in `on = on::is::<Busy>`, or register it with `on::known`";
    let lines = log.lines().map(str::trim_start);
    let lines: Vec<_> = lines.filter(|line| !is_of_reason(line)).collect();
    let expected = format!("WARN {why} call=model.complete error=busy");
    assert_eq!(lines[0], expected);
    for again in &lines[1..3] {
        let part = "gave up call=model.complete attempt=1";
        assert!(again.contains(part), "{log}");
    }
    assert_eq!(lines[3], format!("WARN {why} call=model.ask error=busy"));
    assert!(lines[4].contains("gave up call=model.ask"), "{log}");
    assert_eq!(lines.len(), 5, "{log}");
    assert_eq!(anyhow::Error::from(Busy).classify(), Verdict::STOP);
}

#[tokio::test(start_paused = true)]
async fn an_unknown_error_of_an_item_or_subtask_is_explained_without_secrets() {
    let send = async |_: Vec<u8>| {
        let known = io::Error::from(io::ErrorKind::NotFound);
        Ok(vec![
            Err::<(), _>(known.into()),
            Err(anyhow::anyhow!("no\nhttp://user:pw@host/v1?key=AIza")),
        ])
    };
    let mut plan = Plan::<(), anyhow::Error>::new().name("pages");
    plan.add("search", [], async |[]| Err(anyhow::anyhow!("no page")));
    let log = log_of(async {
        let results = retry_each(Policy::new().name("texts"), [1, 2], send).await;
        assert!(results.iter().all(Result::is_err));
        let end = plan.run_until(Policy::new(), async |_| Validity::Invalid("none".into()));
        assert!(!end.await.unwrap().is_valid());
    })
    .await;
    let logged = log
        .lines()
        .filter_map(|line| Some(line.split_once("`on::known` ")?.1));
    let logged: Vec<_> = logged.collect();
    let expected = [
        r"call=texts error=no\nhttp://host/v1",
        "call=pages.search error=no page",
    ];
    assert_eq!(logged, expected, "{log}");
    assert!(!log.contains("pw") && !log.contains("AIza"), "{log}");
}

/// Logged once per process, so it may come from any of these tests.
fn is_of_reason(line: &str) -> bool {
    line.contains("retry::reason")
}

#[test]
fn a_dropped_recording_ends_and_the_previous_one_continues() {
    let ask = |what| {
        let call = Policy::none().max(0).name(what);
        call.call_blocking(|| Err::<(), _>(TRANSIENT)).unwrap_err();
    };
    let line = |what| format!("gave up {what} attempt=1 max=0 error=transient reason=exhausted");
    let outer = testing::record();
    ask("before");
    {
        let inner = testing::record();
        ask("within");
        assert_eq!(inner.lines(), [line("within")]);
    }
    ask("after");
    assert_eq!(outer.lines(), [line("before"), line("after")]);
    drop(outer);
    ask("unseen");
    let last = testing::record();
    assert!(last.lines().is_empty());
    ask("last");
    assert_eq!(last.lines(), [line("last")]);
}

/// Fails a number of times.
fn refuse(failures: &mut u32) -> io::Result<()> {
    let Some(left) = failures.checked_sub(1) else {
        return Ok(());
    };
    *failures = left;
    Err(io::Error::other("refused"))
}

#[tokio::test(start_paused = true)]
async fn a_breaker_logs_each_change_once() {
    #[retry(max = 1, backoff = "fixed", base = "6s", jitter = "none", name = "load", breaker = breaker, on = |_| true)]
    async fn load(breaker: &Breaker, failures: &mut u32) -> io::Result<()> {
        refuse(failures)
    }

    let breaker = Breaker::new().consecutive_failures(1);
    let (mut one, mut another) = (1, 1);
    let log = log_of(async {
        let (first, second) = tokio::join!(load(&breaker, &mut one), load(&breaker, &mut another));
        assert!(first.is_ok() && second.is_err());
    });
    let lines = [
        " WARN retry: breaker opened for 5s call=load attempt=1 delay=5.0 error=refused reason=consecutive failures\n",
        " WARN retry: retrying in 6s call=load attempt=1 max=1 delay=6.0 error=refused reason=transient\n",
        " WARN retry: gave up call=load attempt=0 max=1 error=rejected by an open circuit breaker reason=rejected\n",
        " INFO retry: breaker half open call=load attempt=2 reason=open for long enough\n",
        " INFO retry: breaker closed call=load attempt=2 reason=trial call succeeded\n",
        " INFO retry: succeeded call=load attempt=2 max=1\n",
    ];
    assert_eq!(log.await, lines.concat());
}

/// A file is read again to change one number of many.
#[tokio::test]
async fn an_operators_change_is_logged_if_the_value_differs() {
    let (breaker, limiter) = (Breaker::new(), ConcurrencyLimiter::aimd());
    let log = log_of(async {
        for (numbers, bounds) in [
            ("ratio=0.8, open_for=10s", "most=5"),
            ("ratio=0.8, open_for=10s", "most=5"),
            ("ratio=0.8, open_for=20s", "most=5"),
            ("ratio=0.7, open_for=20s", "least=2, most=5"),
        ] {
            breaker.set(numbers.parse().unwrap());
            limiter.set(bounds.parse().unwrap()).unwrap();
        }
    });
    let lines = [
        " INFO retry::protections: breaker's ratio: 0.8\n",
        " INFO retry::protections: breaker's open_for: 10s\n",
        " INFO retry::protections: limits of attempts at a time: 1..=5\n",
        " INFO retry::protections: breaker's open_for: 20s\n",
        " INFO retry::protections: breaker's ratio: 0.7\n",
        " INFO retry::protections: limits of attempts at a time: 2..=5\n",
    ];
    assert_eq!(log.await, lines.concat());
}

#[tokio::test(start_paused = true)]
async fn a_limiter_logs_waits_and_changes() {
    #[retry(max = 1, backoff = "fixed", base = "1s", jitter = "none", name = "load", limiter = limiter,
        on = |_| Verdict::THROTTLED.after(secs(5)))]
    async fn load(limiter: &ConcurrencyLimiter, failures: &mut u32) -> io::Result<()> {
        sleep(secs(1)).await;
        refuse(failures)
    }

    let calls = async || {
        let limiter = ConcurrencyLimiter::aimd().start(1);
        let (mut one, mut another) = (1, 0);
        let (first, second) = tokio::join!(load(&limiter, &mut one), load(&limiter, &mut another));
        assert!(first.is_ok() && second.is_ok());
    };
    let lines = [
        "DEBUG retry: waiting call=load attempt=1 ahead=0\n",
        " INFO retry: limiter paused for 5s call=load attempt=1 delay=5.0\n",
        " WARN retry: retrying in 5s call=load attempt=1 max=1 delay=5.0 error=refused reason=throttled\n",
        "DEBUG retry: waited for 6s call=load attempt=1 delay=6.0\n",
        "DEBUG retry: waiting for at least 20ms call=load attempt=2 delay=0.02 ahead=0\n",
        " INFO retry: limiter resumed call=load attempt=1\n",
        "DEBUG retry: waited for 1s call=load attempt=2 delay=1.0\n",
        " INFO retry: succeeded call=load attempt=2 max=1\n",
    ];
    let log = log_up_to(Level::DEBUG, FmtSpan::NONE, calls());
    assert_eq!(log.await, lines.concat());
    let logged = lines.into_iter().filter(|line| !line.starts_with("DEBUG"));
    assert_eq!(log_of(calls()).await, logged.collect::<String>());
}
