use ::redis::{ErrorKind, RedisError, RetryMethod};

use super::databases::redis_refused;
use crate::{Classify, Verdict};

/// The start of the cluster client's message if the client could not connect to any node. The reasons follow.
const CLUSTER_DOWN: &str = "Failed to create initial connections";

/// The start of the error text of a pipeline in which commands failed. The commands' errors follow.
const PIPELINE: &str = "Pipeline failure";

/// | failure | verdict |
/// |---|---|
/// | the server is loading, asks to try again, lacks its master, cluster or replicas, runs a script, or has too many clients | transient: nothing was done |
/// | the connection was refused, no node of a cluster can be reached, the node has become a replica | transient: nothing was done |
/// | one of these failures in a pipeline | transient, ambiguous: other commands may have been executed |
/// | the connection broke | transient, ambiguous |
/// | no response in time | [`Verdict::TIMEOUT`] |
/// | a wrong password, a response that does not parse, wrong commands, arguments and types, keys of another node | stop |
///
/// Follows [`RedisError::retry_method`], except that authentication and parse errors stop, because a new connection
/// doesn't fix them.
#[diagnostic::do_not_recommend]
impl Classify for RedisError {
    fn classify(&self) -> Verdict {
        let text = self.to_string();
        let is_cluster_down = text.starts_with(CLUSTER_DOWN);
        let method = self.retry_method();
        let is_refused = redis_refused(
            self.code().unwrap_or_default(),
            self.detail().unwrap_or_default(),
        ) || matches!(
            method,
            RetryMethod::WaitAndRetry
                | RetryMethod::ReconnectFromInitialConnections
                | RetryMethod::RefreshSlotsAndRetry
        );
        match self.kind() {
            ErrorKind::AuthenticationFailed | ErrorKind::Parse => Verdict::STOP,
            _ if self.is_connection_refusal() => Verdict::TRANSIENT,
            ErrorKind::Io if is_cluster_down && text.contains("AuthenticationFailed") => {
                Verdict::STOP
            }
            ErrorKind::Io if is_cluster_down => Verdict::TRANSIENT,
            _ if self.is_timeout() => Verdict::TIMEOUT,
            _ if is_refused => Verdict::TRANSIENT.ambiguous_if(text.starts_with(PIPELINE)),
            _ if matches!(
                method,
                RetryMethod::RetryImmediately | RetryMethod::Reconnect
            ) =>
            {
                Verdict::TRANSIENT.ambiguous()
            }
            _ => Verdict::STOP,
        }
    }

    describe_with_causes!();
}
