//! Embeds 1,000 texts in batches that partly fail: `cargo run --example batch`.
//!
//! The simulated service at the end accepts up to 100 texts per request and fails in every possible way. Only failed
//! texts are sent again. The clock is paused, so the example doesn't really wait for the seconds that it prints.

use std::cell::RefCell;
use std::collections::HashSet;
use std::time::Duration;

use retry_runtime::seam::TimerFn;
use retry_runtime::{Classify, Policy};
use retry_work::{IntoBatches, retry_each};
use tokio::time::Instant;

#[derive(Debug, thiserror::Error, Classify)]
enum EmbedError {
    #[error("429 come back after {retry_after:?}")]
    #[classify(throttled, after = retry_after)]
    Throttled { retry_after: Duration },
    #[error("503 overloaded")]
    #[classify(transient)]
    Overloaded,
    #[error("400 the text is empty")]
    #[classify(stop)]
    EmptyText,
}

#[tokio::main(flavor = "current_thread", start_paused = true)]
async fn main() {
    let text = |number| match number {
        500 => String::new(),
        _ => format!("text {number}"),
    };
    let texts: Vec<String> = (0..1000).map(text).collect();
    let service = Service::new();
    println!("1000 texts, 100 to a request, 4 requests at a time; text 500 is empty\n");

    let timer = TimerFn::new(|wait: Duration| {
        println!("         the texts that failed wait {wait:.1?}");
        tokio::time::sleep(wait)
    });
    let policy = Policy::new().max(4).timer(timer);
    let batches = policy.batches(100).concurrency(4);
    let results = retry_each(batches, &texts, async |pending| {
        service.embed(&pending).await
    })
    .await;

    let requests = service.requests.borrow();
    let (count, sent) = (requests.len(), requests.iter().sum::<usize>());
    let vectors = results.iter().flatten().count();
    println!("\n{vectors} vectors from {count} requests that held {sent} texts in all");
    for (number, (text, result)) in texts.iter().zip(&results).enumerate() {
        match result {
            Ok(vector) => assert_eq!(*vector, vector_of(text), "results are in order"),
            Err(error) => println!("text {number} {error}"),
        }
    }
}

struct Service {
    started: Instant,
    /// The number of texts in each request.
    requests: RefCell<Vec<usize>>,
    throttled: RefCell<HashSet<String>>,
}

type Answer = Result<Vec<f32>, EmbedError>;

impl Service {
    fn new() -> Self {
        Self {
            started: Instant::now(),
            requests: RefCell::default(),
            throttled: RefCell::default(),
        }
    }

    /// Returns a result for each text, or an error for the whole request.
    async fn embed(&self, texts: &[&String]) -> Result<Vec<Answer>, EmbedError> {
        self.requests.borrow_mut().push(texts.len());
        let (number, count) = (self.requests.borrow().len(), texts.len());
        let second = self.started.elapsed().as_secs_f64();
        tokio::time::sleep(Duration::from_millis(300)).await;
        let request = format!("{second:5.1} s  request {number:2} with {count:3} text(s):");
        if number == 3 {
            println!("{request} 503 for the whole request");
            return Err(EmbedError::Overloaded);
        }
        let answers: Vec<_> = texts.iter().map(|text| self.embed_one(text)).collect();
        let vectors = answers.iter().flatten().count();
        let invalid = texts.iter().filter(|text| text.is_empty()).count();
        let throttled = count - vectors - invalid;
        println!("{request} {vectors} vectors, {throttled} throttled for 2 s, {invalid} invalid");
        Ok(answers)
    }

    /// Throttles every text that ends with 25, once.
    fn embed_one(&self, text: &str) -> Answer {
        if text.is_empty() {
            return Err(EmbedError::EmptyText);
        }
        if text.ends_with("25") && self.throttled.borrow_mut().insert(text.to_owned()) {
            let retry_after = Duration::from_secs(2);
            return Err(EmbedError::Throttled { retry_after });
        }
        Ok(vector_of(text))
    }
}

fn vector_of(text: &str) -> Vec<f32> {
    text.bytes().map(f32::from).collect()
}
