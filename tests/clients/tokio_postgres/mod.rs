//! tokio-postgres, alone and in pools.

mod classify;
pub(crate) mod database;
