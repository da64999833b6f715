use std::io;

use retry_runtime::Policy;

fn main() {
    let policy = Policy::new();
    let _ = policy
        .name("fetch")
        .name("get")
        .call_blocking(|| io::Result::Ok(()));
}
