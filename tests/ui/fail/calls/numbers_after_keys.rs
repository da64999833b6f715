use std::io;

use retry_runtime::Policy;

fn main() {
    let _ = Policy::new()
        .name("fetch")
        .max(5)
        .call_blocking(|| io::Result::Ok(()));
}
