//! async-nats: failures as its client gives them, classified and counted.

mod classify;
mod database;
