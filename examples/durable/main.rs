//! A service on Restate that charges and ships orders.
//!
//! `examples/durable/run` starts a server and this service, sends an order, and kills both while the order is being
//! processed.

#![expect(missing_docs, reason = "`#[service]` generates undocumented items")]

use std::env;
use std::error::Error;
use std::fmt::{Display, Formatter};
use std::time::Duration;

use restate_sdk::prelude::{Context, Endpoint, HandlerResult, HttpServer, service};
use retry_durable::DurablePolicy;
use retry_runtime::{Backoff, Classify, Jitter, Policy};
use serde::{Deserialize, Serialize};
use tracing_subscriber::filter::{LevelFilter, Targets};
use tracing_subscriber::fmt;
use tracing_subscriber::prelude::*;

const POLICY: Policy = Policy::new()
    .max(20)
    .backoff(Backoff::Fixed)
    .base(Duration::from_secs(2))
    .jitter(Jitter::None);

#[derive(Debug, Classify, Serialize, Deserialize)]
enum RequestError {
    #[classify(transient)]
    Overloaded,
    #[classify(stop)]
    NoOrder,
}

impl Display for RequestError {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Overloaded => "503 overloaded",
            Self::NoOrder => "there is no order without a name",
        })
    }
}

/// Simulates a bank and a warehouse, which reject the first request in each run of the handler.
async fn request(order: &str, recipient: &str, number: u32) -> Result<String, RequestError> {
    println!("    request to {recipient}");
    tokio::time::sleep(Duration::from_millis(200)).await;
    if order.is_empty() {
        return Err(RequestError::NoOrder);
    }
    if number == 1 {
        return Err(RequestError::Overloaded);
    }
    Ok(format!("{recipient} has done {order}"))
}

struct Orders;

#[service]
impl Orders {
    /// Processes an order. The code doesn't deal with restarts.
    #[handler]
    async fn place(&self, ctx: Context<'_>, order: String) -> HandlerResult<String> {
        let mut done = Vec::new();
        for recipient in ["the bank", "the warehouse"] {
            let mut number = 0;
            let request = || {
                number += 1;
                request(&order, recipient, number)
            };
            done.push(POLICY.durable(&ctx, recipient, request).await?);
        }
        Ok(done.join(", "))
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    // Only log records about retries.
    let shown = Targets::new().with_target("retry", LevelFilter::INFO);
    tracing_subscriber::registry()
        .with(shown)
        .with(fmt::layer().without_time())
        .init();
    let address = env::args().nth(1).unwrap_or("127.0.0.1:9080".to_owned());
    HttpServer::new(Endpoint::builder().bind(Orders).build())
        .listen_and_serve(address.parse()?)
        .await;
    Ok(())
}
