use support::prelude::*;

#[derive(Default)]
struct Lines(RefCell<Vec<String>>);

impl Observer for Lines {
    fn observe(&self, event: &Event<'_>) {
        self.0.borrow_mut().push(event.to_string());
    }
}

#[retry(max = 1, backoff = "none", name = "call", observe = lines)]
async fn by_reference(script: &mut Script, lines: &Lines) -> Result<usize, Failure> {
    script.next()
}

#[tokio::test]
async fn sees_every_event() {
    let lines = Lines::default();
    let seen = async |steps: &[Failure]| {
        let _ = by_reference(&mut Script::new(steps.to_vec()), &lines).await;
        lines.0.take()
    };
    let expected = ["starting call attempt=1", "succeeded call attempt=1 max=1"];
    assert_eq!(seen(&[]).await, expected);
    let expected = [
        "starting call attempt=1",
        "retrying call attempt=1 max=1 delay=0ns error=transient reason=transient",
        "starting call attempt=2",
        "succeeded call attempt=2 max=1",
    ];
    assert_eq!(seen(&[TRANSIENT]).await, expected);
    let expected = [
        "starting call attempt=1",
        "retrying call attempt=1 max=1 delay=0ns error=transient reason=transient",
        "starting call attempt=2",
        "gave up call attempt=2 max=1 error=stop reason=not retryable",
    ];
    assert_eq!(seen(&[TRANSIENT, STOP]).await, expected);
}

struct Agent {
    lines: Vec<String>,
    retries: u32,
    shared: Arc<dyn Observer>,
    optional: Option<Lines>,
}

impl Agent {
    #[retry(max = 2, backoff = "none", name = "call", observe = |event| {
        if let EventData::Retrying { .. } = event.data {
            self.retries += event.attempt;
        }
        self.lines.push(event.to_string());
    })]
    fn by_closure(&mut self, script: &mut Script) -> Result<usize, Failure> {
        self.lines.push(format!("step {}", script.attempts));
        script.next()
    }

    scripted! {
        #[retry(max = 2, backoff = "none", observe = (&self.shared, &self.optional))]
        fn by_two(&self, script: &mut Script) -> Result<usize, Failure> = script.next();
        #[retry(max = 2, backoff = "none", observe = count)]
        fn by_path(&self, script: &mut Script) -> Result<usize, Failure> = script.next();
    }
}

std::thread_local! {
    static COUNT: Cell<u32> = const { Cell::new(0) };
}

fn count(event: &Event<'_>) {
    assert!(
        event.call.ends_with("observe::Agent::by_path"),
        "{}",
        event.call
    );
    COUNT.set(COUNT.get() + event.attempt);
}

#[test]
fn may_change_what_the_body_changes() {
    let mut agent = agent();
    assert_eq!(
        agent.by_closure(&mut Script::new([TRANSIENT, TRANSIENT])),
        Ok(3)
    );
    assert_eq!(agent.retries, 1 + 2);
    assert_eq!(agent.lines.len(), 3 + 6);
    assert_eq!(agent.lines[0], "starting call attempt=1");
    assert_eq!(agent.lines[1], "step 0");
}

#[test]
fn may_be_shared_optional_several_or_a_path() {
    let lines = Arc::new(Shared::default());
    let mut agent = agent();
    agent.shared = lines.clone();
    agent.optional = Some(Lines::default());
    assert_eq!(agent.by_two(&mut Script::new([TRANSIENT])), Ok(2));
    assert_eq!(lines.0.lock().unwrap().len(), 4);
    assert_eq!(agent.optional.unwrap().0.into_inner().len(), 4);
    agent.optional = None;
    assert_eq!(agent.by_path(&mut Script::new([TRANSIENT])), Ok(2));
    assert_eq!(COUNT.get(), 1 + 1 + 2 + 2);
}

#[derive(Default)]
struct Shared(Mutex<Vec<String>>);

impl Observer for Shared {
    fn observe(&self, event: &Event<'_>) {
        self.0.lock().unwrap().push(event.to_string());
    }
}

fn agent() -> Agent {
    Agent {
        lines: Vec::new(),
        retries: 0,
        shared: Arc::new(Shared::default()),
        optional: None,
    }
}
