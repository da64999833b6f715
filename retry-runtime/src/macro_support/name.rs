//! What a call is named by default where the function alone does not say it.

use alloc::string::String;
use core::any::type_name;

use crate::chain::name::without_closures;

/// The method of what a decorator wraps, as `OpenAi::complete`: one decorator is for many clients.
#[cold]
pub fn client_name<C: ?Sized>(method: &str) -> String {
    let mut name = String::new();
    for path in type_name::<C>().split_inclusive(|char| !is_of_path(char)) {
        let last = path.rfind("::").map_or(0, |colons| colons + 2);
        name.push_str(&path[last..]);
    }
    name.push_str("::");
    name.push_str(method);
    name
}

fn is_of_path(char: char) -> bool {
    char.is_alphanumeric() || matches!(char, '_' | ':')
}

/// The function that contains that one, an item of the name `__retry_name`.
pub fn surroundings<F>(_: &F) -> &'static str {
    let name = type_name::<F>();
    without_closures(name.strip_suffix("::__retry_name").unwrap_or(name))
}
