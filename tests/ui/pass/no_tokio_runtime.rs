//! Without a runtime of tokio, the first call says what to do and where, before anything failed.

use std::io;
use std::panic::{self, AssertUnwindSafe};
use std::sync::Mutex;
use std::time::Duration;

use futures::executor::block_on;
use futures::{Stream, StreamExt, stream};
use retry_runtime::{Policy, Timer, TokioTimer, retry, retry_each};

static LAST: Mutex<(String, u32)> = Mutex::new((String::new(), 0));

const ATTRIBUTE: u32 = line!() + 1;
#[retry]
async fn complete() -> io::Result<u32> {
    Ok(42)
}

const ATTRIBUTE_OF_STREAM: u32 = line!() + 1;
#[retry(stream = "first")]
fn items() -> impl Stream<Item = io::Result<u32>> {
    stream::iter([Ok(42)])
}

#[retry(timer = |_| async {})]
async fn with_timer() -> io::Result<u32> {
    Ok(42)
}

/// The line that the panic is at.
fn line_of_panic<T>(call: impl FnOnce() -> T) -> u32 {
    assert!(panic::catch_unwind(AssertUnwindSafe(call)).is_err());
    let last = LAST.lock().unwrap();
    assert!(last.0.contains("name another timer with the key `timer`"), "{}", last.0);
    last.1
}

fn main() {
    panic::set_hook(Box::new(|panic| {
        let line = panic.location().map_or(0, |place| place.line());
        *LAST.lock().unwrap() = (panic.to_string(), line);
    }));
    assert_eq!(line_of_panic(|| block_on(complete())), ATTRIBUTE);
    assert_eq!(
        line_of_panic(|| block_on(items().collect::<Vec<_>>())),
        ATTRIBUTE_OF_STREAM,
    );
    line_of_panic(|| block_on(Policy::none().call(async || io::Result::Ok(42))));
    line_of_panic(|| {
        block_on(retry_each(Policy::none(), [1], async |items| {
            io::Result::Ok(items.into_iter().map(Ok).collect::<Vec<_>>())
        }))
    });
    line_of_panic(|| block_on(TokioTimer.sleep(Duration::ZERO)));
    assert_eq!(block_on(with_timer()).unwrap(), 42);
}
