//! One layer retries the requests of a gRPC client and an HTTP client, which share a budget:
//!
//! ```text
//! cargo run --manifest-path examples/whole_client/Cargo.toml
//! ```
//!
//! The server in `server.rs` rejects the first two requests of each client. The log goes to standard error.

mod server;

use std::time::Duration;

use http::uri::PathAndQuery;
use retry_clients::ClientRetries;
use retry_clients::tower::{Retry, RetryLayer};
use retry_runtime::{Budget, Policy};
use tonic::client::Grpc;
use tonic::transport::{Channel, Endpoint};
use tonic_prost::ProstCodec;
use tower::{BoxError, Layer, ServiceExt};

static BUDGET: Budget = Budget::standard();

/// Returns a channel for any generated gRPC client, and an HTTP client. Both retry every request.
fn clients(url: String) -> Result<(Retry<Channel>, Retry<reqwest::Client>), BoxError> {
    let policy = Policy::new().max(5).base(Duration::from_millis(50));
    let layer = RetryLayer::new(ClientRetries::new(policy).budget(&BUDGET));
    let one_each = reqwest::Client::builder().retry(reqwest::retry::never());
    let channel = Endpoint::from_shared(url)?.connect_lazy();
    Ok((layer.layer(channel), layer.layer(one_each.build()?)))
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), BoxError> {
    tracing_subscriber::fmt()
        .with_writer(std::io::stderr)
        .init();
    let url = server::start().await?;
    let (channel, http) = clients(url.clone())?;

    let mut greeter = Grpc::new(channel);
    greeter.ready().await?;
    let path = PathAndQuery::from_static("/greeter.Greeter/Hello");
    let codec = ProstCodec::<(), ()>::default();
    greeter.unary(tonic::Request::new(()), path, codec).await?;
    println!("gRPC: answered");

    let request = reqwest::Request::new(reqwest::Method::GET, url.parse()?);
    let answer = http.oneshot(request).await?;
    println!("HTTP: {}", answer.text().await?);
    Ok(())
}

#[cfg(test)]
mod tests {
    #[test]
    fn both_are_answered() {
        super::main().unwrap();
    }
}
