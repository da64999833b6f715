//! Calls inside the attempts of another call.

use std::future::poll_fn;
use std::pin::pin;
use std::sync::Mutex;
use std::task::Poll;

use retry_durable::{Durable, DurableError, Journal, JournalError};
use tokio::task::yield_now;

use crate::EXACT;
use crate::run::Run;

type Placed = Result<u32, DurableError<String, JournalError>>;

/// The attempts of the outer and the inner call for each request.
type Requests = Mutex<Vec<(u32, u32)>>;

/// Succeeds only in the third attempt of the outer call and the second of the inner.
async fn place(journal: &Journal, requests: &Requests) -> Placed {
    let call = |max| Durable::new(EXACT.max(max)).on(|_: &String| true);
    let outer = call(3).call_attempt(journal, "place", async |outer| {
        let name = format!("place {outer}: charge");
        let charge = call(1).call_attempt(journal, &name, async |inner| {
            yield_now().await;
            requests.lock().unwrap().push((outer, inner));
            if (outer, inner) == (3, 2) {
                return Ok(outer);
            }
            Err(format!("503 at {outer}.{inner}"))
        });
        match charge.await {
            Ok(charged) => Ok(charged),
            Err(DurableError::GaveUp(error)) => Err(error),
            Err(error) => panic!("{outer}: {error}"),
        }
    });
    outer.await
}

#[tokio::test(start_paused = true)]
async fn nested_calls_continue_after_any_crash() {
    let each = [(1, 1), (1, 2), (2, 1), (2, 2), (3, 1), (3, 2)];
    for polls in 0.. {
        let (run, requests) = (Run::new(), Requests::default());
        let killed = {
            let journal = run.open();
            let mut program = pin!(place(&journal, &requests));
            let mut left = polls;
            let life = poll_fn(|context| {
                if left == 0 {
                    return Poll::Ready(None);
                }
                left -= 1;
                program.as_mut().poll(context).map(Some)
            });
            life.await.is_none()
        };
        for _ in 0..2 {
            assert_eq!(place(&run.open(), &requests).await.unwrap(), 3);
        }
        assert_eq!(*requests.lock().unwrap(), each, "after {polls} polls");
        if !killed {
            assert!(polls > 30, "{polls}");
            break;
        }
    }
}
