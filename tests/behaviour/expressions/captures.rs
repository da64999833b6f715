//! Captures of a block: borrowed, changed, owned.

use support::prelude::*;

/// Fails while there are requests left to fail.
async fn answer(left: &mut u32) -> Result<&'static str, Failure> {
    yield_now().await;
    match left.checked_sub(1) {
        Some(less) => {
            *left = less;
            Err(TRANSIENT)
        }
        None => Ok("answer"),
    }
}

#[tokio::test(start_paused = true)]
async fn nothing_runs_before_it_is_awaited() {
    let runs = Cell::new(0);
    let call = retrying!(
        max = {
            runs.set(runs.get() + 100);
            3
        },
        attempt = _attempt,
        async {
            runs.set(runs.get() + 1);
            Ok::<_, Failure>(())
        }
    );
    assert_eq!(runs.get(), 0);
    call.await.unwrap();
    assert_eq!(runs.get(), 101);
}

#[tokio::test(start_paused = true)]
async fn a_block_changes_what_it_borrows() {
    let (mut left, mut seen) = (2, Vec::new());
    let prompt = String::from("prompt");
    let start = Instant::now();
    let outcome = retrying!(max = 2, jitter = "none", async {
        seen.push(prompt.as_str());
        answer(&mut left).await
    })
    .await;
    assert_eq!((outcome, left), (Ok("answer"), 0));
    assert_eq!(seen, ["prompt"; 3]);
    assert_eq!(start.elapsed(), secs(3));
}

#[tokio::test(start_paused = true)]
async fn keys_read_what_the_block_changes() {
    let mut left = 5;
    let mut attempts = 0;
    let outcome = retrying!(max = left - 2, async {
        attempts += 1;
        answer(&mut left).await
    })
    .await;
    // After the second attempt, the limit is 1.
    assert_eq!((outcome, attempts), (Err(TRANSIENT), 2));
}

#[tokio::test(start_paused = true)]
async fn a_moving_block_owns_what_it_uses_and_each_attempt_borrows_it() {
    let prompt = String::from("prompt");
    let mut left = 2;
    let call = retrying!(max = 2, async move {
        assert_eq!(prompt, "prompt");
        answer(&mut left).await
    });
    let task = tokio::spawn(call);
    assert_eq!(task.await.unwrap(), Ok("answer"));
    assert_eq!(left, 2);
}

#[tokio::test(start_paused = true)]
async fn a_value_may_borrow_what_the_block_borrows() {
    struct Client {
        name: String,
        left: u32,
    }

    impl Client {
        async fn name(&mut self) -> Result<&str, Failure> {
            let Self { name, left } = self;
            retrying!(async {
                answer(left).await?;
                Ok(name.as_str())
            })
            .await
        }
    }

    let mut client = Client {
        name: String::from("model"),
        left: 2,
    };
    assert_eq!(client.name().await, Ok("model"));
    assert_eq!(client.left, 0);
}

#[tokio::test(start_paused = true)]
async fn the_future_is_send_exactly_where_the_block_is() {
    let mut left = 1;
    let outcome = is_send(retrying!(async { answer(&mut left).await })).await;
    assert_eq!(outcome, Ok("answer"));
    // The error is gone before the pause.
    let local = is_send(retrying!(on = |_| true, async {
        Err::<(), Box<dyn Error>>(answer(&mut 1).await.unwrap_err().into())
    }));
    assert_eq!(local.await.unwrap_err().to_string(), "transient");
    let everything = is_send(retrying!(
        on = |failure| *failure == TRANSIENT,
        attempt = attempt,
        give_up = GaveUp::into_error,
        observe = |_| (),
        repeats = 2,
        deadline = "1m",
        timeout = "1s",
        async { answer(&mut (attempt.number() % 2)).await },
    ));
    assert_eq!(everything.await, Ok("answer"));
    // A block need not be `Send`.
    let shared = Rc::new(Cell::new(2));
    let outcome = retrying!(async {
        let mut left = shared.get();
        let outcome = answer(&mut left).await;
        shared.set(left);
        outcome
    });
    assert_eq!(outcome.await, Ok("answer"));
    assert_eq!(Rc::strong_count(&shared), 1);
}
