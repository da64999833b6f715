//! One retried function for a whole code base, generic over the error and the operation, and its names in the log.

#![allow(clippy::unused_self)]

use support::prelude::*;
use support::runtime;

const POLICY: Policy = Policy::none().max(0);

/// An error of a code base, as generic as the helper.
struct Refused<T>(T);

impl<T> Classify for Refused<T> {
    fn classify(&self) -> Verdict {
        Verdict::STOP
    }
}

#[retry(policy = policy, on = |error: &E| error.classify())]
async fn with_retries<T, E: Classify>(
    policy: &Policy,
    operation: impl AsyncFn() -> Result<T, E>,
) -> Result<T, E> {
    operation().await
}

async fn by_chain<T, E: Classify>(operation: impl AsyncFn() -> Result<T, E>) -> Result<T, E> {
    POLICY.call(|| operation()).await
}

fn by_block<T, E: Classify>(operation: impl Fn() -> Result<T, E>) -> Result<T, E> {
    retrying!(max = 0, { operation() })
}

fn by_function<T, E>(operation: impl Fn() -> Result<T, E>) -> Result<T, E> {
    // The default name is that of the closure's place.
    #[allow(clippy::redundant_closure)]
    POLICY.on(|_: &E| false).call_blocking(|| operation())
}

/// The name and the error in the only line of a log.
fn logged(call: impl FnOnce()) -> (String, String) {
    let recording = testing::record();
    call();
    let [line] = <[String; 1]>::try_from(recording.lines()).unwrap();
    let (name, rest) = line.split_once(" attempt=").unwrap();
    let (_, error) = rest.split_once(" error=").unwrap();
    let (error, _) = error.split_once(" reason=").unwrap();
    (name.replace("gave up ", ""), error.to_owned())
}

#[test]
fn neither_the_name_nor_the_error_has_type_arguments() {
    let here = "calls::own_function";
    let refused = || Err::<(), _>(Refused(Some(7)));
    let of = |name: &str| (format!("{here}::{name}"), format!("{here}::Refused"));
    let runtime = runtime::paused();
    assert_rows! {
        logged(|| drop(by_block(refused))) => of("by_block");
        logged(|| drop(by_function(refused))) => of("by_function");
        logged(|| drop(runtime.block_on(with_retries(&POLICY, async || refused())))) => of("with_retries");
        logged(|| drop(runtime.block_on(by_chain(async || refused())))) => of("by_chain");
    }
}

struct Users;
struct Orders<T>(T);

trait Get {
    fn load(&self) -> Result<(), Failure>;
    scripted! { #[retry] fn reload(&self) = Err(STOP); }
}

impl Users {
    scripted! {
        #[retry] fn get(&self) = Err(STOP);
        #[retry(max = 1 + 1)] fn create() -> Result<Self, Failure> = Err(STOP);
        #[retry(name = "users.put")] fn put(&self) = Err(STOP);
    }
}

impl<T> Orders<T> {
    scripted! { #[retry] fn get(&self) = Err(STOP); }
}

impl<T> Get for Orders<T> {
    scripted! { #[retry(observe = |_| ())] fn load(&self) = Err(STOP); }
}

mod elsewhere {
    use super::*;

    impl Users {
        #[retry]
        pub(super) fn get_all(&self) -> Result<(), Failure> {
            Err(STOP)
        }
    }

    impl Get for Users {
        scripted! { #[retry] fn load(&self) = Err(STOP); }
    }
}

#[test]
fn a_methods_name_has_its_type() {
    let name = |call: &dyn Fn() -> Result<(), Failure>| {
        let (name, _) = logged(|| assert_eq!(call(), Err(STOP)));
        name.replace("calls::own_function::", "")
    };
    assert_eq!(name(&|| Users.get()), "Users::get");
    assert_eq!(name(&|| Users::create().map(drop)), "Users::create");
    assert_eq!(name(&|| Users.put()), "users.put");
    assert_eq!(name(&|| Orders(7).get()), "Orders::get");
    assert_eq!(name(&|| Orders("7").load()), "Orders::load");
    assert_eq!(name(&|| Users.get_all()), "Users::get_all");
    assert_eq!(name(&|| Users.load()), "Users::load");
    assert_eq!(name(&|| Users.reload()), "Get::reload");
}

#[test]
fn delays_are_rounded_for_people() {
    for (nanos, shown) in [
        (0, "0ns"),
        (999, "1µs"),
        (777_201, "777µs"),
        (999_700, "1ms"),
        (1_499_999, "1ms"),
        (1_234_567_891, "1.235s"),
        (59_999_600_000, "60s"),
    ] {
        let delay = Duration::from_nanos(nanos);
        let retrying = EventData::Retrying {
            retry: 1,
            retry_max: Some(3),
            max: Some(3),
            delay,
            error: &"busy",
            kind: Kind::Transient,
        };
        assert_eq!(
            Event::new("call", 1, retrying).to_string(),
            format!("retrying call attempt=1 max=3 delay={shown} error=busy reason=transient"),
        );
        let timed_out = TimedOut::new(delay);
        assert_eq!(timed_out.to_string(), format!("timed out after {shown}"));
    }
    let forever = TimedOut::new(Duration::MAX).to_string();
    assert!(forever.starts_with("timed out after 18446744073709551615"));
}
