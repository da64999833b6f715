#![doc = include_str!("guide/links.md")]
#![cfg_attr(checkout, doc = include_str!("../../docs/README.md"))]
#![cfg_attr(not(checkout), doc = include_str!("../docs/README.md"))]

// In a checkout, pages are read from the folder `docs` itself: on Windows, Git may have written the symlink next to
// `src` as a text file. Packages contain copies of the pages instead of the symlink.
#[cfg(checkout)]
macro_rules! page {
    ($name:ident) => {
        include_str!(concat!("../../docs/", stringify!($name), ".md"))
    };
}
#[cfg(not(checkout))]
macro_rules! page {
    ($name:ident) => {
        include_str!(concat!("../docs/", stringify!($name), ".md"))
    };
}

// Each page starts with definitions of the links between pages, which override the page's own links to files: the first
// definition of a name counts. Pictures are embedded, because rustdoc doesn't copy files.
macro_rules! pages {
    ($(if $shown:meta: $($page:ident)*;)*) => {$($(
        #[doc = include_str!("guide/links.md")]
        #[cfg_attr(doc, doc = include_str!("guide/pictures.md"))]
        #[cfg_attr($shown, doc = page!($page))]
        #[cfg_attr(not($shown), doc = "Needs features that are off here.")]
        pub mod $page {}
    )*)*};
}

pages! {
    if all():
        keys keys_count keys_delays keys_time keys_failures keys_shared keys_steps
        cheat_sheet own_function targets classification configuration observing testing validation agents
        teams troubleshooting outages protections lab blocks wrapping own_loop runtimes expansion
        performance comparison standard reviewing batches plans;
    // The examples of these pages are compiled in `retry-classify`, in `retry-clients` and by `.ci/cookbook`.
    if not(doctest):
        built_in_clients sdk_authors clients whole_clients fleets durable restate migrating cookbook;
    // The links and examples of these pages need the features.
    if feature = "stream": streams keys_code;
}
