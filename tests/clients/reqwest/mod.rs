//! reqwest 0.12 and 0.13.

mod classify;
mod llm;
mod lost_headers;
mod response;
mod retries;
mod shown;
mod streams;
