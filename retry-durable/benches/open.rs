//! How long it takes to open a journal of a million steps.
//!
//! `cargo bench --manifest-path retry-durable/Cargo.toml`

use std::error::Error;
use std::fmt::Write as _;
use std::fs;
use std::time::Instant;

use retry_durable::Journal;

const STEPS: usize = 1_000_000;

fn main() -> Result<(), Box<dyn Error>> {
    let directory = tempfile::tempdir()?;
    let path = directory.path().join("journal");
    let mut text = String::new();
    for number in 0..STEPS {
        let receipt = format!("receipt {number}");
        writeln!(
            text,
            r#"{{"step":"charge {number}: attempt 1","result":{{"Succeeded":"{receipt}"}}}}"#
        )?;
    }
    fs::write(&path, text)?;
    // The first time, it is given checks.
    for opening in ["without checks", "with checks", "with checks"] {
        let begun = Instant::now();
        let journal = Journal::open(&path)?;
        let took = begun.elapsed();
        assert_eq!(journal.unasked().len(), STEPS);
        let mib = fs::metadata(&path)?.len() >> 20;
        println!("{STEPS} steps {opening}: {took:.2?} ({mib} MiB)");
    }
    Ok(())
}
