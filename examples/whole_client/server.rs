//! Simulates two servers: it rejects the first two gRPC requests, and the first two HTTP requests.

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

/// An empty gRPC message: not compressed, no bytes.
const EMPTY: &[u8] = &[0, 0, 0, 0, 0];

/// Starts the server. Returns its URL.
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

/// Sends the status after the headers, like any server that starts its response early.
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
