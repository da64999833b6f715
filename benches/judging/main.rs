//! The cost of classifying a response, by the length of its text: `cargo bench -p judging`.
//!
//! Instructions are counted by valgrind's callgrind. A text of 1 MiB may cost only a little more than eight times as
//! much as a text of 128 KiB, for any repeated content; otherwise the program ends with exit code 1.

use std::env;
use std::hint::black_box;
use std::process::ExitCode;

use http::{HeaderMap, StatusCode};
use retry_runtime::llm::{ProviderError, wait_in};
use retry_runtime::{Classify, ResponseError};

use callgrind::Failure;

#[path = "../callgrind.rs"]
mod callgrind;

const SHORT: usize = 128 * 1024;
const LONG: usize = 1024 * 1024;

/// The strings that a text repeats: the starts of search terms, and of the structures around them.
const PIECES: [&str; 12] = [
    "please try again ",
    "try again in 20",
    "1s ",
    "12345678901234567890",
    "{",
    "[{",
    "\"",
    "{\"error\":\"",
    "429: {\"error\":",
    "data: {\"a\":1}\n\n",
    "RequestsPerDay",
    "é\u{200b}",
];

fn main() -> ExitCode {
    let arguments: Vec<String> = env::args().skip(1).collect();
    if let [flag, piece, length] = arguments.as_slice()
        && flag == "--case"
        && let (Ok(piece), Ok(length)) = (piece.parse::<usize>(), length.parse::<usize>())
    {
        judge(&PIECES[piece].repeat(length / PIECES[piece].len()));
        return ExitCode::SUCCESS;
    }
    // `cargo bench` passes this flag; `cargo test --all-targets` only checks that the cases run.
    if !arguments.iter().any(|argument| argument == "--bench") {
        PIECES.iter().copied().for_each(judge);
        return ExitCode::SUCCESS;
    }
    match growths() {
        Ok(growths) => report(&growths),
        Err(failure) => {
            eprintln!("{failure}");
            ExitCode::from(2)
        }
    }
}

/// Processes the text of a response in every way: classifies it, searches it for a wait, parses it as an event, and
/// shows it.
fn judge(text: &str) {
    let answer = ResponseError::new(StatusCode::TOO_MANY_REQUESTS, HeaderMap::new(), text);
    let event = ProviderError::parse(text).map(|event| event.classify());
    black_box((answer.classify(), wait_in(text), event, answer.to_string()));
}

/// Returns the ratios between the costs of the long and the short texts.
fn growths() -> Result<Vec<f64>, Failure> {
    let cost = |piece: usize, length: usize| -> Result<f64, Failure> {
        let run =
            |length: usize| callgrind::run(&["--case", &piece.to_string(), &length.to_string()]);
        // Excludes the program's startup.
        Ok(run(length)?.per_call(run(0)?, 1.0).all)
    };
    (0..PIECES.len())
        .map(|piece| Ok(cost(piece, LONG)? / cost(piece, SHORT)?))
        .collect()
}

#[expect(clippy::cast_precision_loss, reason = "the ratio is 8")]
fn report(growths: &[f64]) -> ExitCode {
    println!("| 1 MiB of | times 128 KiB of it |\n|---|--:|");
    for (piece, growth) in PIECES.iter().zip(growths) {
        println!("| `{}` | {growth:.1} |", piece.escape_debug());
    }
    let most = 1.1 * (LONG / SHORT) as f64;
    if growths.iter().all(|growth| *growth <= most) {
        return ExitCode::SUCCESS;
    }
    println!("broken: more than {most} times");
    ExitCode::FAILURE
}
