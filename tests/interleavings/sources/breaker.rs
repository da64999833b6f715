#[path = "../../../retry-protections/src/breaker/admission.rs"]
mod admission;
#[path = "../../../retry-protections/src/breaker/by_hand.rs"]
mod by_hand;
#[path = "../../../retry-protections/src/breaker/circuit.rs"]
pub(crate) mod circuit;
#[path = "../../../retry-protections/src/breaker/cusum.rs"]
mod cusum;
#[path = "../../../retry-protections/src/breaker/last_calls.rs"]
mod last_calls;
#[path = "../../../retry-protections/src/breaker/rule.rs"]
mod rule;
#[path = "../../../retry-protections/src/breaker/setters.rs"]
mod setters;
#[path = "../../../retry-protections/src/breaker/waiters.rs"]
mod waiters;
#[path = "../../../retry-protections/src/breaker/window.rs"]
mod window;
