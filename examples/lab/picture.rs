//! What is drawn as boxes.

pub(crate) struct Picture {
    pub(crate) title: &'static str,
    /// What to see, in one sentence.
    pub(crate) see: &'static str,
    /// An SVG element in colours of its own.
    pub(crate) svg: String,
}
