//! Keys whose functions macros make.

use retry_runtime::{GaveUp, retry};

/// Passes its input on. The retry macro can't see that.
macro_rules! same {
    ($($made:tt)*) => { $($made)* };
}

macro_rules! longer_than {
    ($length:expr) => {
        |value| value.len() > $length
    };
}

#[derive(Default)]
struct Model {
    least: usize,
    seen: Vec<String>,
}

impl Model {
    #[retry(
        max = 1,
        on = same!(|error| !error.contains('x')),
        until = longer_than!(self.least),
        before_retry = same!(async |error: &String, _| self.seen.push(error.clone())),
        validate = same!(|value| {
            self.seen.push(String::from(value));
            if value.len() > 3 { Ok(()) } else { Err(String::new()) }
        }),
        correct = same!(|value, _| async move { Ok(value + "cd") }),
        fallback = same!(|gave_up: GaveUp<_, _>| async move { Ok(gave_up.into_error()) }),
    )]
    async fn corrected(&mut self) -> Result<String, String> {
        Ok(String::from("ab"))
    }

    #[retry(max = 1, backoff = "none", until = longer_than!(self.least),
        validate = same!(|value| Err(format!("{value}?"))), give_up = same!(|gave_up| gave_up.into_error() + "!"),
        on = same!(|_| true))]
    fn shaped(&self) -> Result<String, String> {
        Ok(String::from("ab"))
    }
}

#[tokio::test(start_paused = true)]
async fn keys_from_macros_borrow_and_infer_like_literal_ones() {
    let mut model = Model::default();
    assert_eq!(model.corrected().await, Ok(String::from("abcd")));
    assert_eq!(model.seen, ["ab", "abcd"]);
    assert_eq!(model.shaped(), Err(String::from("ab?!")));
}
