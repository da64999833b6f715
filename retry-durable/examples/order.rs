//! An order that is charged and shipped by a program that is killed again and again.
//!
//! `cargo run --manifest-path retry-durable/Cargo.toml --example order` starts a second program, which does the work, kills
//! it in the middle, and starts it again until the order is done.

use std::env;
use std::error::Error;
use std::path::Path;
use std::process::{Command, ExitCode};
use std::thread::sleep;
use std::time::Duration;

use retry_durable::{Durable, DurableError, Engine, Journal, JournalError};
use retry_runtime::{Backoff, Policy};

/// Every second request of a life fails.
async fn request(number: u32, what: &str) -> Result<String, String> {
    tokio::time::sleep(Duration::from_millis(100)).await;
    println!("    request to {what}");
    if number.is_multiple_of(2) {
        return Err(format!("503 {what} is overloaded"));
    }
    Ok(format!("{what} done"))
}

/// What is to be done, written as if nothing ever ended it.
async fn order(journal: &Journal) -> Result<(), DurableError<String, JournalError>> {
    let policy = Policy::new()
        .max(10)
        .backoff(Backoff::Fixed)
        .base(Duration::from_secs(1));
    let call = Durable::new(policy).on(|error: &String| error.starts_with("503"));
    for what in ["the bank", "the warehouse"] {
        let mut number = 0;
        let done = call.call(journal, what, || {
            number += 1;
            request(number - 1, what)
        });
        println!("    {}", done.await?);
    }
    let told = journal.step("tell the customer", async {
        println!("    an e-mail goes out");
    });
    Ok(told.await?)
}

#[tokio::main(flavor = "current_thread")]
async fn work(path: &Path) -> Result<(), Box<dyn Error>> {
    let journal = Journal::open(path)?;
    order(&journal)
        .await
        .map_err(|error| error.to_string().into())
}

fn main() -> Result<ExitCode, Box<dyn Error>> {
    if let Some(path) = env::args_os().nth(1) {
        work(Path::new(&path))?;
        return Ok(ExitCode::SUCCESS);
    }
    let path = env::temp_dir().join(format!("order {}", std::process::id()));
    for life in 1.. {
        println!("life {life}");
        let mut program = Command::new(env::current_exe()?).arg(&path).spawn()?;
        sleep(Duration::from_secs(1));
        if program.try_wait()?.is_some() {
            break;
        }
        program.kill()?;
        program.wait()?;
        println!("    killed");
    }
    println!("the journal:\n{}", std::fs::read_to_string(&path)?);
    std::fs::remove_file(&path)?;
    Ok(ExitCode::SUCCESS)
}
