use ::redis::{ErrorKind, RedisError, RetryMethod};

use super::databases::redis_refused;
use crate::{Classify, Verdict};

/// The start of the cluster client's message if it could not connect to any node. The reasons follow it.
const NO_CLUSTER: &str = "Failed to create initial connections";

/// The start of the text of a pipeline in which commands failed. Their errors follow it.
const PIPELINE: &str = "Pipeline failure";

/// | failure | verdict |
/// |---|---|
/// | the server is loading, asks to try again, lacks its master, cluster or replicas, runs a script, or has too many clients | transient: nothing was done |
/// | the connection was refused, no node of a cluster can be reached, the node has become a replica | transient: nothing was done |
/// | the same for a command in a pipeline | transient, ambiguous: the others may have been executed |
/// | the connection broke | transient, ambiguous |
/// | no response in time | [`Verdict::TIMEOUT`] |
/// | a wrong password, a response that does not parse, wrong commands, arguments and types, keys of another node | stop |
///
/// This follows [`RedisError::retry_method`], except that authentication and parse errors stop: a new connection
/// doesn't fix them.
#[diagnostic::do_not_recommend]
impl Classify for RedisError {
    fn classify(&self) -> Verdict {
        if matches!(
            self.kind(),
            ErrorKind::AuthenticationFailed | ErrorKind::Parse
        ) {
            return Verdict::STOP;
        }
        if self.is_connection_refusal() {
            return Verdict::TRANSIENT;
        }
        if self.kind() == ErrorKind::Io && self.to_string().starts_with(NO_CLUSTER) {
            let is_refused = self.to_string().contains("AuthenticationFailed");
            return if is_refused {
                Verdict::STOP
            } else {
                Verdict::TRANSIENT
            };
        }
        if self.is_timeout() {
            return Verdict::TIMEOUT;
        }
        let code = self.code().unwrap_or_default();
        let is_refused = redis_refused(code, self.detail().unwrap_or_default())
            || matches!(
                self.retry_method(),
                RetryMethod::WaitAndRetry
                    | RetryMethod::ReconnectFromInitialConnections
                    | RetryMethod::RefreshSlotsAndRetry
            );
        match self.retry_method() {
            _ if is_refused && !self.to_string().starts_with(PIPELINE) => Verdict::TRANSIENT,
            _ if is_refused => Verdict::TRANSIENT.ambiguous(),
            RetryMethod::RetryImmediately | RetryMethod::Reconnect => {
                Verdict::TRANSIENT.ambiguous()
            }
            _ => Verdict::STOP,
        }
    }

    describe_with_causes!();
}
