//! Simulates servers and clients that retry, and prints figures and plots: `cargo run --release -p lab`.
//!
//! The clients call real functions with `#[retry(…)]`; only the clock and the servers are simulated. The program prints
//! the figures, writes a page with the plots, and fails if a figure is outside its bounds. To plot your own policy:
//! `cargo run --release -p lab -- "max=5, base=100ms, cap=2s"`. With `--short`, the plots have fewer points. `cargo run
//! -p lab -- pictures` regenerates the diagrams in `docs`.

mod client;
mod collapse;
mod contention;
mod failure_rate;
mod figure;
mod healthy;
mod outage;
mod page;
mod pictures;
mod plan;
mod plot;
mod rate_limit;
mod scenario;
mod server;
mod simulation;
mod tail;
mod timeline;
mod your_policy;

use std::error::Error;
use std::path::Path;
use std::process::ExitCode;
use std::{env, fs};

use retry_runtime::Policy;

use crate::figure::Figure;
use crate::page::Page;
use crate::scenario::{Extent, Scenario};

fn main() -> Result<ExitCode, Box<dyn Error>> {
    let scenarios = match env::args().nth(1).as_deref() {
        None => all(Extent::Whole),
        Some("--short") => all(Extent::Short),
        Some("pictures") => return draw(env::args().nth(2).as_deref().unwrap_or(".")),
        Some(policy) => vec![your_policy::run(&policy.parse()?)],
    };
    let figures = || scenarios.iter().flat_map(|scenario| &scenario.figures);
    let longest = figures().map(|figure| figure.name().chars().count()).max();
    let width = longest.unwrap_or_default();
    for Scenario { title, figures, .. } in &scenarios {
        println!("\n{title}");
        for figure in figures {
            let (name, value, bounds) = (figure.name(), figure.value(), figure.bounds());
            println!("  {name:<width$} {value:>9}   {bounds}");
        }
    }
    let page = env::current_exe()?.with_file_name("lab.html");
    fs::write(&page, Page(&scenarios).to_string())?;
    println!("\nThe plots are in {}", page.display());
    Ok(if figures().all(Figure::is_within_bounds) {
        ExitCode::SUCCESS
    } else {
        println!("A figure is outside its bounds.");
        ExitCode::FAILURE
    })
}

fn all(extent: Extent) -> Vec<Scenario> {
    vec![
        contention::run(extent),
        failure_rate::run(extent),
        outage::run(),
        collapse::run(),
        rate_limit::run(),
        healthy::run(),
        tail::run(),
        plan::run(),
        your_policy::run(&Policy::new()),
    ]
}

fn draw(folder: &str) -> Result<ExitCode, Box<dyn Error>> {
    for (file, picture) in pictures::all() {
        fs::write(Path::new(folder).join(file), picture)?;
    }
    Ok(ExitCode::SUCCESS)
}
