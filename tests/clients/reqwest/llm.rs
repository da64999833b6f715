//! The error bodies of model APIs, received over HTTP: the number of attempts of a call that fails with each.

use reqwest_0_13 as reqwest;
use retry_runtime::{Classify, ErrorForRetry, ResponseError, retry};
use support::loopback::Server;
use support::model_errors::answers;

#[retry(max = 2, backoff = "none")]
async fn complete(client: &reqwest::Client, url: &str) -> anyhow::Result<String> {
    let response = client.get(url).send().await?.error_for_retry().await?;
    Ok(response.text().await?)
}

#[tokio::test]
async fn answers_are_retried_by_the_table() {
    let client = reqwest::Client::builder().no_proxy();
    let client = client.build().unwrap();
    for (status, body, expected, fault) in answers() {
        let length = body.len();
        let head =
            format!("HTTP/1.1 {status} -\r\nconnection: close\r\ncontent-length: {length}\r\n\r\n");
        let server = Server::answering(head + &body);
        let error = complete(&client, &server.url()).await.unwrap_err();
        let error: ResponseError = error.downcast().unwrap();
        assert_eq!(error.provider_error().unwrap().fault(), fault, "{body}");
        assert_eq!(error.classify(), expected, "{body}");
        let requests = if expected.is_retryable() { 3 } else { 1 };
        assert_eq!(server.accepted(), requests, "{body}");
    }
}
