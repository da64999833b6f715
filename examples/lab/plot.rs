//! Lines over two axes, drawn as SVG.

use std::ops::Range;

use plotters::coord::Shift;
use plotters::drawing::DrawingAreaErrorKind;
use plotters::prelude::*;

use crate::figure::Rounded;

pub(crate) struct Plot {
    pub(crate) title: &'static str,
    /// A sentence about the result that the plot shows.
    pub(crate) caption: &'static str,
    pub(crate) x: Axis,
    pub(crate) y: Axis,
    pub(crate) lines: Vec<Line>,
}

/// An axis: its quantity, unit and scale.
#[derive(Clone, Copy)]
pub(crate) struct Axis {
    pub(crate) label: &'static str,
    pub(crate) scale: Scale,
}

#[derive(Clone, Copy)]
pub(crate) enum Scale {
    /// From zero.
    Linear,
    /// Each step is ten times the last.
    Logarithmic,
}

pub(crate) struct Line {
    pub(crate) name: String,
    pub(crate) points: Vec<(f64, f64)>,
}

impl Line {
    pub(crate) fn new(name: impl Into<String>, points: Vec<(f64, f64)>) -> Self {
        Self {
            name: name.into(),
            points,
        }
    }
}

/// The colours of the lines, which are legible on white and on black.
pub(crate) const COLOURS: [RGBColor; 8] = [
    RGBColor(0xd9, 0x43, 0x4e),
    RGBColor(0x2f, 0x7e, 0xd8),
    RGBColor(0x2e, 0x9d, 0x4f),
    RGBColor(0xd9, 0x7a, 0x0d),
    RGBColor(0x9b, 0x59, 0xd0),
    RGBColor(0x1a, 0x97, 0xa5),
    RGBColor(0x8a, 0x8f, 0x98),
    RGBColor(0xd0, 0x45, 0x9b),
];
const SIZE: (u32, u32) = (560, 350);
const FONT: (&str, u32) = ("sans-serif", 20);
const TICKS: usize = 6;

type DrawingError<B> = DrawingAreaErrorKind<<B as DrawingBackend>::ErrorType>;

impl Plot {
    /// Returns an SVG element. Its ink is black and its grid grey; the page's style adjusts the colours.
    pub(crate) fn svg(&self) -> String {
        let mut svg = String::new();
        let area = SVGBackend::with_string(&mut svg, SIZE).into_drawing_area();
        self.draw(&area).expect("a string takes everything");
        drop(area);
        svg
    }

    fn draw<B: DrawingBackend>(&self, area: &DrawingArea<B, Shift>) -> Result<(), DrawingError<B>> {
        let across = self.x.range(self.points().map(|(x, _)| x));
        let up = self.y.range(self.points().map(|(_, y)| y));
        let mut chart = ChartBuilder::on(area)
            .margin(12)
            .margin_right(24)
            .x_label_area_size(58)
            .y_label_area_size(80)
            .build_cartesian_2d(across, up)?;
        chart
            .configure_mesh()
            .axis_style(BLACK)
            .bold_line_style(RGBColor(0x80, 0x80, 0x80))
            .light_line_style(TRANSPARENT)
            .label_style(FONT)
            .axis_desc_style(FONT)
            .x_labels(TICKS)
            .y_labels(TICKS)
            .x_desc(self.x.label)
            .y_desc(self.y.label)
            .x_label_formatter(&|x| self.x.shown(*x))
            .y_label_formatter(&|y| self.y.shown(*y))
            .draw()?;
        for (line, colour) in self.lines.iter().zip(COLOURS) {
            let points = line.points.iter();
            let places = points.map(|(x, y)| (self.x.place(*x), self.y.place(*y)));
            chart.draw_series(LineSeries::new(places, colour.stroke_width(2)))?;
        }
        area.present()
    }

    fn points(&self) -> impl Iterator<Item = (f64, f64)> {
        self.lines
            .iter()
            .flat_map(|line| line.points.iter().copied())
    }
}

impl Axis {
    pub(crate) fn linear(label: &'static str) -> Self {
        Self {
            label,
            scale: Scale::Linear,
        }
    }

    pub(crate) fn logarithmic(label: &'static str) -> Self {
        Self {
            label,
            scale: Scale::Logarithmic,
        }
    }

    fn place(self, value: f64) -> f64 {
        match self.scale {
            Scale::Linear => value,
            Scale::Logarithmic => value.log10(),
        }
    }

    fn range(self, values: impl Iterator<Item = f64>) -> Range<f64> {
        let places = values.map(|value| self.place(value));
        let (least, most) = places.fold((f64::MAX, f64::MIN), |(least, most), place| {
            (least.min(place), most.max(place))
        });
        match self.scale {
            Scale::Linear => 0.0..most.max(1e-3) * 1.02,
            Scale::Logarithmic => least.floor()..most.ceil(),
        }
    }

    fn shown(self, place: f64) -> String {
        match self.scale {
            Scale::Linear => Rounded(place).to_string(),
            Scale::Logarithmic => Rounded(10_f64.powf(place)).to_string(),
        }
    }
}
