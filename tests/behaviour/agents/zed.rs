//! <https://github.com/zed-industries/zed>, `crates/agent`: `retry_strategy_for`, `RetryStatus`.

use retry_runtime::own_loop::NextAttempt;
use support::prelude::*;

use crate::{Server, secs};

#[derive(Clone, Debug, PartialEq)]
enum CompletionError {
    TooManyRequests,
    Overloaded(Option<Duration>),
    Internal,
    EndedUnexpectedly,
    PromptTooLarge,
}
use CompletionError::{EndedUnexpectedly, Internal, Overloaded, PromptTooLarge, TooManyRequests};

const BASE: Duration = secs(5);

/// Returns the maximum number of retries for an error. All errors of a turn share one count.
fn most(error: &CompletionError) -> u32 {
    match error {
        TooManyRequests | Overloaded(_) => 4,
        Internal => 3,
        EndedUnexpectedly => 1,
        PromptTooLarge => 0,
    }
}

struct Thread {
    server: Server<CompletionError>,
    failures: u32,
    shown: Vec<String>,
}

impl Thread {
    /// 5 s, or the server's hint; only a 429 without a hint doubles the delay.
    #[retry(max = "unlimited", base = BASE, factor = 2, cap = "1h", jitter = "none", hint = "exact",
        on = |error| self.verdict(error),
        before_pause = async |error, next| self.show(error, next))]
    async fn run(&mut self) -> Result<&'static str, CompletionError> {
        self.server.answer()
    }

    fn verdict(&mut self, error: &CompletionError) -> Verdict {
        self.failures += 1;
        match error {
            error if self.failures > most(error) => Verdict::STOP,
            TooManyRequests => Verdict::THROTTLED,
            Overloaded(Some(delay)) => Verdict::THROTTLED.after(*delay),
            _ => Verdict::TRANSIENT.after(BASE),
        }
    }

    fn show(&mut self, error: &CompletionError, next: NextAttempt) {
        let (attempt, most, pause) = (next.number() - 1, most(error), next.pause());
        self.shown.push(format!("{attempt} of {most} in {pause:?}"));
    }
}

async fn run(errors: &[CompletionError]) -> (Thread, Result<&'static str, CompletionError>) {
    let mut thread = Thread {
        server: Server::failing(errors.iter().cloned()),
        failures: 0,
        shown: Vec::new(),
    };
    let outcome = thread.run().await;
    (thread, outcome)
}

#[tokio::test(start_paused = true)]
async fn each_error_has_its_own_strategy() {
    for (error, expected) in [
        (TooManyRequests, vec![5, 10, 20, 40]),
        (Overloaded(None), vec![5, 5, 5, 5]),
        (Overloaded(Some(secs(3))), vec![3, 3, 3, 3]),
        (Internal, vec![5, 5, 5]),
        (EndedUnexpectedly, vec![5]),
        (PromptTooLarge, vec![]),
    ] {
        let (thread, outcome) = run(&vec![error.clone(); 9]).await;
        let expected: Vec<_> = expected.into_iter().map(secs).collect();
        assert_eq!((thread.server.waits(), outcome), (expected, Err(error)));
    }
}

#[tokio::test(start_paused = true)]
async fn all_errors_count_together_and_are_shown() {
    let overloaded = || Overloaded(None);
    let errors = [overloaded(), overloaded(), overloaded(), Internal];
    let (thread, outcome) = run(&errors).await;
    assert_eq!(outcome, Err(Internal));
    assert_eq!(thread.server.waits(), [secs(5); 3]);

    let errors = [Internal, TooManyRequests, Overloaded(Some(secs(1)))];
    let (thread, outcome) = run(&errors).await;
    assert_eq!(outcome, Ok("done"));
    assert_eq!(thread.server.waits(), [5, 10, 1].map(secs));
    assert_eq!(
        thread.shown,
        ["1 of 3 in 5s", "2 of 4 in 10s", "3 of 4 in 1s"]
    );
}
