#![deny(unused_parens)]

use retry_runtime::retrying;

// What the fix keeps is the whole macro, not its block.
fn main() {
    let blocking = (retrying!(max = 5, { std::fs::read("prompt") }));
    let waiting = (retrying!(max = 5, async { std::fs::read("prompt") }));
    drop((blocking, waiting));
}
