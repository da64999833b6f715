//! Durable calls in Restate handlers.
//!
// Link targets for the included page.
//! [`RestateError`]: crate::restate::RestateError
//! [contents]: https://docs.rs/retry-runtime/0.1/retry_runtime/guide/
//! [expansion]: https://docs.rs/retry-runtime/0.1/retry_runtime/guide/expansion/
//! [standard]: https://docs.rs/retry-runtime/0.1/retry_runtime/guide/standard/
//! [durable]: crate
//! [plans]: https://docs.rs/retry-runtime/0.1/retry_runtime/guide/plans/
//! [executor]: https://docs.rs/retry-runtime/0.1/retry_runtime/guide/plans/#with-an-executor-of-your-own
//! [durable_plans]: crate#plans
//!
#![cfg_attr(all(doc, checkout), doc = include_str!("../../docs/restate.md"))]
#![cfg_attr(all(doc, not(checkout)), doc = include_str!("../docs/restate.md"))]

use std::fmt;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use restate_sdk::context::{
    Context, ContextClient, ContextTimers, IntoServiceClient, ObjectContext, RunFuture,
    SharedObjectContext, SharedWorkflowContext, WorkflowContext,
};
use restate_sdk::endpoint::ContextInternal;
use restate_sdk::errors::{HandlerError, TerminalError};
use retry_runtime::macro_support::shown;
use retry_runtime::seam::Moment;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::{DurableError, Engine};

/// The error code with which Restate ends the steps of a cancelled invocation.
const CANCELLED: u16 = 409;

/// The base of all contexts. Its `run` accepts steps that borrow from the handler; the contexts' own `run` accepts only
/// steps that outlive the handler.
struct Inner<'ctx>(&'ctx ContextInternal);

impl<'ctx> IntoServiceClient<'ctx> for Inner<'ctx> {
    fn create_client(ctx: &'ctx ContextInternal) -> Self {
        Self(ctx)
    }
}

/// Runs the step, or returns the result that Restate has stored.
async fn step<'ctx, T, S>(
    context: &impl ContextClient<'ctx>,
    name: &str,
    step: S,
) -> Result<T, RestateError>
where
    T: Serialize + DeserializeOwned + Send,
    S: Future<Output = T> + Send,
{
    let Inner(context) = context.service_client();
    let written = context.run(|| async {
        let result = serde_json::to_vec(&step.await);
        // A result that can't be read again must not be stored, because each later run would fail at this step.
        let result = result.and_then(|json| serde_json::from_slice::<T>(&json).map(|_| json));
        // The error is terminal. Otherwise Restate would run the step again and again, with the same result.
        let ended = |error| TerminalError::new(format!("the result of step `{name}`: {error}"));
        Ok(result.map_err(ended)?)
    });
    let kept = written.name(name).await.map_err(RestateError::Terminal)?;
    serde_json::from_slice(&kept).map_err(|error| RestateError::Json {
        step: name.to_owned(),
        error,
    })
}

macro_rules! engine {
    ($($context:ident),*) => { $(
        /// Runs one step or sleep at a time: a handler can't wait for two of them at once, or drop one and continue.
        /// Don't put a timeout, `select!` or `join!` around a call. Put these inside the attempt.
        ///
        /// Restate identifies a step by its position and its name: a step with another name at the same position is an
        /// error.
        impl Engine for $context<'_> {
            type Error = RestateError;

            async fn step<T, S>(&self, name: &str, step: S) -> Result<T, RestateError>
            where
                T: Serialize + DeserializeOwned + Send,
                S: Future<Output = T> + Send,
            {
                self::step(self, name, step).await
            }

            async fn sleep(&self, _: &str, pause: Duration) -> Result<(), RestateError> {
                let slept = ContextTimers::sleep(self, pause).await;
                slept.map_err(RestateError::Terminal)
            }

            fn now(&self) -> Moment {
                let since = SystemTime::now().duration_since(UNIX_EPOCH);
                Moment::from_origin(since.unwrap_or_default())
            }

            fn is_cancelled(error: &RestateError) -> bool {
                matches!(error, RestateError::Terminal(error) if error.code() == CANCELLED)
            }
        }
    )* };
}

engine!(
    Context,
    ObjectContext,
    SharedObjectContext,
    SharedWorkflowContext,
    WorkflowContext
);

/// An error from Restate while a step is run or read.
///
/// Neither this type nor a [`DurableError`] with it implements [`Error`](std::error::Error), because a handler's `?`
/// would then convert both into errors that Restate retries. Both convert into a [`HandlerError`] instead.
#[derive(Debug)]
#[non_exhaustive]
pub enum RestateError {
    /// Restate ended the step: the invocation was cancelled, or a result can't be converted to JSON and back.
    Terminal(TerminalError),
    /// The stored result doesn't match the type in the program.
    Json {
        /// The step's name.
        step: String,
        /// The error of the conversion.
        error: serde_json::Error,
    },
}

impl fmt::Display for RestateError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Terminal(error) => f.write_str(error.message()),
            Self::Json { step, error } => write!(f, "the result of step `{step}`: {error}"),
        }
    }
}

/// Ends the invocation, unless the program can't read a stored result: then Restate retries until the program is fixed.
impl From<RestateError> for HandlerError {
    fn from(error: RestateError) -> Self {
        match error {
            RestateError::Terminal(error) => error.into(),
            RestateError::Json { .. } => shown(error).to_string().into(),
        }
    }
}

/// Ends the invocation if the call gave up. The caller gets the error's text as in the log, with possible secrets
/// redacted.
impl<E: fmt::Display> From<DurableError<E, RestateError>> for HandlerError {
    fn from(error: DurableError<E, RestateError>) -> Self {
        match error {
            DurableError::GaveUp(error) => TerminalError::new(shown(error).to_string()).into(),
            DurableError::Unreadable(error) => shown(error).to_string().into(),
            DurableError::Engine { error, .. } => error.into(),
        }
    }
}
