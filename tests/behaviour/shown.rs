//! Foreign texts in the log, events and errors: no secrets in URLs, one line, limited length.

use std::fmt::{Debug, Display};

use retry_runtime::own_loop::{self, Call, Site};
use support::prelude::*;

use crate::log::log_of;

const SENDING: &str = "error sending request for url (http://user:pw@host/v1/models?key=AIza)";
const SENT: &str = "error sending request for url (http://host/v1/models)";

/// An error with a text and a source, as `thiserror` makes them.
#[derive(Debug)]
struct Failed(String, Option<Box<dyn Error + Send + Sync>>);

impl Display for Failed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Error for Failed {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.1.as_deref().map(|source| source as _)
    }
}

fn failed(text: &str) -> Failed {
    Failed(String::from(text), None)
}

impl Failed {
    fn by(self, source: impl Error + Send + Sync + 'static) -> Self {
        Self(self.0, Some(Box::new(source)))
    }
}

/// Returns the text of an error in the record of a call that returns it.
macro_rules! error_of {
    ($error:expr, $ty:ty) => {{
        #[retry(max = 0, name = "call", on = |_| true)]
        fn call(error: &mut Option<$ty>) -> Result<(), $ty> {
            Err(error.take().unwrap())
        }

        let recording = testing::record();
        assert!(call(&mut Some($error)).is_err());
        let line = recording.lines().remove(0);
        let line = line.strip_prefix("gave up call attempt=1 max=0 error=");
        String::from(line.unwrap().strip_suffix(" reason=exhausted").unwrap())
    }};
}
pub(crate) use error_of;

/// Returns its `GaveUp` as text.
#[retry(max = 0, give_up = |gave_up: GaveUp<String>| gave_up.to_string(), on = |_| true)]
fn given_up(error: &str) -> Result<(), String> {
    Err(String::from(error))
}

#[tokio::test]
async fn a_foreign_text_has_no_secrets_in_its_urls_and_cannot_forge_a_record() {
    #[retry(max = 0, name = name, on = |_| true, observe = |event| {
        if let EventData::GaveUp { error, .. } = event.data {
            *seen = error.to_string();
        }
    })]
    async fn call(name: &str, error: &str, seen: &mut String) -> Result<(), Failed> {
        Err(failed(error).by(failed(SENDING)))
    }

    let mut seen = String::new();
    let expected = format!(
        " WARN retry: gave up call=call attempt=1 max=0 error=HTTP 503: {SENT} reason=exhausted\n"
    );
    let log = log_of(call("call", "HTTP 503", &mut seen)).await;
    assert_eq!(log, expected);
    assert_eq!(seen, format!("HTTP 503: {SENT}"));
    let forged = "503\n WARN retry: gave up call=other\u{1b}[2J\r";
    let log = log_of(call("a\nb", forged, &mut seen)).await;
    let expected = format!(
        r" WARN retry: gave up call=a\nb attempt=1 max=0 error=503\n WARN retry: gave up call=other\u{{1b}}[2J\r: {SENT} reason=exhausted"
    );
    assert_eq!(log, format!("{expected}\n"));
    assert_eq!(error_of!(failed(SENDING), Failed), SENT);
    assert_eq!(error_of!(failed(SENDING).into(), Box<dyn Error>), SENT);
    assert_eq!(error_of!(SENDING.into(), String), SENT);
    assert_eq!(error_of!(anyhow::anyhow!(SENDING), anyhow::Error), SENT);
}

#[test]
fn secrets_are_redacted_everywhere_else() {
    let policy = Policy::none().max(0);
    let site = Site::new(&policy, "call");
    let recording = testing::record();
    let mut call = Call::new();
    let _ = call.failed(&site, Verdict::STOP, &SENDING);
    let failure = own_loop::Failure::new(&site, Verdict::STOP, &SENDING);
    call.gave_up(failure, Reason::CorrectionFailed);
    let lines = recording.lines();
    assert!(lines.iter().all(|line| line.contains(SENT)), "{lines:?}");

    let retrying = EventData::Retrying {
        retry: 1,
        retry_max: None,
        max: None,
        delay: Duration::ZERO,
        error: &SENDING,
        kind: Kind::Transient,
    };
    let event = Event::new("https://u:p@h/x", 1, retrying);
    let line = format!(
        "retrying https://h/x attempt=1 max=unlimited delay=0ns error={SENT} reason=transient"
    );
    assert_eq!(event.to_string(), line);
    assert_eq!(format!("{event:?}"), format!("Event({line})"));

    let on = Policy::none().max(0).on(|_: &String| false);
    let results = retry_each_blocking(on, [1], |_| {
        Ok::<Vec<Result<(), _>>, _>(vec![Err(String::from(SENDING))])
    });
    let error = results[0].as_ref().unwrap_err().to_string();
    assert!(error.ends_with(SENT), "{error}");

    let error = given_up(SENDING).unwrap_err();
    assert!(error.ends_with(SENT), "{error}");
}

#[tokio::test]
async fn plans_show_and_save_no_secrets_either() {
    let mut plan = Plan::<(), String>::new().name("a\nb");
    plan.add("x\u{1b}[2J", [], async |[]| Err(String::from(SENDING)));
    let recording = testing::record();
    let summary = plan.run().await.unwrap();
    let expected = [
        format!(r"failed a\nb.x\u{{1b}}[2J attempt=1 error={SENT}"),
        format!(r"summary a\nb: {summary}"),
    ];
    assert_eq!(recording.lines(), expected);
    let expected = r"0 completed; 1 failed: x\u{1b}[2J; 1 execution";
    assert_eq!(summary.to_string(), expected);
    let state = serde_json::to_string(&plan.state()).unwrap();
    assert!(state.contains(SENT) && !state.contains("AIza"), "{state}");
    let hostile =
        r#"{"completed":{},"failed":{"x\u001b[2J":"\u001b[2J\n"},"dead_ends":[],"executions":1}"#;
    plan.load(serde_json::from_str(hostile).unwrap()).unwrap();
    let loaded = serde_json::to_string(&plan.state()).unwrap();
    assert!(loaded.contains(r"\\u{1b}[2J\\n"), "{loaded}");
    plan.add("y", ["\r"], async |[_]| Ok(()));
    let error = plan.check().unwrap_err().to_string();
    assert!(error.starts_with(r"y → \r: "), "{error}");
}

/// Those from before `show` was set, too.
#[tokio::test(start_paused = true)]
async fn a_plan_shows_errors_with_its_chains_show() {
    for (is_failed, first) in [
        (false, "error=token"),
        (true, "error=token reason=not retryable"),
    ] {
        let mut plan = Plan::<(), String>::new();
        plan.add("x", [], async |[]| Err(String::from("token 1234")));
        if is_failed {
            plan.run().await.unwrap();
        }
        let recording = testing::record();
        let policy = Policy::new().max(1).on(|_: &String| !is_failed);
        // It fails after it has written something.
        let policy = policy.show(|error: &String, f: &mut fmt::Formatter<'_>| {
            f.write_str(&error[..5])?;
            Err(fmt::Error)
        });
        let end = plan.run_until(policy, async |_| Validity::Invalid("incomplete".into()));
        assert!(!end.await.unwrap().is_valid());
        let lines = recording.lines();
        assert!(lines[0].ends_with(first), "{lines:?}");
        let shown = lines.iter().filter(|line| line.contains("error=token"));
        assert!(is_failed || shown.count() >= 2, "{lines:?}");
        assert!(!lines.iter().any(|line| line.contains("1234")), "{lines:?}");
        let state = serde_json::to_string(&plan.state()).unwrap();
        assert!(is_failed || state.contains(r#""token""#), "{state}");
        assert_eq!(plan.error("x").unwrap(), "token 1234");
    }
}

/// An error whose `Display` writes a mebibyte, and records how much was written.
struct Endless;

impl Display for Endless {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (0..1 << 10).try_for_each(|_| f.write_str(&"é".repeat(512)))
    }
}

impl Debug for Endless {
    fn fmt(&self, _: &mut fmt::Formatter<'_>) -> fmt::Result {
        panic!("asked for more than its text");
    }
}

impl Error for Endless {}

#[test]
fn a_long_text_is_cut_with_a_note() {
    let shown = error_of!(Endless, Endless);
    let (kept, note) = shown.split_once('…').unwrap();
    assert!(kept.chars().all(|char| char == 'é') && shown.len() <= 1024);
    assert_eq!(note, format!(" ({} bytes cut)", (1 << 20) - kept.len()));
    let caused = error_of!(failed("outer").by(Endless), Failed);
    assert!(caused.starts_with("outer: éé") && caused.len() <= 1024);

    let error = given_up(&"x".repeat(1 << 20)).unwrap_err();
    let end = " bytes cut)";
    assert!(error.len() < 1100 && error.ends_with(end), "{error}");
}

#[test]
fn causes_are_shown() {
    macro_rules! record_of {
        ($bound:ident, $error:expr) => {{
            #[retry(max = 0, name = "call", on = |_| true)]
            fn call<E: $bound>(error: &mut Option<E>) -> Result<(), E> {
                Err(error.take().unwrap())
            }

            let recording = testing::record();
            assert!(call(&mut Some($error)).is_err());
            recording.lines().remove(0)
        }};
    }

    let refused = || failed("the model refused").by(failed("status 429").by(failed("quota")));
    let chain = "the model refused: status 429: quota";
    assert_rows! {
        error_of!(refused(), Failed) => chain;
        error_of!(refused().into(), Box<dyn Error>) => chain;
        error_of!(refused().into(), Box<dyn Error + Send + Sync>) => chain;
        error_of!(Arc::new(refused()), Arc<Failed>) => chain;
        error_of!(anyhow::Error::new(refused()), anyhow::Error) => chain;
    }
    let context = anyhow::Error::new(refused()).context("asking");
    let expected = format!("asking: {chain}");
    assert_eq!(error_of!(context, anyhow::Error), expected);

    assert!(record_of!(Error, refused()).contains(chain));
    assert!(record_of!(Display, refused()).contains("error=the model refused reason"));

    // Each is shown once.
    let repeating = failed("sending: no route").by(failed("no route").by(failed("host down")));
    assert_eq!(error_of!(repeating, Failed), "sending: no route: host down");
    let same = failed("busy").by(failed("busy").by(failed("")));
    assert_eq!(error_of!(same, Failed), "busy");
    let io = io::Error::other(failed("outer").by(failed("inner")));
    assert_eq!(error_of!(io, io::Error), "outer: inner");
}

#[test]
fn causes_have_an_end() {
    #[derive(Debug)]
    struct Ouroboros(u32);

    impl Display for Ouroboros {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            write!(f, "{}", self.0)
        }
    }

    static ENDS: [Ouroboros; 2] = [Ouroboros(0), Ouroboros(1)];

    impl Error for Ouroboros {
        fn source(&self) -> Option<&(dyn Error + 'static)> {
            Some(&ENDS[self.0 as usize ^ 1])
        }
    }

    let shown = error_of!(Ouroboros(0), Ouroboros);
    let is_cut = shown.starts_with("0: 1: 0: 1: ") && shown.ends_with(": 0: …");
    assert!(is_cut && shown.len() < 100, "{shown}");
}

#[test]
fn an_error_with_only_debug_is_not_dumped() {
    #[derive(Debug, Classify)]
    #[expect(dead_code, reason = "read by Debug")]
    enum ModelError {
        #[classify(stop)]
        Overloaded { authorization: &'static str },
        #[classify(stop)]
        r#Tuple(&'static str),
    }

    #[derive(Debug, Classify)]
    #[classify(stop)]
    #[expect(dead_code, reason = "read by Debug")]
    struct Refused(&'static str);

    #[derive(Debug)]
    struct Chosen(u16);

    impl Classify for Chosen {
        fn classify(&self) -> Verdict {
            Verdict::STOP
        }

        fn describe(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            write!(f, "status {}", self.0)
        }
    }

    let overloaded = ModelError::Overloaded {
        authorization: "Bearer sk-1",
    };
    assert_rows! {
        error_of!(overloaded, ModelError) => "ModelError::Overloaded";
        error_of!(ModelError::Tuple("sk-1"), ModelError) => "ModelError::Tuple";
        error_of!(Refused("sk-1"), Refused) => "Refused";
        error_of!(Box::new(Refused("sk-1")), Box<Refused>) => "Refused";
        error_of!(Chosen(7), Chosen) => "status 7";
    }
}
