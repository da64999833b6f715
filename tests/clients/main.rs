//! Classification of real clients' errors, one feature for each client, retries of whole clients, and other runtimes.

#[cfg(any(
    feature = "async_nats",
    feature = "fred",
    feature = "redis",
    feature = "sqlx",
    feature = "tokio_postgres"
))]
mod databases;
#[cfg(feature = "foreign_traits")]
mod foreign_traits;
#[cfg(feature = "http2")]
mod http2;
#[cfg(feature = "hyper_util")]
mod hyper_util;
#[cfg(feature = "models")]
mod models;
#[cfg(all(feature = "redis", feature = "reqwest", feature = "ureq"))]
mod on_clients;
#[cfg(feature = "redis")]
mod redis;
#[cfg(feature = "reqwest")]
mod reqwest;
#[cfg(feature = "runtimes")]
mod runtimes;
#[cfg(feature = "sqlx")]
mod sqlx;
#[cfg(feature = "tonic")]
mod tonic;
#[cfg(any(feature = "azure_core", feature = "object_store"))]
mod untrusted;
#[cfg(feature = "ureq")]
mod ureq;
#[cfg(any(feature = "reqwest", feature = "ureq"))]
mod warnings;
#[cfg(feature = "tower")]
mod whole_clients;

#[cfg(feature = "anthropic_ai_sdk")]
mod anthropic_ai_sdk;
#[cfg(feature = "async_nats")]
mod async_nats;
#[cfg(feature = "async_openai")]
mod async_openai;
#[cfg(feature = "aws_sdk")]
mod aws_sdk;
#[cfg(feature = "azure_core")]
mod azure_core;
#[cfg(feature = "bb8")]
mod bb8;
#[cfg(feature = "deadpool")]
mod deadpool;
#[cfg(feature = "fred")]
mod fred;
#[cfg(feature = "genai")]
mod genai;
#[cfg(feature = "jsonrpsee")]
mod jsonrpsee;
#[cfg(feature = "kube")]
mod kube;
#[cfg(feature = "object_store")]
mod object_store;
#[cfg(feature = "octocrab")]
mod octocrab;
#[cfg(feature = "ollama_rs")]
mod ollama_rs;
#[cfg(feature = "opendal")]
mod opendal;
#[cfg(feature = "rig")]
mod rig;
#[cfg(feature = "rmcp")]
mod rmcp;
#[cfg(feature = "tokio_postgres")]
mod tokio_postgres;
