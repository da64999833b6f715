//! Tests that the figures are within their bounds, and that the page is readable in a browser: wide and narrow, light
//! and dark.
//!
//! Needs Chromium, so only `.ci/run` runs it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use support::chromium::chromium;

#[test]
fn figures_hold_and_the_page_is_legible() {
    let lab = env!("CARGO_BIN_EXE_lab");
    let run = Command::new(lab).arg("--short").output().expect("it runs");
    let printed = String::from_utf8_lossy(&run.stdout);
    assert!(run.status.success(), "{printed}");
    let page = Path::new(lab).with_file_name("lab.html");
    let plots = fs::read_to_string(&page)
        .expect("a page")
        .matches("<figure>")
        .count();
    for (scheme, preferred) in ["dark", "light"].into_iter().zip(0..) {
        let seen = seen(&page, scheme, preferred);
        let expected: Vec<_> = WIDTHS
            .iter()
            .map(|width| format!("{width}: {plots} plots, fits, legible"))
            .collect();
        assert_eq!(seen, expected, "{scheme}");
    }
}

/// The widths of a desktop and of a phone, in pixels.
const WIDTHS: [u32; 2] = [1300, 400];

/// A script that shows the page in a frame of each width, and reports its visible properties.
const MEASURE: &str = r#"
// Relative luminance, as the Web Content Accessibility Guidelines define it.
function luminance(colour) {
    const [r, g, b] = colour.match(/\d+/g).map(Number).map(part => {
        const share = part / 255;
        return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}
function contrast(one, other) {
    const [dark, light] = [luminance(one), luminance(other)].sort((a, b) => a - b);
    return (light + 0.05) / (dark + 0.05);
}
function faults(view) {
    const found = [];
    const style = element => view.getComputedStyle(element);
    const paper = style(view.document.body).backgroundColor;
    for (const text of view.document.querySelectorAll(".plot text")) {
        const { top, bottom, left, right } = text.getBoundingClientRect();
        const { a, b } = text.getScreenCTM();
        const scale = Math.hypot(a, b);
        const size = parseFloat(style(text).fontSize) * scale;
        if (size < 9) found.push(`${text.textContent.trim()} has ${size} px`);
        if (contrast(style(text).fill, paper) < 7) found.push(`${style(text).fill} on ${paper}`);
        const plot = text.closest("svg").getBoundingClientRect();
        const inside = plot.left <= left && right <= plot.right && plot.top <= top && bottom <= plot.bottom;
        if (!inside) found.push(`${text.textContent.trim()} is cut off`);
    }
    for (const line of view.document.querySelectorAll(".legend path, .plot polyline")) {
        const colour = style(line).stroke;
        const isLine = !line.closest(".plot") || line.getAttribute("stroke-width") === "2";
        if (isLine && contrast(colour, paper) < 3) found.push(`${colour} on ${paper}`);
    }
    return found;
}
function report(frame) {
    const view = frame.contentWindow;
    const page = view.document.documentElement;
    const plots = [...view.document.querySelectorAll(".plot svg")]
        .filter(plot => plot.getBoundingClientRect().width > 0.8 * Math.min(frame.width, 560)).length;
    const fits = page.scrollWidth <= frame.width ? "fits" : `is ${page.scrollWidth} wide`;
    const found = [...new Set(faults(view))].join("; ") || "legible";
    return `${frame.width}: ${plots} plots, ${fits}, ${found}`;
}
onload = () => {
    const lines = [...document.querySelectorAll("iframe")].map(report);
    document.body.innerHTML = "<pre>" + lines.join("\n") + "</pre>";
};
"#;

/// Returns the visible properties of the page in this colour scheme, which has the number `preferred` in Chromium.
fn seen(page: &Path, scheme: &str, preferred: u8) -> Vec<String> {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(scheme);
    // Files of an earlier run.
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).expect("a folder");
    let frames = WIDTHS.map(|width| {
        let page = page.display();
        format!(r#"<iframe src="file://{page}" width="{width}" height="800"></iframe>"#)
    });
    let frames = frames.concat();
    let measured = folder.join("measured.html");
    let html = format!("<!DOCTYPE html><body>{frames}<script>{MEASURE}</script></body>");
    fs::write(&measured, html).expect("a file");
    let run = chromium(&folder.join("user"))
        // The frames are files, too.
        .args([
            "--allow-file-access-from-files",
            "--dump-dom",
            "--window-size=1800,2000",
        ])
        .arg(format!("--blink-settings=preferredColorScheme={preferred}"))
        .arg(format!("file://{}", measured.display()))
        .output()
        .expect("Chromium is installed");
    let dom = String::from_utf8_lossy(&run.stdout);
    let (_, rest) = dom
        .split_once("<pre>")
        .unwrap_or_else(|| panic!("{dom}\n{}", String::from_utf8_lossy(&run.stderr)));
    let (lines, _) = rest.split_once("</pre>").expect("an end");
    lines.lines().map(str::to_owned).collect()
}
