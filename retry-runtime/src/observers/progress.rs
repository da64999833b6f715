use std::fmt::{self, Write};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use indicatif::style::TemplateError;
use indicatif::{ProgressBar, ProgressState, ProgressStyle};

use crate::observe::event::{Event, Max};
use crate::observe::observer::Observer;
use crate::observe::shown::shown;

/// Shows on a terminal what a call waits for, and how much longer: an observer for the key `observe`, with the feature
/// `indicatif`.
///
/// ```text
/// ⠴ retrying in 8 s (3/5): 503 overloaded
/// ```
///
/// ```
/// use retry_runtime::observers::Progress;
/// use retry_runtime::retry;
///
/// #[retry(max = 5, observe = progress)]
/// async fn fetch(progress: &Progress) -> std::io::Result<String> {
///     Ok(String::from("hello"))
/// }
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> std::io::Result<()> {
/// let progress = Progress::spinner();
/// let text = fetch(&progress).await?;
/// progress.bar().finish_and_clear();
/// # assert_eq!(text, "hello");
/// # Ok(())
/// # }
/// ```
///
/// `(3/5)` is the retry that follows, and how many there may be. If standard error is not a terminal, it draws nothing.
/// One call at a time has the line; give each call of several at once a bar of its own, in a `MultiProgress`.
#[derive(Clone, Debug)]
pub struct Progress {
    bar: ProgressBar,
    line: Arc<Mutex<Line>>,
}

/// How often the spinner is drawn.
const TICK: Duration = Duration::from_millis(100);

impl Progress {
    /// A spinner of its own, drawn ten times a second by a thread of indicatif.
    pub fn spinner() -> Self {
        let bar = ProgressBar::new_spinner();
        bar.enable_steady_tick(TICK);
        let style = ProgressStyle::default_spinner();
        Self::styled(
            bar,
            style
                .template("{spinner} {retry}")
                .unwrap_or_else(|_| ProgressStyle::default_spinner()),
        )
    }

    /// On a bar of yours, with that template, in which `{retry}` is the line.
    ///
    /// ```
    /// use indicatif::ProgressBar;
    /// use retry_runtime::observers::Progress;
    ///
    /// let progress = Progress::on(ProgressBar::new(3), "{bar} {pos}/{len} {retry}").unwrap();
    /// progress.bar().inc(1);
    /// ```
    ///
    /// The bar counts down only if it is drawn now and then: see its `enable_steady_tick`.
    pub fn on(bar: ProgressBar, template: &str) -> Result<Self, TemplateError> {
        let style = ProgressStyle::with_template(template)?;
        Ok(Self::styled(bar, style))
    }

    fn styled(bar: ProgressBar, style: ProgressStyle) -> Self {
        let line = Arc::new(Mutex::new(Line::default()));
        let shown = Arc::clone(&line);
        let draw = move |_: &ProgressState, f: &mut dyn Write| {
            // A terminal that can't be written to is indicatif's to report.
            let _ = write!(f, "{}", lock(&shown));
        };
        bar.set_style(style.with_key("retry", draw));
        Self { bar, line }
    }

    /// The bar that it draws on.
    pub fn bar(&self) -> &ProgressBar {
        &self.bar
    }

    fn show(&self, line: Line) {
        *lock(&self.line) = line;
        self.bar.tick();
    }
}

impl Observer for Progress {
    fn observe(&self, event: &Event<'_>) {
        let about = |doing, delay, number, max, error| Line {
            doing,
            until: Instant::now().checked_add(delay),
            rest: format!(" ({number}/{}): {}", Max(max), shown(error)),
        };
        match *event {
            Event::Retrying {
                attempt,
                max,
                delay,
                error,
                ..
            } => {
                self.show(about("retrying", delay, attempt, max, error));
            }
            Event::Correcting {
                correction,
                max,
                delay,
                error,
                ..
            } => {
                self.show(about("correcting", delay, correction, max, error));
            }
            Event::Waiting {
                ahead, at_least, ..
            } => self.show(Line {
                doing: "next turn",
                until: at_least.and_then(|at_least| Instant::now().checked_add(at_least)),
                rest: format!(" ({ahead} ahead)"),
            }),
            Event::Started { .. }
            | Event::Waited { .. }
            | Event::Succeeded { .. }
            | Event::FellBack { .. } => {
                self.show(Line::default());
            }
            Event::GaveUp { reason, error, .. } => self.show(Line {
                doing: "gave up",
                until: None,
                rest: format!(" ({reason}): {}", shown(error)),
            }),
            _ => {}
        }
    }
}

/// What is drawn now.
#[derive(Debug, Default)]
struct Line {
    doing: &'static str,
    until: Option<Instant>,
    rest: String,
}

impl fmt::Display for Line {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.doing)?;
        if let Some(until) = self.until {
            let left = until.saturating_duration_since(Instant::now());
            // Upwards, so that it does not stand at 0 while it still waits.
            let seconds = left.as_millis().div_ceil(1000);
            write!(f, " in {seconds} s")?;
        }
        f.write_str(&self.rest)
    }
}

fn lock(line: &Mutex<Line>) -> MutexGuard<'_, Line> {
    line.lock().unwrap_or_else(PoisonError::into_inner)
}
