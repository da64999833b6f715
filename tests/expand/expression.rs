//! Call sites: the attribute's loop in an expression.

async fn complete(client: &Client, prompt: &str) -> Result<Completion, ModelError> {
    let response = retrying!(max = 5, on = is_retryable, async {
        client.post(prompt).await?.json().await
    });
    response.await
}

async fn owned(client: Client) -> Result<Completion, ModelError> {
    spawn(retrying!(name = "model.complete", async move -> Result<_, ModelError> {
        client.post().await
    }))
    .await
}

fn parsed(text: &mut String) -> Option<u32> {
    retrying!(attempt = attempt, on = |_: &ParseError| true, {
        text.push(digit(attempt.number()));
        text.parse()
    })
    .ok()
}

async fn asked(client: &Client) -> anyhow::Result<Completion> {
    retrying!(on = is_retryable, attempt = attempt, breaker = &BREAKER, async {
        let answer = client.ask(attempt.last_error()).await?;
        Ok(answer.text)
    })
    .await
}
