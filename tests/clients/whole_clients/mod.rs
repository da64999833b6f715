//! Whole clients: a layer and a middleware, over in-process services and over real clients.

mod bodies;
mod calls;
mod cloned;
mod dropped;
mod flaky;
mod held;
mod hooks;
mod plain;
mod policies;
mod readiness;
mod rules;
mod scripted;
mod spans;
mod tower_resilience;
mod tower_retry;

#[cfg(feature = "async_openai")]
mod async_openai;
#[cfg(feature = "hyper_util")]
mod hyper_util;
#[cfg(feature = "kube")]
mod kube;
#[cfg(feature = "nested")]
mod nested;
#[cfg(feature = "octocrab")]
mod octocrab;
#[cfg(feature = "hyper_util")]
mod real;
#[cfg(feature = "reqwest_middleware")]
mod reqwest;
#[cfg(feature = "tonic")]
mod tonic;
