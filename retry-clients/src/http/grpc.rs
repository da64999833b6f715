use retry_runtime::{Classify, Verdict};
use tonic::metadata::{MetadataMap, MetadataValue};
use tonic::{Code, Status};

use super::Answer;

const STATUS: &str = "grpc-status";
const MESSAGE: &str = "grpc-message";
const DETAILS: &str = "grpc-status-details-bin";

/// Returns the status in the response's trailers or headers.
///
/// The details are not passed to `Status::from_header_map`, because it panics if they are not valid base64.
pub(super) fn status(answer: &Answer<'_>) -> Option<Status> {
    let places = [answer.trailers(), Some(answer.headers())];
    let mut places = places.into_iter().flatten();
    let headers = places.find(|headers| headers.contains_key(STATUS))?;
    let mut without_details = http::HeaderMap::new();
    for name in [STATUS, MESSAGE] {
        if let Some(value) = headers.get(name) {
            without_details.insert(name, value.clone());
        }
    }
    let status = Status::from_header_map(&without_details)?;
    let metadata = MetadataMap::from_headers(headers.clone());
    let details = metadata.get_bin(DETAILS).map(MetadataValue::to_bytes);
    Some(Status::with_details_and_metadata(
        status.code(),
        status.message(),
        details.and_then(Result::ok).unwrap_or_default(),
        metadata,
    ))
}

/// Returns `None` if the call succeeded.
pub(super) fn verdict(status: &Status) -> Option<Verdict> {
    (status.code() != Code::Ok).then(|| status.classify())
}
