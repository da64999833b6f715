//! A picture that needs no program to draw it. Every subtask has a row of its own, in the column after those that it
//! depends on. So a line along the row that it begins in, and then down or up between two columns, meets no other box.

use core::fmt;

use super::{Diagram, Drawn, Escaped};
use crate::error_text::shown::shown_name;

// All in pixels.
const MARGIN: usize = 8;
const HEIGHT: usize = 44;
const ROW: usize = HEIGHT + 12;
const PADDING: usize = 12;
/// Between two columns.
const GAP: usize = 44;
/// Lines from different subtasks lie beside each other in it.
const LANES: usize = 5;
const LANE: usize = 5;

pub(super) struct Svg<'a> {
    diagram: &'a Diagram,
    /// In which column each subtask is.
    columns: Vec<usize>,
    /// The width of every box.
    width: usize,
}

impl<'a> Svg<'a> {
    pub(super) fn new(diagram: &'a Diagram) -> Self {
        let widths = diagram.subtasks.iter().map(width);
        Self {
            diagram,
            columns: columns(diagram),
            width: widths.max().unwrap_or_default(),
        }
    }

    fn left(&self, column: usize) -> usize {
        MARGIN + column * (self.width + GAP)
    }

    fn line(&self, f: &mut fmt::Formatter<'_>, from: usize, to: usize) -> fmt::Result {
        let begin = self.left(self.columns[from]) + self.width;
        let end = self.left(self.columns[to]);
        let turn = (end + PADDING).saturating_sub(GAP) + from % LANES * LANE;
        let (above, below) = (middle(from), middle(to));
        writeln!(
            f,
            r##"<path d="M{begin} {above}H{turn}V{below}H{end}" fill="none" stroke="#868e96" stroke-width="2"/><path d="M{end} {below}l-8-4v8z" fill="#868e96"/>"##
        )
    }

    fn subtask(&self, f: &mut fmt::Formatter<'_>, place: usize, subtask: &Drawn) -> fmt::Result {
        let (left, top) = (self.left(self.columns[place]), MARGIN + place * ROW);
        let (centre, width) = (left + self.width / 2, self.width);
        let (first, second) = (top + 18, top + 35);
        let name = Escaped(&subtask.name, of_xml);
        let (status, colour) = (subtask.status.words(), subtask.status.colour());
        writeln!(
            f,
            r##"<rect x="{left}" y="{top}" width="{width}" height="{HEIGHT}" rx="6" fill="{colour}" stroke="#495057"/>
<text x="{centre}" y="{first}">{name}</text><text x="{centre}" y="{second}" font-size="12">{status}</text>"##
        )
    }
}

impl fmt::Display for Svg<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let subtasks = &self.diagram.subtasks;
        let last = self.columns.iter().max().copied().unwrap_or_default();
        let width = self.left(last) + self.width + MARGIN;
        let height = subtasks.len() * ROW + 2 * MARGIN;
        writeln!(
            f,
            r##"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" font-family="sans-serif" font-size="14" text-anchor="middle" fill="#000000">"##
        )?;
        for (from, to) in self.diagram.edges() {
            self.line(f, from, to)?;
        }
        for (place, subtask) in subtasks.iter().enumerate() {
            self.subtask(f, place, subtask)?;
        }
        writeln!(f, "</svg>")
    }
}

/// The width of a name, in a font that nobody knows yet.
fn width(subtask: &Drawn) -> usize {
    let name = shown_name(&subtask.name).to_string();
    let letters = name
        .chars()
        .map(|char| if char.is_ascii() { 9 } else { 15 });
    2 * PADDING + letters.sum::<usize>().max(9 * "completed".len())
}

/// The height at which lines meet a box.
fn middle(place: usize) -> usize {
    MARGIN + place * ROW + HEIGHT / 2
}

/// For each subtask, how many others must complete one after the other before it. Subtasks that wait for each other have
/// what is known without that.
fn columns(diagram: &Diagram) -> Vec<usize> {
    let mut columns = vec![0; diagram.subtasks.len()];
    let along = |from: usize, to: usize| columns[to] = columns[to].max(columns[from] + 1);
    diagram.graph.walk(along);
    columns
}

fn of_xml(char: char) -> Option<&'static str> {
    Some(match char {
        '&' => "&amp;",
        '<' => "&lt;",
        '>' => "&gt;",
        // Not allowed in XML, escaped or not.
        '\u{FFFE}' | '\u{FFFF}' => "\u{FFFD}",
        _ => return None,
    })
}
