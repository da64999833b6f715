//! Plots the waits of a policy.

use std::time::Duration;

use retry_runtime::{Policy, testing};

use crate::figure::{Figure, Rounded};
use crate::plot::{Axis, Line, Plot};
use crate::scenario::Scenario;
use crate::simulation;

/// The number of calls whose attempts all fail.
const CALLS: u32 = 2_000;
/// The number of retries that are plotted for a policy that retries forever.
const MOST_RETRIES: u32 = 20;

pub(crate) fn run(policy: &Policy) -> Scenario {
    let shown = policy.to_string();
    let longest = usize::try_from(MOST_RETRIES).unwrap_or(usize::MAX);
    let (policy, to) = if policy.delays().nth(longest).is_some() {
        (policy.max(MOST_RETRIES), format!("{MOST_RETRIES} times"))
    } else {
        (*policy, String::from("to the end"))
    };
    let calls = simulation::run(1, all_delays(&policy));
    let retries = calls.iter().map(Vec::len).max().unwrap_or_default();
    let by_retry: Vec<_> = (0..retries)
        .map(|retry| Sorted::new(calls.iter().filter_map(|delays| delays.get(retry))))
        .collect();
    let total = Sorted::new(
        &calls
            .iter()
            .map(|delays| delays.iter().sum())
            .collect::<Vec<_>>(),
    );
    let quantile = |name: &str, part| {
        let points = by_retry.iter().zip(1_u32..);
        let points = points.map(|(delays, retry)| (f64::from(retry), delays.quantile(part)));
        Line::new(name, points.collect())
    };
    let given_up = (0..=100).map(|percent| {
        let part = f64::from(percent) / 100.0;
        (total.quantile(part), 100.0 * part)
    });
    let figures = [
        ("one in two calls", 0.5),
        ("95 % of calls", 0.95),
        ("all calls", 1.0),
    ];
    Scenario {
        title: "Your policy",
        about: format!(
            "{shown}: the delays of {} calls whose attempts fail at once, and are retried {to}.",
            Rounded(f64::from(CALLS))
        ),
        plots: vec![
            Plot {
                title: "Delay before each retry.",
                caption: "Half of the delays are below the middle line, nine in ten between the outer ones.",
                x: Axis::linear("retry"),
                y: Axis::linear("delay in seconds"),
                lines: vec![
                    quantile("95 % are shorter", 0.95),
                    quantile("half are shorter", 0.5),
                    quantile("5 % are shorter", 0.05),
                ],
            },
            Plot {
                title: "Time until a call gives up.",
                caption: "The time that a caller waits for an error while the server is down.",
                x: Axis::linear("seconds since the call began"),
                y: Axis::linear("% of calls that gave up"),
                lines: vec![Line::new("given up", given_up.collect())],
            },
        ],
        figures: figures
            .into_iter()
            .map(|(calls, part)| {
                let seconds = total.quantile(part);
                Figure::new(calls, "given up after", seconds, " s", 0.0..=f64::INFINITY)
            })
            .collect(),
    }
}

async fn all_delays(policy: &Policy) -> Vec<Vec<Duration>> {
    let mut all = Vec::new();
    for _ in 0..CALLS {
        let recording = testing::record();
        let down = async || Err::<(), _>("down");
        let _ = policy.on(|_: &&str| true).call(down).await;
        all.push(recording.delays());
    }
    all
}

struct Sorted(Vec<Duration>);

impl Sorted {
    fn new<'a>(durations: impl IntoIterator<Item = &'a Duration>) -> Self {
        let mut durations: Vec<_> = durations.into_iter().copied().collect();
        durations.sort();
        Self(durations)
    }

    /// Returns the quantile in seconds.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_precision_loss,
        clippy::cast_sign_loss,
        reason = "a place within the list"
    )]
    fn quantile(&self, part: f64) -> f64 {
        let last = self.0.len().saturating_sub(1);
        let place = (last as f64 * part).round() as usize;
        self.0.get(place).map_or(0.0, Duration::as_secs_f64)
    }
}
