//! An SDK without the runtime.

use std::fmt;
use std::time::Duration;

use retry_classify::{Classify, Verdict};

#[derive(Debug, Classify)]
enum ApiError<E> {
    #[classify(throttled, after = after)]
    RateLimited { after: Option<Duration> },
    #[classify(transient, ambiguous)]
    ConnectionLost,
    #[classify(transparent)]
    Storage(E),
    #[classify(stop)]
    WrongKey,
}

#[derive(Debug, Classify)]
#[classify(timeout)]
struct NoAnswer;

struct Described<'a>(&'a dyn Classify);

impl fmt::Display for Described<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.describe(f)
    }
}

fn main() {
    let hint = Duration::from_secs(2);
    for (error, expected) in [
        (
            ApiError::RateLimited { after: Some(hint) },
            Verdict::THROTTLED.after(hint),
        ),
        (ApiError::ConnectionLost, Verdict::TRANSIENT.ambiguous()),
        (ApiError::Storage(NoAnswer), Verdict::TIMEOUT),
        (ApiError::WrongKey, Verdict::STOP),
    ] {
        assert_eq!(error.classify(), expected, "{error:?}");
    }
    let wrong_key = ApiError::<NoAnswer>::WrongKey;
    assert!(wrong_key.is_final() && !ApiError::Storage(NoAnswer).is_final());
    assert_eq!(Described(&wrong_key).to_string(), "ApiError::WrongKey");
}
