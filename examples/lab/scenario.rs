//! The results of a scenario.

use crate::figure::Figure;
use crate::plot::Plot;

pub(crate) struct Scenario {
    pub(crate) title: &'static str,
    /// A description of the simulation, in a sentence or two.
    pub(crate) about: String,
    pub(crate) plots: Vec<Plot>,
    pub(crate) figures: Vec<Figure>,
}

/// The number of points in the plots. It doesn't affect the figures.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Extent {
    Whole,
    /// Only the points that figures are computed from.
    Short,
}
