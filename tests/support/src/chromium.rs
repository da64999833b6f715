//! Chromium without a window, for tests of pages.

use std::path::Path;
use std::process::Command;

/// Returns a Chromium command with this profile, to which a page is added. It makes no network requests by itself. As
/// root it runs without a sandbox, which is fine because the pages are the tests' own.
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
