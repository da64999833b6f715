//! Fuzz target of `llm::wait_in`.

use std::time::Duration;

use proptest::prelude::*;
use retry_runtime::llm::wait_in;

use super::{fuzz, texts};

const PIECES: &str = "retry after |try again in |Retry-After: |do not |don\u{2019}t |never |please |for |\
    about |a minute| seconds|ms|1h30m| ago|%|/|,|.|\"|1,500|404|2026-01-01";

#[test]
fn waits_in_texts() {
    let texts = texts(include_str!("corpus/waits.txt"), PIECES);
    fuzz(texts, |text| {
        let wait = wait_in(&text);
        prop_assert!(wait <= Some(Duration::from_hours(365 * 24)), "{}", text);
        // Neither upper case nor a prefix changes the wait.
        prop_assert_eq!(wait_in(&text.to_ascii_uppercase()), wait, "{}", text);
        prop_assert_eq!(wait_in(&format!("429: {text}")), wait, "{}", text);
        Ok(())
    });
}
