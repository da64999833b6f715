use support::prelude::*;

#[derive(Default)]
struct Lines(Mutex<Vec<String>>);

impl Observer for Lines {
    fn observe(&self, event: &Event<'_>) {
        self.0.lock().unwrap().push(event.to_string());
    }
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
    let name = event.call;
    assert!(name.ends_with("observe::Agent::by_path"), "{name}");
    COUNT.set(COUNT.get() + event.attempt);
}

#[test]
fn may_change_what_the_body_changes() {
    let mut agent = agent();
    let failures = [TRANSIENT, TRANSIENT];
    assert_eq!(agent.by_closure(&mut Script::new(failures)), Ok(3));
    assert_eq!(agent.retries, 1 + 2);
    assert_eq!(agent.lines.len(), 3 + 6);
    assert_eq!(agent.lines[0], "starting call attempt=1");
    assert_eq!(agent.lines[1], "step 0");
}

#[test]
fn may_be_shared_optional_several_or_a_path() {
    let lines = Arc::new(Lines::default());
    let mut agent = agent();
    agent.shared = lines.clone();
    agent.optional = Some(Lines::default());
    assert_eq!(agent.by_two(&mut Script::new([TRANSIENT])), Ok(2));
    assert_eq!(lines.0.lock().unwrap().len(), 4);
    assert_eq!(agent.optional.unwrap().0.into_inner().unwrap().len(), 4);
    agent.optional = None;
    assert_eq!(agent.by_path(&mut Script::new([TRANSIENT])), Ok(2));
    assert_eq!(COUNT.get(), 1 + 1 + 2 + 2);
}

fn agent() -> Agent {
    Agent {
        lines: Vec::new(),
        retries: 0,
        shared: Arc::new(Lines::default()),
        optional: None,
    }
}
