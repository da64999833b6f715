//! Calls in a page in Chromium: the requests that reach the server, their times, the outcomes, and the log.
//!
//! Needs Chromium and the compiled page, so only `.ci/browser` runs it.

use std::collections::HashMap;
use std::env;
use std::fs;
use std::future::pending;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::sync::mpsc::{self, Sender};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant, SystemTime};

use support::chromium::chromium;
use support::loopback::{Server, closed_port, read_head};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use wasm_bindgen_cli_support::Bindgen;

/// The maximum delay of an attempt's arrival at the server, because a machine may be busy.
const SLACK: Duration = Duration::from_secs(5);

/// The least and most milliseconds between the attempts of each call, the slack apart.
const PAUSES: [(&str, &[(u64, u64)]); 5] = [
    ("flaky", &[(200, 200), (400, 400)]),
    ("after", &[(1000, 1000)]),
    // Two seconds later, in a header without fractions.
    ("date", &[(1000, 2000)]),
    // The pause alone is certain: the attempt's time passes while its request is on its way, too.
    ("stalling", &[(100, 400)]),
    ("trickling", &[(100, 400)]),
];

/// The outcomes of the calls.
const LINES: [&str; 10] = [
    "flaky: ok",
    "after: ok",
    "date: ok",
    "stalling: timed out after 300ms",
    "trickling: error decoding response body",
    "down: 503 Service Unavailable",
    // It is unknown if a failed request was sent.
    "unreachable: 3 attempts",
    "limited: busy after 3 attempts, waited: true",
    "blocking: cut short after 6 attempts",
    "patient: 1 attempts",
];

/// The forms in `at_once.rs`. Before each call, the page requests the form's name from the test's server.
const AT_ONCE: &str = "attribute expression cancel timer cancel-timer stream correct chain chain-timer batch plan \
    limiter";

/// The lines in the console.
const LOGGED: [&str; 2] = [
    "console warn:  WARN retry: retrying in 200ms call=page::flaky attempt=1 max=3",
    "console info:  INFO retry: succeeded call=page::flaky attempt=3 max=3",
];

#[test]
fn calls_wait_end_and_log_in_a_page_as_elsewhere() {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("browser");
    let compiled = env::var_os("PAGE").expect("the page's file, of `.ci/browser`");
    let mut bindgen = Bindgen::new();
    let bindgen = bindgen.input_path(compiled).out_name("page");
    let bindgen = bindgen.web(true).expect("glue for a page");
    bindgen.generate(&folder).expect("glue");

    let pages = ["first", "second"].map(|name| Page::open(&folder, name));
    let [first, second] = pages.map(Page::report);
    for Report { lines, arrivals } in [&first, &second] {
        for expected in LINES.iter().chain(&LOGGED) {
            let is_said = lines.iter().any(|line| line.starts_with(expected));
            assert!(is_said, "{expected}: {lines:#?}");
        }
        for form in AT_ONCE.split(' ') {
            let expected = format!("{form}: up");
            assert!(lines.contains(&expected), "{expected}: {lines:#?}");
        }
        for (path, pauses) in PAUSES {
            let arrivals = &arrivals[path];
            assert_eq!(arrivals.len(), pauses.len() + 1, "{path}: {lines:#?}");
            for (pair, &(least, most)) in arrivals.windows(2).zip(pauses) {
                let passed = pair[1] - pair[0];
                let range = Duration::from_millis(least)..Duration::from_millis(most) + SLACK;
                assert!(range.contains(&passed), "{path}: {passed:?}");
            }
        }
        // Only its deadline can end the call before a fourth attempt.
        let attempts = arrivals["down"].len();
        assert!((2..=3).contains(&attempts), "{attempts}");
    }
    for drawn in ["delays: ", "call id: "] {
        assert_ne!(first.line(drawn), second.line(drawn));
    }
}

/// A page of a browser of its own, and its server.
struct Page {
    browser: Child,
    server: Server,
    seen: Arc<Mutex<Arrivals>>,
    reports: mpsc::Receiver<String>,
}

/// When requests came, by their paths.
type Arrivals = HashMap<String, Vec<Instant>>;

struct Report {
    lines: Vec<String>,
    arrivals: Arrivals,
}

impl Page {
    fn open(folder: &Path, name: &str) -> Self {
        let seen = Arc::default();
        let (sender, reports) = mpsc::channel();
        let html =
            include_str!("page.html").replace("CLOSED", &format!("http://{}/", closed_port()));
        let site = Arc::new(Site {
            html,
            folder: folder.to_owned(),
            seen: Arc::clone(&seen),
            sender,
        });
        let server = Server::start(move |stream| Arc::clone(&site).answer(stream));
        let profile = folder.join(name);
        // Files of an earlier run.
        let _ = fs::remove_dir_all(&profile);
        let browser = chromium(&profile)
            // Without this flag, a page that prints nothing is closed at once.
            .arg("--remote-debugging-port=0")
            .arg(server.url())
            .stderr(Stdio::null())
            .spawn()
            .expect("Chromium is installed");
        Self {
            browser,
            server,
            seen,
            reports,
        }
    }

    fn report(self) -> Report {
        let report = self.reports.recv_timeout(Duration::from_secs(60));
        let arrivals = self.seen.lock().unwrap().clone();
        let report = report.unwrap_or_else(|_| {
            let last = arrivals.iter().max_by_key(|(_, times)| times.last());
            panic!(
                "the page reported nothing; after {} connections, its last request was for {:?}",
                self.server.accepted(),
                last.map(|(path, _)| path),
            )
        });
        Report {
            lines: report.lines().map(str::to_owned).collect(),
            arrivals,
        }
    }
}

impl Drop for Page {
    fn drop(&mut self) {
        self.browser.kill().expect("it runs until then");
        self.browser.wait().expect("it is a child");
    }
}

impl Report {
    fn line(&self, beginning: &str) -> Option<&String> {
        self.lines.iter().find(|line| line.starts_with(beginning))
    }
}

/// The content of a server for its page.
struct Site {
    html: String,
    folder: PathBuf,
    seen: Arc<Mutex<Arrivals>>,
    sender: Sender<String>,
}

impl Site {
    async fn answer(self: Arc<Self>, mut stream: TcpStream) -> io::Result<()> {
        let head = read_head(&mut stream).await?;
        let path = head.split(' ').nth(1).unwrap_or_default();
        let path = path.trim_start_matches('/');
        let number = {
            let mut seen = self.seen.lock().unwrap();
            let arrivals = seen.entry(path.to_owned()).or_default();
            arrivals.push(Instant::now());
            arrivals.len()
        };
        let file = |name: &str| fs::read(self.folder.join(name));
        let of_type = |kind, content| ("200 OK", format!("content-type: {kind}"), content);
        let in_two_seconds = SystemTime::now() + Duration::from_secs(2);
        let (status, header, body) = match (path, number) {
            ("", _) => of_type("text/html", self.html.clone().into_bytes()),
            ("page.js", _) => of_type("text/javascript", file(path)?),
            ("page_bg.wasm", _) => of_type("application/wasm", file(path)?),
            ("report", _) => {
                self.sender
                    .send(read_body(&head, &mut stream).await?)
                    .expect("a test that waits");
                ("200 OK", String::new(), Vec::new())
            }
            ("stalling", _) => pending().await,
            ("trickling", _) => {
                stream
                    .write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nok")
                    .await?;
                pending().await
            }
            ("after", 1) => (DOWN, "retry-after: 1".to_owned(), Vec::new()),
            ("date", 1) => {
                let date = httpdate::fmt_http_date(in_two_seconds);
                (DOWN, format!("retry-after: {date}"), Vec::new())
            }
            ("flaky", 1 | 2) | ("down", _) => (DOWN, String::new(), Vec::new()),
            ("flaky" | "after" | "date", _) => ("200 OK", String::new(), b"ok".to_vec()),
            _ => ("404 Not Found", String::new(), Vec::new()),
        };
        let mut answer =
            format!("HTTP/1.1 {status}\r\nconnection: close\r\ncache-control: no-store\r\n");
        if !header.is_empty() {
            answer += &format!("{header}\r\n");
        }
        answer += &format!("content-length: {}\r\n\r\n", body.len());
        stream.write_all(answer.as_bytes()).await?;
        stream.write_all(&body).await
    }
}

const DOWN: &str = "503 Service Unavailable";

async fn read_body(head: &str, stream: &mut TcpStream) -> io::Result<String> {
    let length = head.lines().find_map(|line| {
        let (name, value) = line.split_once(':')?;
        name.eq_ignore_ascii_case("content-length")
            .then(|| value.trim().parse().ok())?
    });
    let mut body = vec![0; length.expect("a length")];
    stream.read_exact(&mut body).await?;
    Ok(String::from_utf8_lossy(&body).into_owned())
}
