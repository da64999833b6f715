#[path = "../../../retry-protections/src/breaker/admission.rs"]
mod admission;
#[path = "../../../retry-protections/src/breaker/circuit.rs"]
pub(crate) mod circuit;
#[path = "../../../retry-protections/src/breaker/counts.rs"]
mod counts;
#[path = "../../../retry-protections/src/breaker/manual_control.rs"]
mod manual_control;
#[path = "../../../retry-protections/src/breaker/setters.rs"]
mod setters;
#[path = "../../../retry-protections/src/breaker/settings.rs"]
mod settings;
