//! Whole clients: a layer and a middleware, over in-process services and over real clients.

mod bodies;
mod calls;
mod cloned;
mod flaky;
mod held;
mod hooks;
mod plain;
mod policies;
mod readiness;
mod repeat;
mod rules;
mod scripted;
mod spans;

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
#[cfg(any(
    feature = "async_openai",
    feature = "hyper_util",
    feature = "kube",
    feature = "octocrab",
    feature = "reqwest_middleware"
))]
mod real;
#[cfg(feature = "reqwest_middleware")]
mod reqwest;
#[cfg(feature = "tonic")]
mod tonic;
