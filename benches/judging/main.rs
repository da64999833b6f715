//! What judging an answer costs by the length of its text: `cargo bench -p judging`.
//!
//! Instructions are counted by valgrind's callgrind. A text of 1 MiB may cost little more than eight times what one of
//! 128 KiB costs, whatever a server repeats in it; where it costs more, the program ends with exit code 1.

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

/// What a text repeats: beginnings of what is looked for, and of what it stands in.
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
    // `cargo bench` says so; `cargo test --all-targets` only wants to know that the cases run.
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

/// All that is done with the text of an answer: it is judged, searched for a wait, read as an event, and shown.
fn judge(text: &str) {
    let answer = ResponseError::new(StatusCode::TOO_MANY_REQUESTS, HeaderMap::new(), text);
    let event = ProviderError::parse(text).map(|event| event.classify());
    black_box((answer.classify(), wait_in(text), event, answer.to_string()));
}

/// How many times as much the long text costs.
fn growths() -> Result<Vec<f64>, Failure> {
    let cost = |piece: usize, length: usize| -> Result<f64, Failure> {
        let run =
            |length: usize| callgrind::run(&["--case", &piece.to_string(), &length.to_string()]);
        // Without the program's start.
        Ok(run(length)?.per_call(run(0)?, 1.0).all)
    };
    (0..PIECES.len())
        .map(|piece| Ok(cost(piece, LONG)? / cost(piece, SHORT)?))
        .collect()
}

#[expect(clippy::cast_precision_loss, reason = "it is eight")]
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
