//! Names that are created at run time: the memory for pairs of names is bounded. In a separate process.

use retry_runtime::{retry, testing};

#[test]
fn generated_names_are_reported_up_to_a_limit() {
    #[retry(max = 1, backoff = "none", name = "outer", on = |_| true)]
    fn outer(name: &str) -> Result<(), String> {
        inner(name)
    }
    #[retry(max = 1, backoff = "none", name = name, on = |_| true)]
    fn inner(name: &str) -> Result<(), String> {
        Err(String::from("overloaded"))
    }

    let recording = testing::record();
    for number in 0..1000 {
        outer(&format!("inner {number}")).unwrap_err();
    }
    let lines = recording.lines().into_iter();
    let reported = lines.filter(|line| line.starts_with("retries multiply"));
    assert_eq!(reported.count(), 1000);
}
