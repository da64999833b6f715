//! What a scenario has to show.

use crate::figure::Figure;
use crate::plot::Plot;

pub(crate) struct Scenario {
    pub(crate) title: &'static str,
    /// What is simulated, in a sentence or two.
    pub(crate) about: String,
    pub(crate) plots: Vec<Plot>,
    pub(crate) figures: Vec<Figure>,
}

/// How much of the plots is drawn. The figures are the same.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Extent {
    Whole,
    /// The points that figures are taken from.
    Short,
}
