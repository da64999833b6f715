use support::prelude::*;

#[derive(Default)]
struct Lines(Mutex<Vec<String>>);

impl Observer for Lines {
    fn observe(&self, event: &Event<'_>) {
        self.0.lock().unwrap().push(event.to_string());
    }
}

scripted! {
    #[retry(max = 2, backoff = "none", name = "call", observe = |event| lines.push(event.to_string()))]
    fn by_closure(lines: &mut Vec<String>, script: &mut Script) -> Result<usize, Failure> = {
        lines.push(format!("step {}", script.attempts));
        script.next()
    };
    #[retry(max = 2, backoff = "none", observe = (shared, optional))]
    fn by_two(shared: &Arc<dyn Observer>, optional: Option<&Lines>);
    #[retry(max = 2, backoff = "none", observe = count)] fn by_path();
}

std::thread_local! {
    static COUNT: Cell<u32> = const { Cell::new(0) };
}

fn count(event: &Event<'_>) {
    let name = event.call;
    assert!(name.ends_with("observe::by_path"), "{name}");
    COUNT.set(COUNT.get() + event.attempt);
}

#[test]
fn may_change_what_the_body_changes() {
    let mut lines = Vec::new();
    assert_eq!(by_closure(&mut lines, &mut Script::new([TRANSIENT])), Ok(2));
    assert_eq!(lines.len(), 2 + 4);
    assert_eq!(lines[..2], ["starting call attempt=1", "step 0"]);
}

#[test]
fn may_be_shared_optional_several_or_a_path() {
    let (lines, optional) = (Arc::new(Lines::default()), Lines::default());
    let shared: Arc<dyn Observer> = lines.clone();
    let script = || Script::new([TRANSIENT]);
    assert_eq!(by_two(&shared, Some(&optional), &mut script()), Ok(2));
    assert_eq!(optional.0.into_inner().unwrap().len(), 4);
    assert_eq!(by_two(&shared, None, &mut script()), Ok(2));
    assert_eq!(lines.0.lock().unwrap().len(), 4 + 4);
    assert_eq!(by_path(&mut script()), Ok(2));
    assert_eq!(COUNT.get(), 1 + 1 + 2 + 2);
}
