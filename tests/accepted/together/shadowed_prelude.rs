//! The user's own types and modules with names that generated code uses, too.

#![allow(dead_code, non_camel_case_types, unused_macros)]

use ::std::sync::atomic::{AtomicU32, Ordering};

use ::retry_runtime::retry;

struct Result;
struct Ok;
struct Err;
struct Some;
struct None;
struct Option;
struct Box;
struct String;
struct Duration;
struct Instant;
struct Pin;
struct Future;
struct Send;
struct Into;
struct From;
struct Default;
struct Iterator;
struct Fn;
struct Call;
struct Policy;
struct Verdict;
struct Classify;
struct TimedOut;
struct str;
struct u32;

mod core {}
mod std {}
mod alloc {}
mod macro_support {}
mod retry_runtime {}
mod tokio {}

macro_rules! concat {
    ($($token:tt)*) => {
        compile_error!("not this one")
    };
}
macro_rules! module_path {
    ($($token:tt)*) => {
        compile_error!("not this one")
    };
}
macro_rules! pin {
    ($($token:tt)*) => {
        compile_error!("not this one")
    };
}

type Outcome<T, E> = ::core::result::Result<T, E>;
type Count = ::core::primitive::u32;

static ATTEMPTS: AtomicU32 = AtomicU32::new(0);

fn fail() -> Outcome<Count, ::std::io::Error> {
    ATTEMPTS.fetch_add(1, Ordering::Relaxed);
    Outcome::Err(::std::io::Error::from(
        ::std::io::ErrorKind::ConnectionRefused,
    ))
}

#[retry(
    max = 2,
    backoff = "fixed",
    base = "1ms",
    cap = "1s",
    jitter = "equal",
    hint = "clamp",
    timeout = "1s",
    hedge = "500ms",
    deadline = "1m",
    throttled(max = 3, jitter = "none"),
    attempt = attempt,
    repeats = 9,
    until = |_| true,
    give_up = |gave_up| gave_up.into_error(),
    observe = |_| {},
)]
async fn complete() -> Outcome<Count, ::std::io::Error> {
    let _ = attempt.number();
    fail()
}

#[retry(max = 2, backoff = "none", fallback = |gave_up| Outcome::Err(gave_up.into_error()))]
fn blocking() -> Outcome<Count, ::std::io::Error> {
    fail()
}

#[retry(max = 2, backoff = "none")]
fn boxed() -> ::core::pin::Pin<
    ::std::boxed::Box<dyn ::core::future::Future<Output = Outcome<Count, ::std::io::Error>>>,
> {
    ::std::boxed::Box::pin(async { fail() })
}

#[derive(Debug, ::retry_runtime::Classify)]
enum ModelError {
    #[classify(throttled, after = after)]
    Busy { after: ::core::time::Duration },
    #[classify(transparent)]
    Io(::std::io::Error),
}

#[retry(max = 2, backoff = "none", hint = "ignore")]
fn derived() -> Outcome<Count, ModelError> {
    fail().map_err(ModelError::Io)
}

pub(crate) fn main() {
    let runtime = ::tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .start_paused(true)
        .build()
        .unwrap();
    runtime.block_on(async {
        assert!(complete().await.is_err());
        assert_eq!(ATTEMPTS.swap(0, Ordering::Relaxed), 3);
        assert!(blocking().is_err());
        assert_eq!(ATTEMPTS.swap(0, Ordering::Relaxed), 3);
        assert!(boxed().await.is_err());
        assert_eq!(ATTEMPTS.swap(0, Ordering::Relaxed), 3);
        assert!(derived().is_err());
        assert_eq!(ATTEMPTS.swap(0, Ordering::Relaxed), 3);
    });
}
