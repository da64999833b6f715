//! The libraries of the crate that calls the macro.

use std::env;

use proc_macro::TokenStream;

/// The compiler's arguments for the libraries of the crate that is being compiled. Macros run in the compiler, so they
/// are its own arguments.
#[proc_macro]
pub fn externs(_: TokenStream) -> TokenStream {
    let arguments: Vec<_> = env::args().collect();
    let pairs = arguments.windows(2);
    let libraries = pairs.filter(|pair| ["--extern", "-L"].contains(&pair[0].as_str()));
    let text = format!("{:?}", libraries.collect::<Vec<_>>().concat());
    format!("&{text}").parse().unwrap_or_default()
}
