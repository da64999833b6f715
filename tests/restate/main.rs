//! Handlers on a real Restate server. The server and the handlers' processes are killed. `.ci/restate` runs the tests.

mod charges;
mod errors;
mod lab;
mod plans;

use std::env;
use std::fs::{self, OpenOptions};
use std::io::Write;
use std::net::Ipv4Addr;
use std::path::PathBuf;
use std::sync::Mutex;

use restate_sdk::prelude::{Endpoint, HttpServer};

/// The file in which services record their steps for the tests.
#[derive(Clone)]
struct Notes(PathBuf);

impl Notes {
    fn add(&self, file: &str, line: &str) {
        let mut options = OpenOptions::new();
        let file = options.append(true).create(true).open(self.0.join(file));
        // In one write, so that the lines of two processes don't mix.
        file.unwrap()
            .write_all(format!("{line}\n").as_bytes())
            .unwrap();
    }

    fn remove(&self, file: &str) {
        fs::remove_file(self.0.join(file)).unwrap();
    }

    fn lines(&self, file: &str) -> Vec<String> {
        let text = fs::read_to_string(self.0.join(file)).unwrap_or_default();
        text.lines().map(str::to_owned).collect()
    }
}

/// The service that the tests start and kill. Does nothing when run directly.
#[tokio::test]
async fn service() {
    let Ok(port) = env::var("RESTATE_TEST_PORT") else {
        return;
    };
    let notes = Notes(env::var_os("RESTATE_TEST_NOTES").unwrap().into());
    let log = OpenOptions::new()
        .append(true)
        .create(true)
        .open(notes.0.join("log"));
    tracing_subscriber::fmt()
        .with_ansi(false)
        .without_time()
        .with_writer(Mutex::new(log.unwrap()))
        .init();
    let endpoint = Endpoint::builder();
    let endpoint = match env::var("RESTATE_TEST_SERVICES").unwrap().as_str() {
        "charges" => endpoint.bind(charges::Charges(notes)),
        "reports" => endpoint
            .bind(plans::Reports)
            .bind(plans::Left(plans::Worker(notes))),
        "right" => endpoint.bind(plans::Right(plans::Worker(notes))),
        other => panic!("{other}"),
    };
    let address = (Ipv4Addr::LOCALHOST, port.parse().unwrap());
    HttpServer::new(endpoint.build())
        .listen_and_serve(address.into())
        .await;
}
