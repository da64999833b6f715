//! What annotated functions, policies, batches and plans do, seen from outside.

mod batch;
mod blocks;
mod chain;
mod classification;
mod clocks;
mod conformance;
mod core;
mod decorators;
mod derive;
mod evaluations;
mod expressions;
mod forms;
mod fuzz;
mod hedge;
mod keys;
mod limiters;
mod llm;
mod log;
mod plan;
mod policy_properties;
mod policy_serde;
mod policy_text;
mod shapes;
mod shown;
mod streams;
mod validation;
