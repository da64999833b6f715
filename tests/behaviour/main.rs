//! Black-box tests of annotated functions, policies, batches and plans. Tests of a call's keys are in `calls.rs`.

mod batch;
mod blocks;
mod classification;
mod clocks;
mod core;
mod decorators;
mod derive;
mod fuzz;
mod llm;
mod log;
mod observers;
mod plan;
mod policy_properties;
mod policy_serde;
mod policy_text;
mod secrets;
mod shapes;
mod shown;
mod spans;
mod streams;
mod testing;
mod validation;
