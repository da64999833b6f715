#[path = "../../../retry-runtime/src/breaker/admission.rs"]
mod admission;
#[path = "../../../retry-runtime/src/breaker/by_hand.rs"]
mod by_hand;
#[path = "../../../retry-runtime/src/breaker/circuit.rs"]
pub(crate) mod circuit;
#[path = "../../../retry-runtime/src/breaker/cusum.rs"]
mod cusum;
#[path = "../../../retry-runtime/src/breaker/last_calls.rs"]
mod last_calls;
#[path = "../../../retry-runtime/src/breaker/rule.rs"]
mod rule;
#[path = "../../../retry-runtime/src/breaker/setters.rs"]
mod setters;
#[path = "../../../retry-runtime/src/breaker/waiters.rs"]
mod waiters;
#[path = "../../../retry-runtime/src/breaker/window.rs"]
mod window;
