//! A journal's system calls for the disk, recorded by Valgrind.

use std::env;
use std::path::Path;
use std::process::Command;

use retry_durable::{Engine, Journal};

/// The program of the other test. Does nothing when run directly.
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
    // For the file, its directory, and the step.
    let new = ["sys_fsync", "opens", "sys_fsync", "sys_fdatasync"];
    assert_eq!(synced(&directory), new);
    // The name is already on disk, so the directory doesn't have to be readable.
    assert_eq!(synced(&directory), ["sys_fsync"]);
}

/// Returns the program's sync calls, and its opening of the directory.
fn synced(directory: &Path) -> Vec<&'static str> {
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
    calls.lines().filter_map(call).collect()
}
