//! A gRPC server for `.ci/cookbook`: unavailable twice, then healthy.

use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

use tonic::{Request, Response, Status};
use tonic_health::pb::health_check_response::ServingStatus;
use tonic_health::pb::health_server::{Health, HealthServer};
use tonic_health::pb::{HealthCheckRequest, HealthCheckResponse};

struct Flaky(AtomicU32);

type Answer = Result<Response<HealthCheckResponse>, Status>;

#[tonic::async_trait]
impl Health for Flaky {
    async fn check(&self, _: Request<HealthCheckRequest>) -> Answer {
        if self.0.fetch_add(1, Relaxed) < 2 {
            return Err(Status::unavailable("busy"));
        }
        let status = ServingStatus::Serving.into();
        Ok(Response::new(HealthCheckResponse { status }))
    }

    type WatchStream = tokio_stream::Empty<Result<HealthCheckResponse, Status>>;

    async fn watch(
        &self,
        _: Request<HealthCheckRequest>,
    ) -> Result<Response<Self::WatchStream>, Status> {
        Err(Status::unimplemented("only single checks"))
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let address = std::env::args().nth(1).ok_or("an address")?.parse()?;
    let health = HealthServer::new(Flaky(AtomicU32::new(0)));
    tonic::transport::Server::builder().add_service(health).serve(address).await?;
    Ok(())
}
