//! Draws the diagrams in the README and the guide, from policies and from a real call: `lab pictures`.

use std::cell::RefCell;
use std::fmt::Write;
use std::future::pending;
use std::time::Duration;

use retry_runtime::{GaveUp, Jitter, Policy, Verdict, retry, testing};
use tokio::time::sleep;

use crate::simulation;

/// Returns the files and their contents: the diagrams, and the link definitions for rustdoc, which can't include the
/// SVG files.
pub(crate) fn all() -> [(&'static str, String); 3] {
    let (delays, call) = (delays(), call());
    let in_rustdoc = format!(
        "[delays picture]: {}\n[call picture]: {}\n",
        data_url(&delays),
        data_url(&call)
    );
    [
        ("docs/delays.svg", delays),
        ("docs/call.svg", call),
        ("retry-runtime/src/guide/pictures.md", in_rustdoc),
    ]
}

/// Returns an SVG as a data URL.
fn data_url(svg: &str) -> String {
    let mut link = String::from("data:image/svg+xml,");
    for byte in svg.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'/' | b'=' | b':' | b';' => {
                link.push(char::from(byte));
            }
            _ => {
                let _ = write!(link, "%{byte:02X}");
            }
        }
    }
    link
}

/// Narrow, so that the text isn't scaled down on a phone.
const WIDTH: u32 = 480;

/// For light and dark backgrounds, because an embedded image doesn't use the page's style.
const STYLE: &str = "
  .paper { fill: #ffffff }
  text { fill: #1c1f24; font: 13px system-ui, sans-serif }
  .small { font-size: 12px }
  .title { font-weight: 600; font-size: 14px }
  .end { text-anchor: end }
  .middle { text-anchor: middle }
  .axis { stroke: #8a9099; fill: none }
  .line { fill: none; stroke-width: 2 }
  .one { stroke: #0b62b8 } .two { stroke: #b3470b } .three { stroke: #0a7a4b } .four { stroke: #8a3ab9 }
  .dots { stroke: #0b62b8; stroke-width: 5; stroke-linecap: round; stroke-opacity: 0.6 }
  .attempt { fill: #0b62b8 }
  .in { fill: #ffffff }
  .pause { fill: #dfe9f5 }
  .hint { fill: #f6e1cd }
  .limit { stroke: #b3261e; stroke-width: 2; stroke-dasharray: 5 3 }
  .late { stroke: #b3261e; fill: none; stroke-dasharray: 2 3 }
  @media (prefers-color-scheme: dark) {
    .paper { fill: #15181c }
    text { fill: #e4e6ea }
    .axis { stroke: #7d848e }
    .one { stroke: #6cb1f5 } .two { stroke: #f09a5b } .three { stroke: #5cc998 } .four { stroke: #c79af0 }
    .dots { stroke: #6cb1f5 }
    .attempt { fill: #6cb1f5 }
    .in { fill: #15181c }
    .pause { fill: #24364a }
    .hint { fill: #4d3521 }
    .limit, .late { stroke: #ff8a80 }
  }
";

/// Returns a standalone SVG, to be shown as an image.
fn svg(height: u32, label: &str, content: &str) -> String {
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{WIDTH}\" height=\"{height}\" \
         viewBox=\"0 0 {WIDTH} {height}\" role=\"img\" aria-label=\"{label}\">\n<style>{STYLE}</style>\n\
         <rect class=\"paper\" width=\"{WIDTH}\" height=\"{height}\" rx=\"8\"/>\n{content}</svg>\n"
    )
}

fn text(out: &mut String, class: &str, (x, y): (f64, f64), words: &str) {
    let _ = writeln!(
        out,
        "<text class=\"{class}\" x=\"{x:.1}\" y=\"{y:.1}\">{words}</text>"
    );
}

/// Draws the delays of each shape, and the effect of each jitter on one delay.
fn delays() -> String {
    let mut out = String::new();
    shapes(&mut out);
    jitters(&mut out);
    let label = "Delays of each shape without jitter, and of 100 clients with each jitter";
    svg(500, label, &out)
}

fn shapes(out: &mut String) {
    const RETRIES: u32 = 8;
    let second = Duration::from_secs(1);
    let shapes = [
        ("one", "exp", Policy::new()),
        ("two", "fibonacci", Policy::fibonacci(second)),
        ("three", "linear", Policy::linear(second)),
        ("four", "fixed", Policy::fixed(second)),
    ];
    let place = |retry: f64, seconds: f64| (50.0 + (retry - 1.0) * 48.0, 230.0 - seconds * 6.0);
    text(
        out,
        "title",
        (16.0, 26.0),
        "Seconds before each retry, without jitter",
    );
    for seconds in [0, 10, 20, 30] {
        let (x, y) = place(1.0, f64::from(seconds));
        let _ = writeln!(
            out,
            "<path class=\"axis\" stroke-opacity=\"0.4\" d=\"M{x} {y}H400\"/>"
        );
        text(out, "small end", (x - 8.0, y + 4.0), &seconds.to_string());
    }
    for retry in 1..=RETRIES {
        let (x, y) = place(f64::from(retry), 0.0);
        text(out, "small middle", (x, y + 18.0), &retry.to_string());
    }
    text(out, "small end", (464.0, 248.0), "retry");
    for (class, name, policy) in shapes {
        let delays = policy
            .max(RETRIES)
            .delays()
            .map(|delay| delay.as_secs_f64());
        let points = (1..)
            .zip(delays)
            .map(|(retry, seconds)| place(f64::from(retry), seconds));
        let points: Vec<_> = points.collect();
        let path: Vec<_> = points
            .iter()
            .map(|(x, y)| format!("{x:.1} {y:.1}"))
            .collect();
        let _ = writeln!(
            out,
            "<path class=\"line {class}\" d=\"M{}\"/>",
            path.join("L")
        );
        if let Some((x, y)) = points.last() {
            text(out, "", (x + 8.0, y + 4.0), name);
        }
    }
}

fn jitters(out: &mut String) {
    const CLIENTS: u32 = 100;
    let jitters = [
        ("none", Jitter::None),
        ("full", Jitter::Full),
        ("equal", Jitter::Equal),
        ("0.2", Jitter::Ratio(0.2)),
        ("decorrelated", Jitter::Decorrelated),
    ];
    let place = |seconds: f64| 110.0 + seconds * 38.0;
    text(
        out,
        "title",
        (16.0, 286.0),
        "100 clients after their third failure, by jitter",
    );
    for seconds in [0, 2, 4, 6, 8] {
        let x = place(f64::from(seconds));
        let _ = writeln!(
            out,
            "<path class=\"axis\" stroke-opacity=\"0.4\" d=\"M{x} 300V462\"/>"
        );
        text(out, "small middle", (x, 480.0), &format!("{seconds} s"));
    }
    for ((name, jitter), row) in jitters.into_iter().zip(0_u32..) {
        let y = 318.0 + f64::from(row) * 32.0;
        text(out, "end", (98.0, y + 4.0), name);
        let _seeded = testing::seed(1);
        let dots = (0..CLIENTS).map(|client| {
            // The third delay: 4 s.
            let pause = Policy::new().jitter(jitter).pauses().nth(2);
            let x = place(pause.unwrap_or_default().as_secs_f64());
            format!("M{x:.1} {}h0", y - 9.0 + f64::from(client % 7) * 3.0)
        });
        let _ = writeln!(
            out,
            "<path class=\"dots\" d=\"{}\"/>",
            dots.collect::<String>()
        );
    }
}

#[derive(Debug)]
enum Failure {
    Busy,
    Throttled,
    TimedOut,
}

impl From<retry_runtime::TimedOut> for Failure {
    fn from(_: retry_runtime::TimedOut) -> Self {
        Self::TimedOut
    }
}

fn verdict(failure: &Failure) -> Verdict {
    match failure {
        Failure::Busy => Verdict::TRANSIENT,
        Failure::Throttled => Verdict::THROTTLED.after(Duration::from_secs(3)),
        Failure::TimedOut => Verdict::TIMEOUT,
    }
}

/// The observed attempts of a call.
#[derive(Default)]
struct DrawnCall {
    /// The start and end of each attempt, and the pause after it.
    attempts: Vec<(f64, f64, Option<f64>)>,
    reason: String,
}

#[retry(
    base = "1s",
    timeout = "2s",
    deadline = "10s",
    jitter = "none",
    on = verdict,
    attempt = attempt,
    give_up = |gave_up| record(&gave_up, drawn).unwrap_or_else(|| gave_up.into_error()),
)]
async fn fails(drawn: &RefCell<DrawnCall>) -> Result<(), Failure> {
    match attempt.number() {
        1 => sleep(Duration::from_millis(500)).await,
        2 => {
            sleep(Duration::from_millis(500)).await;
            return Err(Failure::Throttled);
        }
        _ => pending().await,
    }
    Err(Failure::Busy)
}

fn record(gave_up: &GaveUp<Failure>, drawn: &RefCell<DrawnCall>) -> Option<Failure> {
    let failures: Vec<_> = gave_up.failures().collect();
    let began = |number: usize| failures.get(number).and_then(|failed| failed.began);
    let attempts = failures.iter().enumerate().map(|(number, failed)| {
        let pause = failed.pause.unwrap_or_default();
        let ended = began(number + 1).map_or(gave_up.elapsed(), |next| next.saturating_sub(pause));
        let start = failed.began.unwrap_or_default().as_secs_f64();
        (
            start,
            ended.as_secs_f64(),
            failed.pause.map(|pause| pause.as_secs_f64()),
        )
    });
    *drawn.borrow_mut() = DrawnCall {
        attempts: attempts.collect(),
        reason: gave_up.reason().to_string(),
    };
    None
}

/// Draws a call that gives up: its attempts, its pauses, a hint, its deadline.
fn call() -> String {
    let drawn = RefCell::default();
    let failed = simulation::run(1, fails(&drawn));
    assert!(failed.is_err(), "the call gives up");
    let DrawnCall { attempts, reason } = drawn.into_inner();
    // The pause that would follow: the third delay of the shape.
    let late = Policy::new().delays().nth(2).unwrap_or_default();
    let late = late.as_secs_f64();
    let mut out = String::new();
    let title = "One call: base = 1s, timeout = 2s, deadline = 10s";
    text(&mut out, "title", (16.0, 26.0), title);
    let end = timeline(&mut out, &attempts, late);
    legend(&mut out, end, late, &reason);
    let label = "A call with three attempts, its pauses and its deadline";
    svg(272, label, &out)
}

/// Draws a box with centered text, from one second to another.
fn span(out: &mut String, class: &str, seconds: (f64, f64), words: &str) {
    let (x, to) = (place(seconds.0), place(seconds.1));
    let (y, height) = if class == "attempt" {
        (48, 40)
    } else {
        (56, 24)
    };
    let width = to - x;
    let shape = format!("x=\"{x:.1}\" y=\"{y}\" width=\"{width:.1}\" height=\"{height}\"");
    let _ = writeln!(out, "<rect class=\"{class}\" {shape}/>");
    let inner = if class == "attempt" {
        "in middle"
    } else {
        "small middle"
    };
    text(out, inner, (x.midpoint(to), 73.0), words);
}

fn place(seconds: f64) -> f64 {
    24.0 + seconds * 39.0
}

/// Draws the timeline. Returns the end of the last attempt.
fn timeline(out: &mut String, attempts: &[(f64, f64, Option<f64>)], late: f64) -> f64 {
    let mut ended = 0.0;
    for ((start, end, pause), number) in attempts.iter().zip(1_u32..) {
        span(out, "attempt", (*start, *end), &number.to_string());
        if let Some(pause) = pause {
            // The second failure has a hint.
            let class = if number == 2 { "hint" } else { "pause" };
            span(out, class, (*end, end + pause), &format!("{pause} s"));
        }
        ended = *end;
    }
    span(out, "late", (ended, ended + late), &format!("{late} s?"));
    let (start, deadline, edge) = (place(0.0), place(10.0), place(11.2));
    let _ = writeln!(out, "<path class=\"limit\" d=\"M{deadline} 40V104\"/>");
    let _ = writeln!(out, "<path class=\"axis\" d=\"M{start} 104H{edge}\"/>");
    for second in (0..=10).step_by(2) {
        let place = (place(f64::from(second)), 122.0);
        text(out, "small middle", place, &format!("{second} s"));
    }
    ended
}

fn legend(out: &mut String, end: f64, late: f64, reason: &str) {
    let next = end + late;
    let lines = [
        ("1", "503: transient. Waits 1 s, the first delay."),
        ("2", "429 with Retry-After: 3. Its own delay would be 2 s;"),
        ("", "the call waits 3 s, as the server asks."),
        ("3", "No answer: dropped after 2 s, a timeout."),
        (
            "",
            &format!("Another attempt would begin at {next} s, after the deadline,"),
        ),
        (
            "",
            &format!("so the call gives up now, at {end} s. The reason: {reason}."),
        ),
    ];
    for ((number, line), row) in lines.iter().zip(0_u32..) {
        let y = 150.0 + f64::from(row) * 21.0;
        text(out, "", (24.0, y), number);
        text(out, "", (42.0, y), line);
    }
}
