//! sqlx 0.9, with PostgreSQL.

mod classify;
mod database;
