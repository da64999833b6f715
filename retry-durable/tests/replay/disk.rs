//! The location of a journal, other writers, and the writing thread.

use std::env;
use std::fs;
use std::pin::pin;
use std::process::Command;
use std::sync::mpsc;
use std::task::{Context, Waker};
use std::thread;

use retry_durable::{Engine, Journal, JournalError};
use tokio::join;
use tokio::runtime::{Builder, Runtime};
use tokio::task::{spawn_blocking, yield_now};

use crate::run::Run;

#[cfg(unix)]
#[test]
fn a_pipe_is_rejected() {
    let run = Run::new();
    assert!(
        Command::new("mkfifo")
            .arg(&run.path)
            .status()
            .unwrap()
            .success()
    );
    let pipe = Journal::open(&run.path).unwrap_err();
    let path = run.path.display();
    assert_eq!(
        pipe.to_string(),
        format!("the journal can't be read or written: {path} is not a regular file")
    );
}

/// With any names of other journals in the directory.
#[tokio::test]
async fn opening_a_journal_touches_no_other_file() {
    let run = Run::new();
    let other = run.path.with_extension("new");
    let journal = Journal::open(&other).unwrap();
    journal.step("one", async { 1 }).await.unwrap();
    drop(journal);
    drop(run.open());
    let journal = Journal::open(&other).unwrap();
    assert_eq!(journal.step("one", async { 2 }).await.unwrap(), 1);
    assert_eq!(run.files(), ["run", "run.new"]);
}

/// For example by another program that writes the first line of a new file.
#[cfg(unix)]
#[test]
fn a_file_that_is_replaced_while_it_is_opened_is_opened_again() {
    let mut run = Run::new();
    // So deep that looking it up again takes some time.
    let directory = run.path.with_file_name("d/".repeat(200));
    fs::create_dir_all(&directory).unwrap();
    run.path = directory.join("run");
    drop(run.open());
    let [one, other, next] = ["one", "other", "next"].map(|name| run.path.with_file_name(name));
    fs::copy(&run.path, &one).unwrap();
    fs::copy(&run.path, &other).unwrap();
    let (begin, begun) = mpsc::sync_channel(0);
    let path = run.path.clone();
    let program = thread::spawn(move || {
        let mut files = [one, other].into_iter().cycle();
        for () in begun {
            // An odd number, so that it is a different file in the end.
            for file in files.by_ref().take(5) {
                fs::hard_link(file, &next).unwrap();
                fs::rename(&next, &path).unwrap();
            }
        }
    });
    for _ in 0..100 {
        begin.send(()).unwrap();
        drop(run.open());
    }
    drop(begin);
    program.join().unwrap();
}

/// Before a step, during a step, and if another file has its name.
#[cfg(unix)]
#[tokio::test]
async fn no_step_runs_after_the_file_was_replaced() {
    let run = Run::new();
    let first = run.open();
    first.step("one", async { 1 }).await.unwrap();
    let during = first.step("two", async { fs::remove_file(&run.path).unwrap() });
    assert!(matches!(during.await, Err(JournalError::Replaced)));
    let gone = first.step("three", async { unreachable!("it runs") });
    assert!(matches!(gone.await, Err::<(), _>(JournalError::Replaced)));
    let second = run.open();
    let replaced = first.step("three", async { unreachable!("it runs") });
    assert!(matches!(
        replaced.await,
        Err::<(), _>(JournalError::Replaced)
    ));
    assert_eq!(second.step("three", async { 3 }).await.unwrap(), 3);
    // Stored results don't need the file.
    drop(second);
    let second = run.open();
    fs::remove_file(&run.path).unwrap();
    assert_eq!(second.step("three", async { 0 }).await.unwrap(), 3);
}

/// Returns a runtime with one blocking thread.
fn runtime() -> Runtime {
    let mut runtime = Builder::new_current_thread();
    runtime
        .enable_time()
        .max_blocking_threads(1)
        .build()
        .unwrap()
}

#[test]
fn other_tasks_run_while_a_step_is_written() {
    let run = Run::new();
    let kept = || {
        fs::read_to_string(&run.path)
            .unwrap()
            .matches("one")
            .count()
    };
    runtime().block_on(async {
        let journal = run.open();
        let (go, held) = mpsc::channel();
        let blocked = spawn_blocking(move || held.recv());
        let others = async {
            for _ in 0..10 {
                yield_now().await;
            }
            assert_eq!(kept(), 0);
            go.send(()).unwrap();
        };
        let (one, ()) = join!(journal.step("one", async { 1 }), others);
        assert_eq!((one.unwrap(), kept()), (1, 1));
        blocked.await.unwrap().unwrap();
    });
}

/// Its name is used, and the journal can be opened again at once.
#[test]
fn a_step_that_is_dropped_after_its_end_is_kept() {
    let run = Run::new();
    runtime().block_on(async {
        let (go, held) = mpsc::channel::<()>();
        let blocked = spawn_blocking(move || held.recv());
        let journal = run.open();
        let mut context = Context::from_waker(Waker::noop());
        {
            let step = pin!(journal.step("one", async { 1 }));
            assert!(step.poll(&mut context).is_pending());
        }
        let again = journal.step("one", async { unreachable!("it runs") });
        assert!(matches!(again.await, Err::<(), _>(JournalError::Twice(_))));
        drop(journal);
        assert_eq!(run.open().step("one", async { 2 }).await.unwrap(), 1);
        drop(go);
        blocked.await.unwrap().unwrap_err();
    });
}

/// The program of the next test, with a file size limit of a few KiB. Does nothing when run directly. It reports the
/// number of stored steps as the length of a file.
#[tokio::test]
async fn program_on_a_full_disk() {
    let Ok(path) = env::var("DURABLE_FULL") else {
        return;
    };
    let journal = Journal::open(&path).unwrap();
    for kept in 0.. {
        let step = async { "x".repeat(1000) };
        let length = fs::metadata(&path).unwrap().len();
        if let Err(error) = journal.step(&kept.to_string(), step).await {
            assert!(matches!(error, JournalError::Io(_)), "{error}");
            assert_eq!(fs::metadata(&path).unwrap().len(), length);
            fs::write(format!("{path}.kept"), "x".repeat(kept)).unwrap();
            break;
        }
    }
    // A short line may still fit after a longer one did not.
    assert_eq!(journal.step("short", async { 1 }).await.unwrap(), 1);
}

/// Runs one of these tests as a program whose files are limited to this number of blocks.
#[cfg(unix)]
fn limited(blocks: u32, program: &str, run: &Run) {
    let script = format!(r#"trap '' XFSZ; ulimit -f {blocks}; exec "$0" --exact "$1""#);
    let limited = Command::new("sh")
        .args(["-c", &script])
        .arg(env::current_exe().unwrap())
        .arg(program)
        .env("DURABLE_FULL", &run.path)
        .output()
        .unwrap();
    assert!(limited.status.success(), "{limited:?}");
}

#[cfg(unix)]
#[tokio::test]
async fn a_full_disk_keeps_the_stored_steps() {
    let run = Run::new();
    limited(16, "disk::program_on_a_full_disk", &run);
    let kept = fs::metadata(run.path.with_extension("kept")).unwrap().len();
    assert!(kept > 1, "{kept}");
    let journal = run.open();
    for name in 0..kept {
        let step = async { unreachable!("it runs") };
        let text: String = journal.step(&name.to_string(), step).await.unwrap();
        assert_eq!(text.len(), 1000);
    }
    assert_eq!(journal.step("short", async { 0 }).await.unwrap(), 1);
    assert!(journal.unasked().is_empty());
    let name = kept.to_string();
    assert_eq!(journal.step(&name, async { 7 }).await.unwrap(), 7);
}

/// A file with many early attempts, and with one step that is longer than the next test's limit.
#[cfg(unix)]
fn sparse(run: &Run) -> u64 {
    let step = |name: &str, attempt: &str, result: &str| {
        format!("{{\"step\":\"{name}\"{attempt},\"result\":\"{result}\"}}\n")
    };
    let attempts = (1..1100).map(|number| {
        let attempt = format!(",\"attempt\":{number}");
        step(&format!("call: attempt {number}"), &attempt, "busy")
    });
    let text = step("long", "", &"x".repeat(5000)) + &attempts.collect::<String>();
    fs::write(&run.path, text).unwrap();
    // Adds the checksums.
    drop(run.open());
    fs::metadata(&run.path).unwrap().len()
}

/// The program of the next test. Does nothing when run directly.
#[tokio::test]
async fn program_that_cannot_rewrite_a_journal() {
    let Ok(path) = env::var("DURABLE_FULL") else {
        return;
    };
    let journal = Journal::open(path).unwrap();
    let kept: String = journal
        .step("long", async { unreachable!() })
        .await
        .unwrap();
    assert_eq!(kept.len(), 5000);
}

#[cfg(unix)]
#[test]
fn a_journal_that_cannot_be_rewritten_is_used_unchanged() {
    let run = Run::new();
    let before = sparse(&run);
    limited(1, "disk::program_that_cannot_rewrite_a_journal", &run);
    assert_eq!(fs::metadata(&run.path).unwrap().len(), before);
    assert_eq!(run.files(), ["run"]);
    drop(run.open());
    assert!(fs::metadata(&run.path).unwrap().len() < before / 2);
}

/// The path has almost the maximum length, so a longer name in its directory would not be allowed.
#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_new_journal_needs_no_room_for_another_name() {
    let mut run = Run::new();
    let mut directory = run.path.parent().unwrap().canonicalize().unwrap();
    while let Some(left @ 1..) = 4080_usize.checked_sub(directory.as_os_str().len()) {
        directory.push("d".repeat(left.clamp(2, 201) - 1));
    }
    fs::create_dir_all(&directory).unwrap();
    run.path = directory.join("run");
    for one in [1, 2] {
        let journal = run.open();
        assert_eq!(journal.step("one", async { one }).await.unwrap(), 1);
    }
}

#[cfg(unix)]
#[test]
fn a_rewritten_journal_keeps_its_owner_and_mode() {
    use std::os::unix::fs::PermissionsExt;
    let unchecked = "{\"step\":\"one\",\"result\":1}\n";
    let mode_of = |run: &Run| fs::metadata(&run.path).unwrap().permissions().mode() & 0o777;
    let new = Run::new();
    drop(new.open());
    assert_eq!(mode_of(&new), 0o600);
    for (text, mode) in [("", 0o600), ("", 0o666), (unchecked, 0o640)] {
        let run = Run::new();
        fs::write(&run.path, text).unwrap();
        fs::set_permissions(&run.path, fs::Permissions::from_mode(mode)).unwrap();
        drop(run.open());
        assert!(fs::metadata(&run.path).unwrap().len() > 0);
        assert_eq!(mode_of(&run), mode, "{text}");
    }
}
