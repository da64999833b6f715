//! Tests a program that is killed in a pause, in an attempt, and between them.

use std::env;
use std::fs::{self, OpenOptions};
use std::future::pending;
use std::io::Write;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use retry_durable::{Durable, Journal, JournalError};
use retry_runtime::{Backoff, Jitter, Policy};
use tokio::time::sleep;

const PAUSE: Duration = Duration::from_secs(5);
const ATTEMPT: Duration = Duration::from_millis(500);
/// The time after the start of an attempt: late enough to detect a pause that starts again.
const LATE_IN_PAUSE: Duration = Duration::from_secs(3);
/// The maximum delay of an attempt. A pause that starts again would end later.
const LATE: Duration = Duration::from_secs(1);

/// The program that `a_killed_program_continues` starts and kills. Does nothing when run directly. Each attempt takes a
/// while and fails; the second doesn't end, and the fourth succeeds. Records their start times.
#[tokio::test]
async fn program() {
    let Ok(directory) = env::var("DURABLE_DIRECTORY") else {
        return;
    };
    let directory = Path::new(&directory);
    let journal = Journal::open(directory.join("journal")).unwrap();
    let policy = Policy::new()
        .max(9)
        .backoff(Backoff::Fixed)
        .jitter(Jitter::None);
    let attempt = async || {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
        let mut attempts = OpenOptions::new();
        let mut attempts = attempts
            .append(true)
            .create(true)
            .open(directory.join("attempts"))?;
        // In one write, so that it is never read partially.
        attempts.write_all(format!("{}\n", now.as_millis()).as_bytes())?;
        let begun = fs::read_to_string(directory.join("attempts"))?
            .lines()
            .count();
        if begun == 2 {
            return pending().await;
        }
        sleep(ATTEMPT).await;
        if begun < 4 {
            Err(std::io::Error::other("503"))
        } else {
            Ok(begun)
        }
    };
    let call = Durable::new(policy.base(PAUSE)).on(|_: &String| true);
    let call = call.call(&journal, "charge", async || {
        attempt().await.map_err(|error| error.to_string())
    });
    assert_eq!(call.await.unwrap(), 4);
    fs::write(directory.join("done"), "").unwrap();
}

fn start(directory: &Path) -> Child {
    Command::new(env::current_exe().unwrap())
        .args(["--exact", "program"])
        .env("DURABLE_DIRECTORY", directory)
        .stdout(Stdio::null())
        .spawn()
        .unwrap()
}

#[tokio::test]
async fn a_killed_program_continues() {
    let directory = tempfile::tempdir().unwrap();
    let directory = directory.path();
    let begun = || fs::read_to_string(directory.join("attempts")).unwrap_or_default();
    // During the first pause, and during the second attempt.
    for (attempt, after) in [(1, LATE_IN_PAUSE), (2, Duration::ZERO)] {
        let mut program = start(directory);
        while begun().lines().count() < attempt {
            sleep(Duration::from_millis(10)).await;
        }
        sleep(after).await;
        let second = Journal::open(directory.join("journal"));
        assert!(matches!(second, Err(JournalError::InUse)));
        program.kill().unwrap();
        program.wait().unwrap();
        assert!(!directory.join("done").exists());
    }
    let mut program = start(directory);
    assert!(program.wait().unwrap().success());
    let begun: Vec<u64> = begun().lines().map(|line| line.parse().unwrap()).collect();
    let lags: Vec<u64> = begun.windows(2).map(|pair| pair[1] - pair[0]).collect();
    let lags: Vec<_> = lags.into_iter().map(Duration::from_millis).collect();
    let kept = ATTEMPT + PAUSE..ATTEMPT + PAUSE + LATE;
    // The first pause was kept; the second attempt was made again without a pause; the rest is as usual.
    assert_eq!(begun.len(), 4, "{lags:?}");
    assert!(kept.contains(&lags[0]), "{lags:?}");
    assert!(lags[1] < PAUSE, "{lags:?}");
    assert!(kept.contains(&lags[2]), "{lags:?}");
    // The journal has three attempts: the one that was killed isn't stored.
    let journal = fs::read_to_string(directory.join("journal")).unwrap();
    assert_eq!(journal.matches(": attempt ").count(), 3, "{journal}");
}
