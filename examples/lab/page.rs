//! A self-contained HTML page, without network access or scripts.

use std::fmt::{self, Display};

use plotters::style::RGBColor;

use crate::figure::Figure;
use crate::plot::{COLOURS, Plot};
use crate::scenario::Scenario;

/// The whole page, as HTML.
pub(crate) struct Page<'a>(pub(crate) &'a [Scenario]);

impl Display for Page<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            r#"<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>Retries that cannot make an outage worse</title>
<style>
{}{}</style>
</head>
<body>
<h1>Retries that cannot make an outage worse</h1>
<p>Real calls of functions with <code>#[retry(…)]</code>, against simulated servers and on a
simulated clock. Bounds stand beneath the figures; the program fails if one is outside.</p>"#,
            include_str!("page.css"),
            Dashes
        )?;
        for scenario in self.0 {
            section(f, scenario)?;
        }
        writeln!(f, "</body>\n</html>")
    }
}

/// Dash patterns, so that lines differ in more than their colour.
struct Dashes;

const DASHES: [&str; COLOURS.len()] = [
    "none", "8 3", "none", "2 3", "10 3 2 3", "5 2", "4 3", "12 4",
];

impl Display for Dashes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (colour, dashes) in COLOURS.into_iter().zip(DASHES) {
            let colour = Hex(colour);
            writeln!(
                f,
                "[stroke=\"{colour}\"] {{\n  stroke-dasharray: {dashes};\n}}"
            )?;
        }
        Ok(())
    }
}

fn section(f: &mut fmt::Formatter<'_>, scenario: &Scenario) -> fmt::Result {
    let Scenario { title, about, .. } = scenario;
    writeln!(f, "<h2>{}</h2>\n<p>{}</p>", Escaped(title), Escaped(about))?;
    writeln!(f, r#"<div class="plots">"#)?;
    for plot in &scenario.plots {
        figure(f, plot)?;
    }
    writeln!(f, "</div>")?;
    table(f, &scenario.figures)
}

fn figure(f: &mut fmt::Formatter<'_>, plot: &Plot) -> fmt::Result {
    let (title, caption) = (Escaped(plot.title), Escaped(plot.caption));
    writeln!(f, "<figure>")?;
    writeln!(
        f,
        "<figcaption><strong>{title}</strong> {caption}</figcaption>"
    )?;
    writeln!(
        f,
        r#"<div class="plot" role="img" aria-label="{title}">{}</div>"#,
        plot.svg()
    )?;
    writeln!(f, r#"<ul class="legend">"#)?;
    for (line, colour) in plot.lines.iter().zip(COLOURS) {
        let (name, colour) = (Escaped(&line.name), Hex(colour));
        writeln!(
            f,
            r#"<li><svg viewBox="0 0 32 10" aria-hidden="true"><path d="M0 5H32" stroke="{colour}" stroke-width="3"/></svg>{name}</li>"#
        )?;
    }
    writeln!(f, "</ul>\n</figure>")
}

/// Writes a table with a row for each case and a column for each kind of figure.
fn table(f: &mut fmt::Formatter<'_>, figures: &[Figure]) -> fmt::Result {
    let (mut cases, mut columns) = (Vec::new(), Vec::new());
    for Figure { case, quantity, .. } in figures {
        if !cases.contains(&case) {
            cases.push(case);
        }
        if !columns.contains(quantity) {
            columns.push(*quantity);
        }
    }
    writeln!(f, r#"<div class="table"><table>"#)?;
    write!(f, "<tr><th></th>")?;
    for quantity in &columns {
        write!(f, "<th>{}</th>", Escaped(quantity))?;
    }
    writeln!(f, "</tr>")?;
    for case in cases {
        write!(f, "<tr><th>{}</th>", Escaped(case))?;
        for quantity in &columns {
            let mut figures = figures.iter();
            match figures.find(|figure| figure.case == *case && figure.quantity == *quantity) {
                Some(figure) => cell(f, figure)?,
                None => write!(f, "<td></td>")?,
            }
        }
        writeln!(f, "</tr>")?;
    }
    writeln!(f, "</table></div>")
}

fn cell(f: &mut fmt::Formatter<'_>, figure: &Figure) -> fmt::Result {
    let (value, bounds) = (figure.value(), figure.bounds());
    let class = if figure.is_within_bounds() {
        "within"
    } else {
        "outside"
    };
    write!(
        f,
        r#"<td class="{class}">{value}<small>{bounds}</small></td>"#
    )
}

/// Displays a colour in SVG notation.
struct Hex(RGBColor);

impl Display for Hex {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let RGBColor(red, green, blue) = self.0;
        write!(f, "#{red:02X}{green:02X}{blue:02X}")
    }
}

/// Displays text escaped for HTML, also inside quotes.
struct Escaped<'a>(&'a str);

impl Display for Escaped<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for c in self.0.chars() {
            match c {
                '&' => f.write_str("&amp;")?,
                '<' => f.write_str("&lt;")?,
                '"' => f.write_str("&quot;")?,
                c => write!(f, "{c}")?,
            }
        }
        Ok(())
    }
}
