//! redis 1.

mod classify;
mod database;
mod fleets;
mod retries;
