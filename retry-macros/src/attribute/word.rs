//! The word that only the macro reads.

use retry_vocabulary::words;

words! {
    /// What is done with the stream that a function returns.
    pub(crate) Mode {
        First = "first",
        Buffer = "buffer",
        Resume = "resume",
    }
}
