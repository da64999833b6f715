use std::panic::Location;

use retry_runtime::retry;

#[retry(on = |_: &String| true)]
#[track_caller]
fn fetch() -> Result<u32, String> {
    Err(Location::caller().to_string())
}

fn main() {
    let _ = fetch();
}
