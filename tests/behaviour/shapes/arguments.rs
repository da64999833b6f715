//! Patterns, `mut`, `_`, `#[cfg]` arguments, recursion, functions made by `macro_rules!`.

use support::prelude::*;

use crate::shapes::{Busy, Flaky, check, check_blocking};

struct Prompt {
    text: String,
    tokens: u32,
}

#[retry(policy = flaky.policy, on = |_| true)]
async fn patterns(
    flaky: &Flaky,
    Prompt { text, ref tokens }: Prompt,
    (one, [two, ..]): (u32, [u32; 2]),
    _: String,
    _unused: String,
    #[cfg(not(any()))] present: u8,
    #[cfg(any())] absent: u8,
) -> Result<u32, Busy> {
    let expected = ("hello", 1, 2, 3, 4);
    assert_eq!((text.as_str(), *tokens, one, two, present), expected);
    flaky.answer()
}

#[retry(policy = flaky.policy, on = |_| true)]
async fn mutable(flaky: &Flaky, mut seen: u32, log: &mut Vec<u32>) -> Result<u32, Busy> {
    seen += 1;
    log.push(seen);
    flaky.answer()
}

#[retry(policy = flaky.policy, on = |_| true)]
async fn recursive(flaky: &Flaky, depth: u32) -> Result<u32, Busy> {
    if depth == 0 {
        return flaky.answer();
    }
    // Only the innermost call is left to retry.
    match Box::pin(recursive(flaky, depth - 1)).await {
        Err(Busy(4)) => Err(Busy(4)),
        outcome => outcome,
    }
}

#[retry(policy = flaky.policy, on = |_| true)]
fn boxed_recursion(
    flaky: &Flaky,
    depth: u32,
) -> Pin<Box<dyn Future<Output = Result<u32, Busy>> + '_>> {
    Box::pin(async move {
        match depth {
            0 => flaky.answer(),
            _ => boxed_recursion(flaky, depth - 1).await,
        }
    })
}

macro_rules! client_methods {
    ($($visibility:vis fn $name:ident($prompt:ident: $type:ty) -> $returned:ty $body:block)*) => {$(
        #[retry(policy = flaky.policy, on = |_| true)]
        $visibility async fn $name(flaky: &Flaky, $prompt: $type) -> $returned $body
    )*};
}

client_methods! {
    pub(crate) fn generated(prompt: String) -> Result<String, Busy> { Ok(prompt.clone()) }
}

macro_rules! with_max {
    ($max:expr, $on:expr, $name:ident) => {
        #[retry(max = $max, backoff = "none", on = $on)]
        fn $name(attempts: &mut u32) -> Result<(), Busy> {
            *attempts += 1;
            Err(Busy(0))
        }
    };
}

with_max!(4, |_: &Busy| true, five_attempts);

#[retry(policy = flaky.policy, on = |_| true)]
#[expect(
    improper_ctypes_definitions,
    reason = "the shape counts, not the types"
)]
extern "C" fn foreign(flaky: &Flaky) -> Result<u32, Busy> {
    flaky.answer()
}

#[tokio::test(start_paused = true)]
async fn every_kind_of_argument() {
    check!(|flaky| {
        let prompt = Prompt {
            text: String::from("hello"),
            tokens: 1,
        };
        patterns(flaky, prompt, (2, [3, 0]), String::new(), String::new(), 4).await
    });
    // Mutable ones keep their changes.
    check!(|flaky| {
        let mut log = Vec::new();
        let outcome = mutable(flaky, 0, &mut log).await;
        assert_eq!(log, (1..=flaky.attempts()).collect::<Vec<_>>());
        outcome
    });
}

#[tokio::test(start_paused = true)]
async fn recursion() {
    check!(|flaky| recursive(flaky, 0).await);
    check!(|flaky| boxed_recursion(flaky, 0).await);
    let [flaky, boxed] = [(); 2].map(|()| Flaky::new(2, Jitter::None));
    assert_eq!(recursive(&flaky, 3).await, Ok(3));
    assert_eq!(flaky.attempts(), 3);
    assert_eq!(boxed_recursion(&boxed, 3).await, Ok(3));
}

#[tokio::test(start_paused = true)]
async fn functions_of_macro_rules_and_extern_functions() {
    let flaky = Flaky::new(0, Jitter::None);
    let expected = Ok(String::from("hello"));
    assert_eq!(generated(&flaky, String::from("hello")).await, expected);
    let mut attempts = 0;
    assert!(five_attempts(&mut attempts).is_err());
    assert_eq!(attempts, 5);
    check_blocking!(|flaky| foreign(flaky));
}
