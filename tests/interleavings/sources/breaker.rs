#[path = "../../../retry-runtime/src/breaker/circuit.rs"]
pub(crate) mod circuit;
#[path = "../../../retry-runtime/src/breaker/circuit_breaker.rs"]
pub(crate) mod circuit_breaker;
#[path = "../../../retry-runtime/src/breaker/cusum.rs"]
mod cusum;
#[path = "../../../retry-runtime/src/breaker/permit.rs"]
pub(crate) mod permit;
#[path = "../../../retry-runtime/src/breaker/window.rs"]
mod window;
