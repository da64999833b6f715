use std::fmt::{self, Write};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use indicatif::style::TemplateError;
use indicatif::{ProgressBar, ProgressState, ProgressStyle};
use retry_runtime::macro_support::{Max, now, shown, sync::lock};
use retry_runtime::{Event, EventData, Observer, seam::Moment};

/// Shows a call's pauses and waits on a terminal, and the progress of a batch or a plan: an observer for the key
/// `observe`, with the feature `indicatif`.
///
/// ```text
/// ⠴ retrying in 8 s (3/5): 503 overloaded
/// ███████████████████████░░░░░░░ 78 done, 1 failed, 21 waiting
/// ```
///
/// ```
/// use retry_observers::Progress;
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
/// `(3/5)` is the number of the next retry, and the most retries allowed in the count for its kind of failure. If
/// standard error is not a terminal, nothing is drawn. A bar shows one call at a time; if several calls run at once,
/// give each of them a bar, in a `MultiProgress`.
#[derive(Clone, Debug)]
pub struct Progress {
    bar: ProgressBar,
    drawn: Arc<Mutex<BarState>>,
}

/// The interval at which a spinner is drawn, with the seconds left.
const TICK: Duration = Duration::from_millis(100);

impl Progress {
    /// Creates a spinner for one call. A thread of indicatif draws it ten times a second.
    pub fn spinner() -> Self {
        Self::with_ticks(ProgressBar::new_spinner(), "{spinner} {retry}")
    }

    /// Creates a bar for a batch or a plan, drawn ten times a second. It is full once all items or subtasks have ended.
    ///
    /// ```
    /// use retry_observers::Progress;
    /// use retry_runtime::{Observer, Policy};
    /// use retry_work::{IntoBatches, retry_each};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() {
    /// let progress = Progress::counting();
    /// let batches = Policy::new()
    ///     .on(|_: &String| true)
    ///     .observe(|event| progress.observe(event))
    ///     .batches(10);
    /// let doubled = retry_each(batches, 0..100, async |pending| {
    ///     Ok(pending.into_iter().map(|number| Ok(2 * number)).collect())
    /// });
    /// assert!(doubled.await.iter().all(Result::is_ok));
    /// assert_eq!(progress.bar().position(), 100);
    /// progress.bar().finish();
    /// # }
    /// ```
    ///
    /// Items and subtasks count as failed once they are given up. A subtask that is blocked by a failed one counts as
    /// waiting. To run a plan with an observer, use `run_until`.
    pub fn counting() -> Self {
        Self::with_ticks(
            ProgressBar::new(0),
            "{bar:30} {done} done, {failed} failed, {waiting} waiting {retry}",
        )
    }

    /// Draws on your own bar with this template, in which `{retry}` is the text about pauses and waits.
    ///
    /// ```
    /// use indicatif::ProgressBar;
    /// use retry_observers::Progress;
    ///
    /// let progress =
    ///     Progress::on(ProgressBar::new(3), "{bar} {pos}/{len} {retry}").unwrap();
    /// progress.bar().inc(1);
    /// ```
    ///
    /// `{done}`, `{failed}` and `{waiting}` are the numbers of a batch or a plan, which also sets the bar's length and
    /// position. The seconds only count down if the bar is drawn regularly: see its `enable_steady_tick`.
    pub fn on(bar: ProgressBar, template: &str) -> Result<Self, TemplateError> {
        let mut style = ProgressStyle::with_template(template)?;
        let drawn = Arc::new(Mutex::new(BarState::default()));
        for (name, part) in PLACEHOLDERS {
            let drawn = Arc::clone(&drawn);
            let draw = move |_: &ProgressState, f: &mut dyn Write| {
                // Ignore the error: indicatif reports a terminal that can't be written to.
                let _ = write!(f, "{}", part(&lock(&drawn)));
            };
            style = style.with_key(name, draw);
        }
        bar.set_style(style);
        Ok(Self { bar, drawn })
    }

    fn with_ticks(bar: ProgressBar, template: &str) -> Self {
        bar.enable_steady_tick(TICK);
        Self::on(bar, template).expect("the template is one of ours")
    }

    /// The bar on which this observer draws.
    pub fn bar(&self) -> &ProgressBar {
        &self.bar
    }

    fn show(&self, label: &'static str, delay: Option<Duration>, rest: String) {
        let until = delay.and_then(|delay| now().checked_add(delay));
        lock(&self.drawn).line = StatusLine { label, until, rest };
        self.bar.tick();
    }

    fn count(&self, done: usize, failed: usize, waiting: usize) {
        let number = |count| u64::try_from(count).unwrap_or(u64::MAX);
        lock(&self.drawn).counts = [done, failed, waiting];
        self.bar.set_length(number(done + failed + waiting));
        self.bar.set_position(number(done + failed));
        self.bar.tick();
    }
}

impl Observer for Progress {
    fn observe(&self, event: &Event<'_>) {
        let detail = |number, max, error| format!(" ({number}/{}): {}", Max(max), shown(error));
        match event.data {
            EventData::Retrying {
                retry,
                retry_max,
                delay,
                error,
                ..
            } => self.show("retrying", Some(delay), detail(retry, retry_max, error)),
            EventData::Correcting {
                correction,
                max,
                delay,
                error,
            } => self.show("correcting", Some(delay), detail(correction, max, error)),
            EventData::Waiting { ahead, at_least } => {
                self.show("next turn", at_least, format!(" ({ahead} ahead)"));
            }
            EventData::Started
            | EventData::Waited { .. }
            | EventData::Succeeded { .. }
            | EventData::FellBack { .. } => self.show("", None, String::new()),
            EventData::GaveUp { reason, error, .. } => {
                self.show("gave up", None, format!(" ({reason}): {}", shown(error)));
            }
            EventData::Progressed {
                done,
                failed,
                waiting,
            } => self.count(done, failed, waiting),
            _ => {}
        }
    }
}

/// The texts and numbers currently drawn.
#[derive(Debug, Default)]
struct BarState {
    line: StatusLine,
    /// The numbers of items that are done, failed and waiting.
    counts: [usize; 3],
}

/// A name in a template, and the text for it.
type Placeholder = (&'static str, fn(&BarState) -> String);

const PLACEHOLDERS: [Placeholder; 4] = [
    ("retry", |drawn| drawn.line.to_string()),
    ("done", |drawn| drawn.counts[0].to_string()),
    ("failed", |drawn| drawn.counts[1].to_string()),
    ("waiting", |drawn| drawn.counts[2].to_string()),
];

#[derive(Debug, Default)]
struct StatusLine {
    label: &'static str,
    until: Option<Moment>,
    rest: String,
}

impl fmt::Display for StatusLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.label)?;
        if let Some(until) = self.until {
            let left = until.since(now());
            // Rounded up, so that it doesn't show 0 during a wait.
            let seconds = left.as_millis().div_ceil(1000);
            write!(f, " in {seconds} s")?;
        }
        f.write_str(&self.rest)
    }
}
