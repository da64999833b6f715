//! A program that charges and ships an order, and is killed again and again.
//!
//! `cargo run --manifest-path retry-durable/Cargo.toml --example order` starts a second program, which does the work,
//! kills it in the middle, and starts it again until the order is done.

use std::env;
use std::error::Error;
use std::path::Path;
use std::process::{Command, ExitCode};
use std::thread::sleep;
use std::time::Duration;

use retry_durable::{Durable, DurableError, Engine, Journal, JournalError};
use retry_runtime::{Backoff, Jitter, Policy};

/// Requests fail until the program's third run.
async fn request(life: u32, what: &str) -> Result<String, String> {
    tokio::time::sleep(Duration::from_millis(100)).await;
    println!("    request to {what}");
    if life < 3 {
        return Err(format!("503 {what} is overloaded"));
    }
    Ok(format!("{what} done"))
}

/// Processes an order. Written as if the program never stopped.
async fn order(journal: &Journal, life: u32) -> Result<(), DurableError<String, JournalError>> {
    let policy = Policy::new()
        .max(10)
        .backoff(Backoff::Fixed)
        .base(Duration::from_millis(1500))
        .jitter(Jitter::None);
    let call = Durable::new(policy).on(|error: &String| error.starts_with("503"));
    for what in ["the bank", "the warehouse"] {
        let done = call.call(journal, what, || request(life, what));
        println!("    {}", done.await?);
    }
    let informed = journal.step("tell the customer", async {
        println!("    an e-mail goes out");
    });
    Ok(informed.await?)
}

#[tokio::main(flavor = "current_thread")]
async fn work(path: &Path, life: u32) -> Result<(), Box<dyn Error>> {
    let journal = Journal::open(path)?;
    order(&journal, life)
        .await
        .map_err(|error| error.to_string().into())
}

fn main() -> Result<ExitCode, Box<dyn Error>> {
    if let [_, path, life] = &env::args_os().collect::<Vec<_>>()[..] {
        work(Path::new(path), life.to_string_lossy().parse()?)?;
        return Ok(ExitCode::SUCCESS);
    }
    let path = env::temp_dir().join(format!("order {}", std::process::id()));
    for life in 1_u32.. {
        println!("life {life}");
        let mut program = Command::new(env::current_exe()?)
            .arg(&path)
            .arg(life.to_string())
            .spawn()?;
        sleep(Duration::from_secs(1));
        if let Some(ended) = program.try_wait()? {
            if !ended.success() {
                return Err(ended.to_string().into());
            }
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
