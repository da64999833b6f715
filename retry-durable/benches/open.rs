//! The time to open a journal of a million steps.
//!
//! `cargo bench --manifest-path retry-durable/Cargo.toml`

use std::env;
use std::error::Error;
use std::fmt::Write as _;
use std::fs;
use std::process::Command;
use std::time::Instant;

use retry_durable::Journal;

const STEPS: usize = 1_000_000;

fn main() -> Result<(), Box<dyn Error>> {
    if let Some(path) = env::var_os("JOURNAL") {
        let begun = Instant::now();
        let journal = Journal::open(&path)?;
        let took = begun.elapsed();
        assert_eq!(journal.unasked().len(), STEPS);
        let mib = fs::metadata(&path)?.len() >> 20;
        println!("{STEPS} steps, {mib} MiB: {took:.2?}");
        return Ok(());
    }
    let directory = tempfile::tempdir()?;
    let path = directory.path().join("journal");
    let mut text = String::new();
    for number in 0..STEPS {
        writeln!(
            text,
            r#"{{"step":"charge {number}: attempt 1","result":{{"Succeeded":"receipt {number}"}}}}"#
        )?;
    }
    fs::write(&path, text)?;
    // The first run adds checksums to the file. Each run is a separate program, because opening is slower after a lot
    // of memory was freed.
    for _ in 0..4 {
        let program = Command::new(env::current_exe()?)
            .env("JOURNAL", &path)
            .status()?;
        assert!(program.success());
    }
    Ok(())
}
