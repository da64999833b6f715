//! Chromium without a window, for tests of pages.

use std::path::Path;
use std::process::Command;

/// One with that profile, which opens what is added and asks nothing of the network by itself. As root it has no sandbox:
/// that only protects from a page, and these are the tests' own.
pub fn chromium(profile: &Path) -> Command {
    let mut command = Command::new("chromium");
    command
        .args([
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-quic",
            "--no-first-run",
            "--disable-background-networking",
            "--disable-component-update",
            "--disable-sync",
        ])
        .arg(format!("--user-data-dir={}", profile.display()));
    command
}
