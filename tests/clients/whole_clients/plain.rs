//! An in-process service whose requests are texts, with its own error type.

use std::future::Ready;

use support::prelude::*;
use tower::Service;

/// Neither `Clone` nor made of anything else.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub(crate) struct Fault(pub(crate) &'static str);

pub(crate) type Outcome = Result<&'static str, Fault>;

#[derive(Clone)]
pub(crate) struct Plain {
    began: Instant,
    outcomes: Arc<Mutex<VecDeque<Outcome>>>,
    requests: Arc<Mutex<Vec<(Duration, String)>>>,
}

impl Plain {
    /// Fails the first requests like this, and responds to all later ones with "hello".
    pub(crate) fn failing(faults: impl IntoIterator<Item = &'static str>) -> Self {
        Self::new(faults.into_iter().map(|fault| Err(Fault(fault))))
    }

    /// Responds to the first requests like this, and to all later ones with "hello".
    pub(crate) fn new(outcomes: impl IntoIterator<Item = Outcome>) -> Self {
        Self {
            began: Instant::now(),
            outcomes: Arc::new(Mutex::new(outcomes.into_iter().collect())),
            requests: Arc::default(),
        }
    }

    pub(crate) fn requests(&self) -> Vec<String> {
        let requests = self.requests.lock().unwrap();
        requests.iter().map(|(_, text)| text.clone()).collect()
    }

    /// When they came, in milliseconds since it was made.
    pub(crate) fn starts(&self) -> Vec<u128> {
        let requests = self.requests.lock().unwrap();
        requests.iter().map(|(after, _)| after.as_millis()).collect()
    }
}

impl Service<String> for Plain {
    type Response = &'static str;
    type Error = Fault;
    type Future = Ready<Outcome>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Fault>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: String) -> Self::Future {
        self.requests.lock().unwrap().push((self.began.elapsed(), request));
        let outcome = self.outcomes.lock().unwrap().pop_front();
        ready(outcome.unwrap_or(Ok("hello")))
    }
}
