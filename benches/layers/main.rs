//! The cost of a retry layer for a request that succeeds at once, compared with tower's own: `cargo bench
//! --manifest-path benches/layers/Cargo.toml`.
//!
//! Instructions are counted as in `benches/instructions.rs`. The inner service responds at once. If our layer exceeds
//! its bound, the program ends with exit code 1.

use std::convert::Infallible;
use std::env;
use std::future::{Future, Ready, ready};
use std::hint::black_box;
use std::pin::pin;
use std::process::ExitCode;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use bytes::Bytes;
use http::{HeaderValue, Request, Response, StatusCode};
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt, Full};
use retry_clients::tower::RetryLayer;
use retry_runtime::Policy;
use tokio::time::Sleep;
use tower::retry::{Policy as TowerPolicy, Retry};
use tower::{BoxError, Layer, Service};

#[path = "../callgrind.rs"]
mod callgrind;

/// The maximum ratio of our layer's instructions to tower's own.
const MOST: f64 = 2.0;
const CALLS: u32 = 2_000;

type Boxed = UnsyncBoxBody<Bytes, BoxError>;

/// A service that responds at once.
#[derive(Clone)]
struct AtOnce;

impl<B> Service<Request<B>> for AtOnce {
    type Response = Response<Full<Bytes>>;
    type Error = Infallible;
    type Future = Ready<Result<Self::Response, Infallible>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    #[inline(never)]
    fn call(&mut self, request: Request<B>) -> Self::Future {
        black_box(&request);
        ready(Ok(Response::new(Full::from("hello"))))
    }
}

/// A retry policy like those that tower's users write: statuses, a delay, a copy of the request.
#[derive(Clone)]
struct Statuses {
    retries: u32,
}

impl<B: Clone, A> TowerPolicy<Request<B>, Response<A>, Infallible> for Statuses {
    type Future = Sleep;

    fn retry(
        &mut self,
        _: &mut Request<B>,
        outcome: &mut Result<Response<A>, Infallible>,
    ) -> Option<Sleep> {
        let Ok(answer) = outcome else {
            return None;
        };
        let is_failure =
            answer.status() == StatusCode::TOO_MANY_REQUESTS || answer.status().is_server_error();
        if !is_failure || self.retries == 0 {
            return None;
        }
        self.retries -= 1;
        Some(tokio::time::sleep(Duration::from_secs(1)))
    }

    fn clone_request(&mut self, request: &Request<B>) -> Option<Request<B>> {
        Some(request.clone())
    }
}

fn request<B>(body: B) -> Request<B> {
    let mut request = Request::new(body);
    *request.uri_mut() = http::Uri::from_static("http://api.example/v1/items");
    for (name, value) in [
        ("accept", "application/json"),
        ("authorization", "Bearer none"),
        ("content-type", "application/json"),
        ("user-agent", "bench"),
    ] {
        request
            .headers_mut()
            .insert(name, HeaderValue::from_static(value));
    }
    request
}

fn send<S, B>(service: &mut S, body: B)
where
    S: Service<Request<B>>,
{
    let mut context = Context::from_waker(Waker::noop());
    assert!(service.poll_ready(&mut context).is_ready());
    let mut call = pin!(service.call(request(body)));
    let Poll::Ready(answer) = call.as_mut().poll(&mut context) else {
        panic!("it answers at once");
    };
    drop(black_box(answer));
}

fn full() -> Full<Bytes> {
    Full::from("hello")
}

fn boxed() -> Boxed {
    full().map_err(BoxError::from).boxed_unsync()
}

type Case = (&'static str, fn(u32));

const CASES: [Case; 5] = [
    ("the service alone", |calls| {
        (0..calls).for_each(|_| send(&mut AtOnce, full()));
    }),
    ("tower 0.5, `retry`", |calls| {
        let mut service = Retry::new(Statuses { retries: 3 }, AtOnce);
        (0..calls).for_each(|_| send(&mut service, full()));
    }),
    ("`RetryLayer`", |calls| {
        let mut service = RetryLayer::new(Policy::new()).layer(AtOnce);
        (0..calls).for_each(|_| send(&mut service, full()));
    }),
    ("a boxed body: the service alone", |calls| {
        (0..calls).for_each(|_| send(&mut AtOnce, boxed()));
    }),
    ("a boxed body, recorded: `RetryLayer`", |calls| {
        let mut service = RetryLayer::new(Policy::new()).layer(AtOnce);
        (0..calls).for_each(|_| send(&mut service, boxed()));
    }),
];
const TOWER: usize = 1;
const LAYER: usize = 2;

fn main() -> ExitCode {
    let arguments: Vec<String> = env::args().skip(1).collect();
    if let [flag, case, calls] = arguments.as_slice()
        && flag == "--case"
        && let (Ok(case), Ok(calls)) = (case.parse::<usize>(), calls.parse())
    {
        CASES[case].1(calls);
        return ExitCode::SUCCESS;
    }
    println!("| way | instructions | ratio | allocations |");
    println!("|---|--:|--:|--:|");
    let mut costs = Vec::new();
    for (number, (way, run)) in CASES.iter().enumerate() {
        let counted =
            |calls: u32| callgrind::run(&["--case", &number.to_string(), &calls.to_string()]);
        let (more, fewer) = match (counted(2 * CALLS), counted(CALLS)) {
            (Ok(more), Ok(fewer)) => (more, fewer),
            (Err(failure), _) | (_, Err(failure)) => {
                eprintln!("{failure}");
                return ExitCode::from(2);
            }
        };
        let all = more.per_call(fewer, CALLS.into()).all;
        costs.push(all);
        let of_tower = costs
            .get(TOWER)
            .map_or(String::from("–"), |tower| format!("{:.2}", all / tower));
        let allocations = |calls| allocation_counter::measure(|| run(calls)).count_total;
        let allocated = (allocations(2 * CALLS) - allocations(CALLS)) / u64::from(CALLS);
        println!("| {way} | {all:.0} | {of_tower} | {allocated} |");
    }
    let (layer, tower) = (costs[LAYER], costs[TOWER]);
    if layer > MOST * tower {
        println!("broken: the layer costs {layer:.0} instructions, tower's own {tower:.0}");
        return ExitCode::FAILURE;
    }
    ExitCode::SUCCESS
}
