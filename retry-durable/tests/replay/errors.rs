//! The texts of a journal's errors.

use std::error::Error;
use std::io::{self, Read};
use std::iter::successors;

use retry_durable::JournalError;

#[derive(Debug, thiserror::Error)]
#[error("no answer")]
struct NoAnswer(#[source] Unplugged);

#[derive(Debug, thiserror::Error)]
#[error("unplugged")]
struct Unplugged;

/// The error of a failed disk.
struct Disk;

impl Read for Disk {
    fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
        Err(io::Error::other(NoAnswer(Unplugged)))
    }
}

/// A report of the error chain shows each cause exactly once.
#[test]
fn a_report_of_a_journal_names_each_cause_once() {
    let io = Disk.read(&mut []).unwrap_err();
    let json = serde_json::from_reader::<_, u32>(Disk).unwrap_err();
    for (error, expected) in [
        (
            JournalError::from(io),
            &[
                "the journal can't be read or written: no answer",
                "unplugged",
            ][..],
        ),
        (
            JournalError::Json {
                step: String::from("rate"),
                error: json,
            },
            &["the result of step `rate`: no answer", "unplugged"],
        ),
        (
            JournalError::InUse,
            &["the journal is already open, in another program or in this one"],
        ),
    ] {
        let error: &dyn Error = &error;
        let causes = successors(Some(error), |&error| error.source());
        let report: Vec<_> = causes.map(ToString::to_string).collect();
        assert_eq!(report, expected);
    }
}
