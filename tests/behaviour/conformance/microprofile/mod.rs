//! The compatibility kit of `MicroProfile` Fault Tolerance 4.1.1,
//! <https://github.com/eclipse/microprofile-fault-tolerance>, folder `tck`: its tests by name, adapted to Rust, on a
//! paused clock. `classes.md` lists them class by class, and `docs/standard.md` explains the list.

mod breaker;
mod bulkhead;
mod fallback;
mod hierarchies;
mod metrics;
mod retry;
mod timeout;
mod visibility;

use retry_runtime::{Classify, Rejected, RejectedBy, TimedOut, Verdict};

/// The error of a call.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Error {
    Failed,
    TimedOut,
    Rejected(RejectedBy),
}

impl Error {
    /// That of a call that fails, in time or not.
    const fn of_late(is_late: bool) -> Self {
        if is_late {
            Self::TimedOut
        } else {
            Self::Failed
        }
    }
}

impl Classify for Error {
    fn classify(&self) -> Verdict {
        match self {
            Self::Failed => Verdict::TRANSIENT,
            Self::TimedOut => Verdict::TIMEOUT,
            Self::Rejected(_) => Verdict::STOP,
        }
    }
}

impl From<Rejected> for Error {
    fn from(rejected: Rejected) -> Self {
        Self::Rejected(rejected.by())
    }
}

impl From<TimedOut> for Error {
    fn from(_: TimedOut) -> Self {
        Self::TimedOut
    }
}

/// The numbers in the table are those of the tests here: each is named once, as `Class.method`.
#[test]
fn the_table_counts_what_is_here() {
    let table = include_str!("classes.md");
    let page = include_str!("../../../../docs/standard.md");
    let sources = [
        include_str!("breaker.rs"),
        include_str!("bulkhead.rs"),
        include_str!("configured.rs"),
        include_str!("fallback.rs"),
        include_str!("metrics.rs"),
        include_str!("retry.rs"),
        include_str!("timeout.rs"),
        include_str!("visibility.rs"),
    ]
    .concat();
    let mut counted = 0;
    for row in table.lines().filter(|line| line.starts_with("| `")) {
        let cells: Vec<_> = row.split('|').map(str::trim).collect();
        let class = cells[1].trim_matches('`');
        let number = |cell: usize| cells[cell].parse::<usize>().ok();
        let (Some(passes), Some(differs)) = (number(2), number(3)) else {
            continue;
        };
        let here = if class.ends_with("ExceptionHierarchyTest") {
            hierarchies::ROWS
        } else {
            sources.matches(&format!("\"{class}.")).count()
        };
        assert_eq!(here, passes + differs, "{class}");
        counted += here;
    }
    let named = sources.matches("Test.").count();
    assert_eq!(counted, named + 3 * hierarchies::ROWS);
    for text in [table, page] {
        assert!(
            text.contains(&format!("{counted} tests")),
            "{counted} tests"
        );
    }
}
