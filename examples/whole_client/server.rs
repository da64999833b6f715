//! Stands in for two servers: it refuses the first two requests by gRPC, and the first two by HTTP.

use std::io;
use std::net::Ipv4Addr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use axum::Router;
use axum::body::{Body, Bytes};
use axum::response::Response;
use http::header::CONTENT_TYPE;
use http::{HeaderMap, HeaderValue, Request, StatusCode};
use http_body_util::{BodyExt, Full};
use tokio::net::TcpListener;

/// A message of gRPC that is empty: not compressed, no bytes.
const EMPTY: &[u8] = &[0, 0, 0, 0, 0];

/// Returns where it listens.
pub(crate) async fn start() -> io::Result<String> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
    let url = format!("http://{}", listener.local_addr()?);
    let (grpc, http) = (Arc::new(AtomicU32::new(0)), Arc::new(AtomicU32::new(0)));
    let router = Router::new().fallback(async move |request: Request<Body>| {
        let content = request.headers().get(CONTENT_TYPE);
        if content.is_some_and(|content| content == "application/grpc") {
            by_grpc(grpc.fetch_add(1, Ordering::Relaxed) < 2)
        } else {
            by_http(http.fetch_add(1, Ordering::Relaxed) < 2)
        }
    });
    tokio::spawn(async { axum::serve(listener, router).await });
    Ok(url)
}

/// The status comes after the head, as from any server that begins its answer early.
fn by_grpc(is_refused: bool) -> Response {
    let (message, status) = if is_refused {
        (&[][..], "14")
    } else {
        (EMPTY, "0")
    };
    let mut trailers = HeaderMap::new();
    trailers.insert("grpc-status", HeaderValue::from_static(status));
    let body = Full::new(Bytes::from_static(message));
    let body = body.with_trailers(async { Some(Ok(trailers)) });
    let mut response = Response::new(Body::new(body));
    let content = HeaderValue::from_static("application/grpc");
    response.headers_mut().insert(CONTENT_TYPE, content);
    response
}

fn by_http(is_refused: bool) -> Response {
    let mut response = Response::new(Body::from("hello"));
    if is_refused {
        *response.status_mut() = StatusCode::SERVICE_UNAVAILABLE;
    }
    response
}
