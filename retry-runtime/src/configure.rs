//! Sources of policies: the command line, a file of named policies, and a value that can change while the program runs.

#[cfg(feature = "clap")]
pub(crate) mod clap;
#[cfg(feature = "std")]
pub(crate) mod installed;
pub(crate) mod policies;
#[cfg(feature = "schemars")]
mod schemars;
#[cfg(feature = "std")]
pub(crate) mod shared_policy;
