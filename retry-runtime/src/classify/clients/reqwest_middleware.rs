use core::error::Error as StdError;

use ::reqwest_middleware::Error;

use crate::classify::{Classify, Verdict, by_cause};

/// Classifies reqwest's own error, or the first source of a known type of what a middleware
/// returned: that of `reqwest-retry`, too, after it retried.
#[diagnostic::do_not_recommend]
impl Classify for Error {
    fn classify(&self) -> Verdict {
        by_cause::by_default(within(self))
    }

    describe_with_causes!();
}

/// The error that it is made of, which its `source` skips.
pub(crate) fn within(error: &Error) -> &(dyn StdError + 'static) {
    match error {
        Error::Reqwest(error) => error,
        Error::Middleware(error) => error.as_ref(),
    }
}

#[cfg(test)]
mod tests {
    use alloc::boxed::Box;

    use super::*;
    use crate::on;

    #[test]
    fn what_it_hides_says_whether_to_retry() {
        let status = |code| {
            let response = http::Response::builder().status(code).body("").unwrap();
            let answer = reqwest_0_13::Response::from(response);
            answer.error_for_status().unwrap_err()
        };
        for (code, expected) in [
            (503, Verdict::TRANSIENT.ambiguous()),
            (429, Verdict::THROTTLED),
            (404, Verdict::STOP),
        ] {
            let in_middleware = anyhow::Error::from(status(code)).context("refreshing a token");
            let hidden = Error::Middleware(in_middleware);
            assert_eq!(hidden.classify(), expected, "{code}");
            let error = || Error::Reqwest(status(code));
            assert_eq!(error().classify(), expected, "{code}");
            assert_eq!(on::cause(&error()), expected, "{code}");
            assert_eq!(on::http(&error()), expected, "{code}");
            assert_eq!(anyhow::Error::from(error()).classify(), expected, "{code}");
            let boxed: Box<dyn StdError + Send + Sync> = error().into();
            assert_eq!(boxed.classify(), expected, "{code}");
        }
    }
}
