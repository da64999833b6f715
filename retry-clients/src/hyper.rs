//! The errors of `hyper` and its client, inside those of clients that hide them.

use std::error::Error;
use std::io;
use std::iter;

use retry_runtime::{Classify, Verdict};

/// Without a connection nothing was sent. One that broke may have carried the request.
pub(crate) fn failed(error: &(dyn Error + 'static)) -> Verdict {
    let mut verdict = Verdict::STOP;
    for cause in iter::successors(Some(error), |&cause| cause.source()) {
        if let Some(client) = cause.downcast_ref::<hyper_util::client::legacy::Error>() {
            if client.is_connect() {
                return Verdict::TRANSIENT;
            }
        } else if let Some(hyper) = cause.downcast_ref::<hyper::Error>() {
            if hyper.is_parse() || hyper.is_user() {
                return Verdict::STOP;
            }
            verdict = Verdict::TRANSIENT.ambiguous();
        } else if let Some(io) = cause.downcast_ref::<io::Error>()
            && io.kind() != io::ErrorKind::Other
        {
            return if io.classify().is_retryable() {
                io.classify().ambiguous()
            } else {
                Verdict::STOP
            };
        }
    }
    verdict
}
