//! sqlx 0.9, with PostgreSQL, MySQL and SQLite.

mod classify;
mod database;
mod sqlite;
