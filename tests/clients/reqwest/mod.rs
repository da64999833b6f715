//! reqwest 0.12 and 0.13.

mod classify;
mod lost_headers;
mod response;
mod shown;
mod streams;
