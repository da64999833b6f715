//! What a journal asks of the disk, as Valgrind sees it.

use std::env;
use std::process::Command;

use retry_durable::{Engine, Journal};

/// What the other test runs: by itself it does nothing.
#[tokio::test]
async fn program() {
    let Ok(path) = env::var("DURABLE_JOURNAL") else {
        return;
    };
    let journal = Journal::open(path).unwrap();
    assert_eq!(journal.step("one", async { 1 }).await.unwrap(), 1);
}

#[test]
#[ignore = "needs Valgrind: run by .ci/run"]
fn a_new_journal_is_on_the_disk_with_its_name_before_its_first_step() {
    let directory = tempfile::tempdir().unwrap();
    let directory = directory.path().canonicalize().unwrap();
    let traced = Command::new("valgrind")
        .args(["--tool=none", "--trace-syscalls=yes"])
        .arg(env::current_exe().unwrap())
        .args(["--exact", "program"])
        .env("DURABLE_JOURNAL", directory.join("journal"))
        .output()
        .unwrap();
    assert!(traced.status.success());
    let calls = String::from_utf8_lossy(&traced.stderr);
    let opens = format!("({})", directory.display());
    let call = |line: &str| {
        let names = ["sys_fsync ", "sys_fdatasync "];
        let name = names.into_iter().find(|name| line.contains(name));
        let of_directory =
            (line.contains("sys_openat ") && line.contains(&opens)).then_some("opens");
        name.map(str::trim).or(of_directory)
    };
    let calls: Vec<&str> = calls.lines().filter_map(call).collect();
    // The file, its directory, the step.
    assert_eq!(calls, ["sys_fsync", "opens", "sys_fsync", "sys_fdatasync"]);
}
