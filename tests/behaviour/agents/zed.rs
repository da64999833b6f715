//! <https://github.com/zed-industries/zed>, `crates/agent`: `retry_strategy_for`, `RetryStatus`.

use retry_runtime::Cancelled;
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
    Stopped,
}
use CompletionError::{
    EndedUnexpectedly, Internal, Overloaded, PromptTooLarge, Stopped, TooManyRequests,
};

impl From<Cancelled> for CompletionError {
    fn from(_: Cancelled) -> Self {
        Stopped
    }
}

const BASE: Duration = secs(5);

/// Returns the maximum number of retries for an error. All errors of a turn share one count.
fn most(error: &CompletionError) -> u32 {
    match error {
        TooManyRequests | Overloaded(_) => 4,
        Internal => 3,
        EndedUnexpectedly => 1,
        PromptTooLarge | Stopped => 0,
    }
}

struct Thread {
    server: Server<CompletionError>,
    failures: u32,
    shown: Vec<String>,
}

impl Thread {
    fn new(errors: impl IntoIterator<Item = CompletionError>) -> Self {
        Self {
            server: Server::failing(errors),
            failures: 0,
            shown: Vec::new(),
        }
    }

    /// 5 s, or the server's hint; only a 429 without a hint doubles the delay.
    #[retry(max = "unlimited", base = BASE, factor = 2, cap = "1h", jitter = "none", hint = "exact",
        on = |error| self.verdict(error), abort = stop.cancelled(),
        before_pause = async |error, next| self.show(error, next))]
    async fn run(&mut self, stop: &CancellationToken) -> Result<&'static str, CompletionError> {
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

async fn waits(errors: &[CompletionError]) -> (Vec<u64>, Result<&'static str, CompletionError>) {
    let mut thread = Thread::new(errors.iter().cloned());
    let outcome = thread.run(&CancellationToken::new()).await;
    let waits = thread.server.waits();
    (waits.iter().map(Duration::as_secs).collect(), outcome)
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
        assert_eq!(waits(&vec![error.clone(); 9]).await, (expected, Err(error)));
    }
}

#[tokio::test(start_paused = true)]
async fn all_errors_count_together() {
    let overloaded = || Overloaded(None);
    let errors = [overloaded(), overloaded(), overloaded(), Internal];
    assert_eq!(waits(&errors).await, (vec![5; 3], Err(Internal)));
    let errors = [Internal, TooManyRequests, Overloaded(Some(secs(1)))];
    assert_eq!(waits(&errors).await, (vec![5, 10, 1], Ok("done")));
}

#[tokio::test(start_paused = true)]
async fn it_shows_the_retry_and_how_long_it_takes() {
    let mut thread = Thread::new([Overloaded(Some(secs(3))), Internal]);
    assert_eq!(thread.run(&CancellationToken::new()).await, Ok("done"));
    assert_eq!(thread.shown, ["1 of 4 in 3s", "2 of 3 in 5s"]);
}

#[tokio::test(start_paused = true)]
async fn a_user_stops_it_in_the_middle_of_a_wait() {
    let (mut thread, stop) = (Thread::new([Internal]), CancellationToken::new());
    let (outcome, ()) = tokio::join!(thread.run(&stop), async {
        sleep(secs(2)).await;
        stop.cancel();
    });
    assert_eq!(outcome, Err(Stopped));
    assert_eq!(thread.server.asked.len(), 1);
    assert_eq!(thread.server.start.elapsed(), secs(2));
}
