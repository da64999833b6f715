//! The future is `Send` exactly when a hand-written loop's future would be. That of a body that is not `Send` is tested
//! in `futures.rs`.

use support::prelude::*;

use crate::shapes::Busy;

struct Client {
    name: String,
}

scripted! {
    #[retry(on = |_| true)]
    async fn local_error(prompt: &str) -> Result<String, Box<dyn Error>> = {
        yield_now().await;
        Ok(String::from(prompt))
    };
    #[retry(on = |_| true, timeout = "1s")]
    async fn local_error_with_timeout(prompt: &str) -> Result<String, Box<dyn Error>> = {
        yield_now().await;
        Ok(String::from(prompt))
    };
    #[retry(on = |_| true, until = |value| value.get() > 0)]
    async fn local_value(prompt: &str) -> Result<Rc<Cell<usize>>, Box<dyn Error>> = {
        yield_now().await;
        Ok(Rc::new(Cell::new(prompt.len())))
    };
    #[retry(on = |_| true, attempt = attempt, give_up = GaveUp::into_error, observe = |_| (), repeats = 2,
        deadline = "1m")]
    async fn everything(prompt: &str) -> Result<String, Busy> = {
        yield_now().await;
        let _ = attempt.number();
        Ok(String::from(prompt))
    };
}

impl Client {
    #[retry(on = |_| true)]
    async fn generic<T: Clone + Send + Sync>(&self, prompt: T) -> Result<T, Busy> {
        yield_now().await;
        Ok(prompt.clone())
    }

    scripted! {
        #[retry(on = |_| true)]
        async fn by_ref(&self, prompt: &str) -> Result<&str, Busy> = {
            yield_now().await;
            assert!(!prompt.is_empty());
            Ok(&self.name)
        };
        #[retry(on = |_| true)]
        async fn by_mut(&mut self, prompts: &mut Vec<String>) -> Result<usize, Busy> = {
            yield_now().await;
            prompts.push(self.name.clone());
            self.name.clear();
            Ok(prompts.len())
        };
    }
}

#[tokio::test(start_paused = true)]
async fn sendable() {
    let mut client = Client {
        name: String::from("model"),
    };
    assert_eq!(is_send(local_error("hi")).await.unwrap(), "hi");
    assert_eq!(is_send(local_error_with_timeout("hi")).await.unwrap(), "hi");
    is_send(everything("hi")).await.unwrap();
    assert_eq!(local_value("hi").await.unwrap().get(), 2);
    drop(is_send(local_value("hi")));
    assert_eq!(is_send(client.by_ref("hi")).await, Ok("model"));
    assert_eq!(is_send(client.generic(7)).await, Ok(7));
    assert_eq!(is_send(client.by_mut(&mut vec![])).await, Ok(1));
}
