//! redis 1.

mod classify;
mod database;
mod retries;
