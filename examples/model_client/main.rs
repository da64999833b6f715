//! Asks a model for one completion, through a persistent client:
//!
//! ```text
//! cargo run --manifest-path examples/model_client/Cargo.toml -- \
//!     --base-url http://127.0.0.1:8000/v1 --prompt "Say hello."
//! ```
//!
//! The client retries in the layer that can interpret failures, not in an SDK, and logs each retry:
//!
//! - It retries every 5xx except a few such as 501, errors with "overloaded" or "internal", timeouts and lost
//!   connections; also 429, after the wait that the server asks for, unless the account is out of money. Other 4xx are
//!   not retried. The error type in `error.rs` decides.
//! - A 413 shortens the prompt and sends it again, in `client.rs`.
//! - It makes up to 5 retries, after 1, 2, 4, 8 and 16 s, and limits each attempt to 60 s. A file, the environment and
//!   the command line can override these settings, in `settings.rs`. Changes to the file apply even to calls that are
//!   already failing.
//! - All of this is the same for every vendor: the differences are in `vendor.rs`.
//!
//! The completion goes to standard output, the log to standard error; on a terminal, a spinner below the log shows the
//! reason for each wait. The exit status is 0 with a completion, 1 without, and 2 for bad arguments or a bad
//! configuration file.

mod client;
mod error;
mod settings;
mod vendor;

use std::io::{self, Write};
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use clap::{CommandFactory, Parser, error::ErrorKind};
use reqwest::Url;
use retry_observers::Progress;
use retry_runtime::configuration::{PolicyArgs, PolicyFlags};
use retry_runtime::{Policy, SharedPolicy};

use crate::client::{Client, Message};
use crate::error::ModelError;
use crate::settings::{Layer, Settings};
use crate::vendor::Vendor;

/// Asks a model for one completion.
#[derive(Parser)]
#[command(name = "model_client")]
struct Arguments {
    /// The URL of the API
    #[arg(long, value_name = "http://HOST:PORT/v1", value_parser = base_url)]
    base_url: Url,
    /// The vendor of the API
    #[arg(long, value_enum, default_value_t)]
    vendor: Vendor,
    /// The model's name
    #[arg(long, default_value = "gpt-4o-mini")]
    model: String,
    /// The API key
    #[arg(long, value_name = "KEY", default_value = "none")]
    api_key: String,
    /// The prompt for the model
    #[arg(long, default_value = "Say hello.")]
    prompt: String,
    /// A TOML file: timeout = "60s" and a table [retry]
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// The time limit of every attempt, overrides the file: 180s
    #[arg(long, value_name = "DURATION", value_parser = settings::parse_timeout)]
    timeout: Option<Duration>,
    #[command(flatten)]
    retry: PolicyArgs<Retries>,
}

/// `--retry "max=5, base=250ms"`, `--retry-max 5`, `MODEL_RETRY_MAX=5`: override the file.
struct Retries;

impl PolicyFlags for Retries {
    const ENV: &'static str = "MODEL_RETRY";
    const POLICY: Policy = Settings::new().policy;
}

impl Arguments {
    /// Returns the merged settings. An error names the wrong flag.
    fn settings(&self) -> Result<Settings, String> {
        let mut settings = Settings::new();
        if let Some(path) = &self.config {
            settings = Layer::read(path)
                .and_then(|file| Ok(settings.overridden_by(&file)?))
                .map_err(|error| {
                    format!(
                        "--config {}: {}",
                        path.display(),
                        error.to_string().trim_end()
                    )
                })?;
        }
        let command_line = Layer {
            timeout: self.timeout,
            retry: self.retry.overrides().clone(),
        };
        settings
            .overridden_by(&command_line)
            .map_err(|error| format!("--retry \"{}\": {error}", command_line.retry))
    }
}

fn base_url(text: &str) -> Result<Url, String> {
    let url = Url::parse(text).map_err(|error| error.to_string())?;
    match url.scheme() {
        "http" => Ok(url),
        "https" => Err("add reqwest's feature `rustls` to this example for https".into()),
        _ => Err("not an http address".into()),
    }
}

/// A writer to standard error, above the spinner.
#[derive(Clone)]
struct Log(Progress);

impl Write for Log {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.bar().suspend(|| io::stderr().write(bytes))
    }

    fn flush(&mut self) -> io::Result<()> {
        io::stderr().flush()
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let settings = arguments.settings().unwrap_or_else(|error| {
        Arguments::command()
            .error(ErrorKind::ValueValidation, error)
            .exit()
    });
    let progress = Progress::spinner();
    let log = Log(progress.clone());
    tracing_subscriber::fmt()
        .with_writer(move || log.clone())
        .init();
    let completion = complete(&arguments, settings, &progress).await;
    progress.bar().finish_and_clear();
    match completion {
        Ok(completion) => {
            println!("{completion}");
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

async fn complete(
    arguments: &Arguments,
    settings: Settings,
    progress: &Progress,
) -> Result<String, ModelError> {
    let policy = Arc::new(SharedPolicy::new(settings.policy));
    let client = Client::new(
        arguments,
        Arc::clone(&policy),
        settings.timeout,
        progress.clone(),
    )?;
    let messages = [Message::user(arguments.prompt.clone())];
    let file = arguments.config.as_deref();
    let tell = |line: &str| progress.bar().suspend(|| eprintln!("{line}"));
    // Watches the file until the call ends.
    tokio::select! {
        completion = client.complete(&messages) => completion,
        never = settings::watch(file, || arguments.settings(), &policy, tell) => match never {},
    }
}
