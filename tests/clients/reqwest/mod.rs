//! reqwest 0.12 and 0.13.

mod classify;
mod llm;
mod response;
mod retries;
mod shown;
mod streams;
