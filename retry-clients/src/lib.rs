//! For `retry-runtime`: retries whole clients, and classifies the errors of other crates' clients.
//!
// Link targets for the included page. The first definition of a label is used.
//! [built_in_clients]: https://docs.rs/retry-runtime/0.1/retry_runtime/guide/built_in_clients/
//! [configuration]: https://docs.rs/retry-runtime/0.1/retry_runtime/guide/configuration/
//! [contents]: https://docs.rs/retry-runtime/0.1/retry_runtime/guide/
//! [whole_clients]: https://docs.rs/retry-runtime/0.1/retry_runtime/guide/whole_clients/
//! [done]: https://docs.rs/retry-runtime/0.1/retry_runtime/guide/classification/#what-a-server-may-have-done
//! [statuses]: https://docs.rs/retry-runtime/0.1/retry_runtime/guide/classification/#http-responses
//! [s3 recipe]: https://docs.rs/retry-runtime/0.1/retry_runtime/guide/cookbook/#a-file-from-s3
//! [tokens recipe]: https://docs.rs/retry-runtime/0.1/retry_runtime/guide/cookbook/#tokens-of-a-stream
//!
// On docs.rs, each item shows the feature that it needs.
#![cfg_attr(docsrs, feature(doc_cfg))]
#![cfg_attr(all(doc, checkout, any(feature = "_pages", not(doctest))), doc = include_str!("../../docs/clients.md"))]
#![cfg_attr(all(doc, not(checkout), any(feature = "_pages", not(doctest))), doc = include_str!("../docs/clients.md"))]

/// Implements `Debug` without the fields.
#[cfg(feature = "_whole_client")]
macro_rules! opaque {
    ($($name:ident<$($of:ident),*>),*) => {$(
        impl<$($of),*> std::fmt::Debug for $name<$($of),*> {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.debug_struct(stringify!($name)).finish_non_exhaustive()
            }
        }
    )*};
}

#[allow(dead_code, reason = "each client uses only some of the helpers")]
mod causes;
#[cfg(feature = "_whole_client")]
mod client_retries;
#[cfg(feature = "_whole_client")]
pub mod http;
#[cfg(feature = "_whole_client")]
pub mod repeat;
#[cfg(feature = "stream")]
mod whole;

#[cfg(feature = "reqwest_middleware")]
pub mod reqwest_middleware;
#[cfg(feature = "tower")]
pub mod tower;

#[cfg(feature = "anthropic_ai_sdk")]
pub mod anthropic_ai_sdk;
#[cfg(feature = "async_nats")]
pub mod async_nats;
#[cfg(feature = "async_openai")]
pub mod async_openai;
#[cfg(feature = "aws_sdk")]
pub mod aws_sdk;
#[cfg(feature = "azure_core")]
pub mod azure_core;
#[cfg(feature = "bb8")]
pub mod bb8;
#[cfg(feature = "deadpool")]
pub mod deadpool;
#[cfg(feature = "fred")]
pub mod fred;
#[cfg(feature = "genai")]
pub mod genai;
#[cfg(feature = "jsonrpsee")]
pub mod jsonrpsee;
#[cfg(feature = "kube")]
pub mod kube;
#[cfg(feature = "object_store")]
pub mod object_store;
#[cfg(feature = "octocrab")]
pub mod octocrab;
#[cfg(feature = "ollama_rs")]
pub mod ollama_rs;
#[cfg(feature = "opendal")]
pub mod opendal;
#[cfg(feature = "redis")]
pub mod redis;
#[cfg(feature = "rig")]
pub mod rig;
#[cfg(feature = "rmcp")]
pub mod rmcp;
#[cfg(feature = "tokio_postgres")]
pub mod tokio_postgres;

#[cfg(feature = "_whole_client")]
pub use client_retries::ClientRetries;
#[cfg(feature = "stream")]
pub use whole::{Truncated, whole};

/// An error of any type, as in tower's services.
#[cfg(feature = "_whole_client")]
pub type BoxError = Box<dyn std::error::Error + Send + Sync>;

// Compiles the page's examples, which use other libraries.
#[cfg(all(doctest, checkout, feature = "_pages"))]
#[doc = include_str!("../../docs/migrating.md")]
mod migrating {}
