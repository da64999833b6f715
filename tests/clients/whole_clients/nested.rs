//! Retries that multiply.

use retry_clients::ClientRetries;
use retry_clients::tower::RetryLayer;
use retry_runtime::testing::Recording;
use support::prelude::*;
use tower::{Layer, ServiceExt, service_fn};

use super::scripted::{Answer, Scripted, post};

fn warnings(recording: &Recording) -> Vec<String> {
    let lines = recording.lines().into_iter();
    lines.filter(|line| line.contains("multiply")).collect()
}

#[tokio::test(start_paused = true)]
async fn a_layer_is_the_outer_call_of_another() {
    let service = Scripted::new(vec![Answer::Status(503, &[]); 16]);
    let inner = service.under(ClientRetries::new(Policy::new()).name("inner"));
    let outer = RetryLayer::new(Policy::new()).layer(inner);
    let recording = testing::record();
    outer.oneshot(post("")).await.unwrap();
    assert_eq!(service.starts().len(), 16);
    assert_eq!(
        warnings(&recording),
        ["retries multiply inner attempt=1 outer=POST api.example attempts=16"]
    );
}

#[tokio::test(start_paused = true)]
async fn a_layer_of_clones_is_the_outer_call_of_a_function() {
    #[retry(name = "function")]
    async fn fails(count: &AtomicU32) -> io::Result<()> {
        count.fetch_add(1, Ordering::Relaxed);
        Err(io::ErrorKind::ConnectionReset.into())
    }
    let count = Arc::new(AtomicU32::new(0));
    let on = |outcome: Result<&(), &io::Error>| outcome.err().map(Classify::classify);
    let layer = RetryLayer::cloning(Policy::new(), on).name("layer");
    let service = service_fn(|count: Arc<AtomicU32>| async move { fails(&count).await });
    let recording = testing::record();
    let called = layer.layer(service).oneshot(Arc::clone(&count)).await;
    called.unwrap_err();
    assert_eq!(count.load(Ordering::Relaxed), 16);
    assert_eq!(
        warnings(&recording),
        ["retries multiply function attempt=1 outer=layer attempts=16"]
    );
}
