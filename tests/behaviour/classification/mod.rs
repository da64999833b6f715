//! Classification without any client: statuses and headers, I/O, causes inside other errors.

mod causes;
mod http;
mod io;
mod on_helpers;

use ::http::{HeaderMap, StatusCode};
use retry_runtime::ResponseError;
use support::prelude::*;

type Boxed = Box<dyn Error + Send + Sync>;

fn io_error(kind: std::io::ErrorKind) -> std::io::Error {
    kind.into()
}

fn response(status: u16) -> ResponseError {
    let status = StatusCode::from_u16(status).unwrap();
    ResponseError::new(status, HeaderMap::new(), "the model is Overloaded")
}
