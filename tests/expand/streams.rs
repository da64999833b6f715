//! Streams: a loop in a block that passes items on, and a loop that an async function awaits.

#[retry(stream = "resume", attempt = attempt, on = is_retryable)]
fn events(feed: &Feed) -> impl Stream<Item = Result<Event, FeedError>> + Send {
    feed.after(attempt.last_item())
}

#[retry(stream, timeout = "30s")]
async fn tokens(model: &Model) -> Result<BoxStream<'static, Result<Token, ModelError>>, ModelError> {
    model.open().await
}
