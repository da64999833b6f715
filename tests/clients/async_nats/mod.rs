//! async-nats: failures as its client reports them, classified and counted.

mod classify;
mod database;
