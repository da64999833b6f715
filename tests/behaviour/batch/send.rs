//! The future is `Send` if everything in it is, for all kinds of operations.

use std::fmt::Debug;

use retry_work::ItemError;
use support::prelude::*;

use super::{Answer, Answers, Results};

struct Client {
    name: String,
}

impl Client {
    async fn embed(&self, texts: &[&String]) -> Result<Vec<Result<usize, Failure>>, Failure> {
        yield_now().await;
        let length = |text: &&String| Ok(text.len() + self.name.len());
        Ok(texts.iter().map(length).collect())
    }

    async fn embed_all(&self, texts: &[String]) -> Vec<Result<usize, ItemError<Failure>>> {
        let batches = Policy::new().batches(2).concurrency(2);
        retry_each(batches, texts, async |pending| self.embed(&pending).await).await
    }
}

fn client_and_texts() -> (Client, Vec<String>) {
    let name = String::from("x");
    (Client { name }, ["a", "bb", "ccc"].map(String::from).into())
}

#[track_caller]
fn assert_lengths<E: Debug>(results: Vec<Result<usize, E>>) {
    let lengths: Vec<_> = results.into_iter().map(Result::unwrap).collect();
    assert_eq!(lengths, [2, 3, 4]);
}

#[tokio::test]
async fn borrowing_the_client_and_the_items() {
    let (client, texts) = client_and_texts();
    let policy = Policy::new();
    let results = retry_each(&policy, &texts, async |pending| {
        client.embed(&pending).await
    });
    assert_lengths(is_send(results).await);
    assert_lengths(is_send(client.embed_all(&texts)).await);
}

#[tokio::test]
async fn on_a_task_that_owns_all_with_every_setting() {
    let (client, texts) = client_and_texts();
    let shared: Vec<Arc<str>> = texts.iter().cloned().map(Arc::from).collect();
    let task = tokio::spawn(async move {
        let by_default = retry_each(Policy::new(), &texts, async |pending| {
            client.embed(&pending).await
        })
        .await;
        let batches = Policy::new()
            .on(|_: &Failure| true)
            .timer(DefaultTimer)
            .batches(1)
            .concurrency(4);
        let with_settings = retry_each(batches, shared.iter().map(Arc::clone), async |pending| {
            yield_now().await;
            let lengths = pending.iter().map(|text: &Arc<str>| Ok(text.len() + 1));
            Ok(lengths.collect())
        })
        .await;
        [by_default, client.embed_all(&texts).await, with_settings]
    });
    task.await.unwrap().into_iter().for_each(assert_lengths);
}

#[tokio::test]
async fn on_a_task_with_the_future_itself() {
    let (client, texts) = client_and_texts();
    let client = Arc::new(client);
    let results = retry_each(Policy::new(), texts, move |pending| {
        let client = Arc::clone(&client);
        async move {
            let pending: Vec<_> = pending.iter().collect();
            client.embed(&pending).await
        }
    });
    assert_lengths(tokio::spawn(results).await.unwrap());
}

#[tokio::test]
async fn in_a_boxed_future_of_a_trait() {
    #[async_trait::async_trait]
    trait Embed: Send + Sync {
        async fn embed(&self, numbers: &[&u32]) -> Answers;

        async fn embed_all(&self, numbers: &[u32]) -> Results {
            let batches = Policy::new().batches(2).concurrency(2);
            retry_each(batches, numbers, async |pending| self.embed(&pending).await).await
        }
    }

    struct Double;

    #[async_trait::async_trait]
    impl Embed for Double {
        async fn embed(&self, numbers: &[&u32]) -> Answers {
            let double = |number: &&u32| -> Answer { Ok(2 * **number) };
            Ok(numbers.iter().map(double).collect())
        }
    }

    let embed: Box<dyn Embed> = Box::new(Double);
    let results = tokio::spawn(async move { embed.embed_all(&[1, 2, 3]).await });
    assert_eq!(results.await.unwrap(), [Ok(2), Ok(4), Ok(6)]);
}
