#![deny(unused_must_use)]

use retry_runtime::retrying;

async fn complete() {
    retrying!(async { std::fs::read_to_string("answer") });
    retrying!({ std::fs::read_to_string("answer") });
}

fn main() {}
