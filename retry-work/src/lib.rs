// On docs.rs, each item shows the feature it requires.
#![cfg_attr(docsrs, feature(doc_cfg))]
#![doc = include_str!("../README.md")]

mod batch;
mod in_flight;
pub mod plan;
mod progress;

pub use batch::batches::{Batches, IntoBatches};
pub use batch::blocking::{retry_each_blocking, retry_each_blocking_into};
pub use batch::item_error::ItemError;
pub use batch::{retry_each, retry_each_into};
pub use plan::Plan;
