//! While a block is typed, its mistake is told of where it is.

use retry_runtime::retrying;

fn fetch(words: &[u32]) -> Result<usize, String> {
    retrying!(on = |_| true, {
        let _count = words.;
        Ok(1)
    })
}

fn main() {
    let _ = fetch(&[]);
}
