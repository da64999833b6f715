#![doc = include_str!("guide/links.md")]
#![cfg_attr(checkout, doc = include_str!("../../docs/README.md"))]
#![cfg_attr(not(checkout), doc = include_str!("../docs/README.md"))]

// In a checkout, pages are read where they are written. The link beside `src` is for packages, which have files in its
// place: Windows may have checked it out as text.
#[cfg(checkout)]
macro_rules! page {
    ($name:literal) => {
        include_str!(concat!("../../docs/", $name, ".md"))
    };
}
#[cfg(not(checkout))]
macro_rules! page {
    ($name:literal) => {
        include_str!(concat!("../docs/", $name, ".md"))
    };
}

// Each page begins with definitions of the links among them: the first of a name counts, and the page's own lead from file
// to file. Pictures are in their links, since rustdoc copies no files.
macro_rules! pages {
    ($($page:ident = $name:literal $(if $shown:meta)?;)*) => {$(
        #[doc = include_str!("guide/links.md")]
        #[cfg_attr(doc, doc = include_str!("guide/pictures.md"))]
        // Without these, the page's own lead to what docs.rs shows.
        #[cfg_attr(all(feature = "batch", feature = "plan"), doc = include_str!("guide/links_of_features.md"))]
        #[cfg_attr(all($($shown)?), doc = page!($name))]
        #[cfg_attr(not(all($($shown)?)), doc = "Needs features that are off here.")]
        pub mod $page {}
    )*};
}

pages! {
    keys = "keys";
    cheat_sheet = "cheat_sheet";
    targets = "targets";
    classification = "classification";
    // Its examples are compiled in `retry-classify`.
    built_in_clients = "built_in_clients" if not(doctest);
    // Its examples are compiled in `retry-clients`.
    clients = "clients" if not(doctest);
    // As those of `built_in_clients`.
    sdk_authors = "sdk_authors" if not(doctest);
    configuration = "configuration";
    observing = "observing";
    testing = "testing";
    // Compiled and run by `.ci/cookbook`.
    cookbook = "cookbook" if not(doctest);
    validation = "validation";
    agents = "agents";
    teams = "teams";
    troubleshooting = "troubleshooting";
    outages = "outages";
    protections = "protections";
    lab = "lab";
    // Their links and examples need the features.
    streams = "streams" if feature = "stream";
    blocks = "blocks";
    wrapping = "wrapping";
    // Its examples are compiled in `retry-clients`, too.
    whole_clients = "whole_clients" if not(doctest);
    batches = "batches" if feature = "batch";
    plans = "plans" if all(feature = "plan", feature = "serde");
    // As those of `clients`.
    fleets = "fleets" if not(doctest);
    durable = "durable" if not(doctest);
    restate = "restate" if not(doctest);
    own_loop = "own_loop";
    runtimes = "runtimes";
    expansion = "expansion";
    performance = "performance";
    comparison = "comparison";
    standard = "standard";
    // As those of `clients`.
    migrating = "migrating" if not(doctest);
    reviewing = "reviewing";
}
