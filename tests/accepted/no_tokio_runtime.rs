//! Without a tokio runtime, the first call panics before any failure; the message contains the fix and the location. A
//! call that never waits doesn't need a runtime.

use std::io;
use std::panic::{self, AssertUnwindSafe};
use std::sync::Mutex;
use std::time::Duration;

use futures::executor::block_on;
use futures::{Stream, StreamExt, stream};
use retry_runtime::seam::{DefaultTimer, Timer};
use retry_runtime::{Policy, retry, retrying};
use retry_work::plan::{Plan, Validity};
use retry_work::retry_each;

static LAST: Mutex<(String, u32)> = Mutex::new((String::new(), 0));

const FUNCTION: u32 = line!() + 2;
#[retry]
async fn complete() -> io::Result<u32> {
    Ok(42)
}

const STREAM: u32 = line!() + 2;
#[retry(stream = "first")]
fn items() -> impl Stream<Item = io::Result<u32>> {
    stream::iter([Ok(42)])
}

struct Client;

#[retry]
impl Client {
    fn blocking(&self) -> io::Result<u32> {
        Ok(42)
    }

    async fn method(&self) -> io::Result<u32> {
        self.blocking()
    }
}

const METHOD: u32 = line!() - 5;

#[retry(wrapper = Retrying)]
trait Model {
    fn blocking(&self) -> io::Result<u32>;

    async fn ask(&self) -> io::Result<u32>;
}

const METHOD_OF_TRAIT: u32 = line!() - 3;

impl Model for Client {
    fn blocking(&self) -> io::Result<u32> {
        Ok(42)
    }

    async fn ask(&self) -> io::Result<u32> {
        Ok(42)
    }
}

#[retry(timer = |_| async {})]
async fn with_timer() -> io::Result<u32> {
    Ok(42)
}

#[retry(max = 2, backoff = "none", on = |_| true)]
async fn at_once(attempts: &mut u32) -> Result<u32, String> {
    *attempts += 1;
    if *attempts < 3 {
        Err(String::from("busy"))
    } else {
        Ok(*attempts)
    }
}

/// Without a delay of its own, a call waits only if a server asks for it.
#[retry(max = 1, backoff = "none", on = |_| Some(Duration::from_secs(1)))]
async fn asked_to_wait(attempts: &mut u32) -> Result<u32, String> {
    *attempts += 1;
    Err(String::from("busy"))
}

/// Returns the line of the panic, whose message contains the call's name.
fn line_of_panic<T>(named: &str, call: impl FnOnce() -> T) -> u32 {
    assert!(panic::catch_unwind(AssertUnwindSafe(call)).is_err());
    let last = LAST.lock().unwrap();
    assert!(
        last.0.contains("name another timer with the key `timer`"),
        "{}",
        last.0
    );
    assert!(
        last.0.contains(&format!("{named} waits with")),
        "{}",
        last.0
    );
    last.1
}

fn main() {
    panic::set_hook(Box::new(|panic| {
        let line = panic.location().map_or(0, |place| place.line());
        *LAST.lock().unwrap() = (panic.to_string(), line);
    }));
    let at = |line, call: &dyn Fn()| assert_eq!(line_of_panic("a retried call", call), line);
    at(FUNCTION, &|| drop(block_on(complete())));
    at(STREAM, &|| drop(block_on(items().collect::<Vec<_>>())));
    at(METHOD, &|| drop(block_on(Client.method())));
    at(METHOD_OF_TRAIT, &|| {
        drop(block_on(Retrying::new(Client).ask()))
    });
    at(line!() + 1, &|| {
        drop(block_on(retrying!(async { Client.blocking() })));
    });
    let here = format!("{}::main", module_path!());
    line_of_panic(&here, || {
        block_on(Policy::none().call(async || io::Result::Ok(42)))
    });
    line_of_panic("model.ask", || {
        block_on(
            Policy::none()
                .name("model.ask")
                .call(async || io::Result::Ok(42)),
        )
    });
    line_of_panic(&here, || {
        block_on(retry_each(Policy::none(), [1], async |items| {
            io::Result::Ok(items.into_iter().map(Ok).collect::<Vec<_>>())
        }))
    });
    line_of_panic("a plan", || {
        let mut plan = Plan::<u32, io::Error>::new().name("a plan");
        block_on(plan.run_until(Policy::none(), async |_| Validity::Valid))
    });
    line_of_panic("a retried call", || {
        block_on(Timer::sleep(&DefaultTimer, Duration::ZERO))
    });
    assert_eq!(block_on(with_timer()).unwrap(), 42);
    assert_eq!(block_on(at_once(&mut 0)), Ok(3));
    let mut attempts = 0;
    line_of_panic("a retried call", || block_on(asked_to_wait(&mut attempts)));
    assert_eq!(attempts, 1);
}
