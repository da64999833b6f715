//! A careful hand-written loop: the error is dropped before the sleep.

use std::time::Duration;

use super::{MAX, Model, ModelError, Page, pause};

impl Model {
    pub(super) async fn by_hand(&self, prompt: &str) -> Result<u64, ModelError> {
        let mut retries = 0;
        loop {
            let pause = match self.send(prompt).await {
                Ok(value) => return Ok(value),
                Err(error) if retries < MAX && error.is_transient() => pause(retries),
                Err(error) => return Err(error),
            };
            retries += 1;
            tokio::time::sleep(pause).await;
        }
    }

    pub(super) async fn by_hand_in_block(&self, prompt: &str) -> Result<u64, ModelError> {
        let mut retries = 0;
        loop {
            let pause = match async { self.send(prompt).await }.await {
                Ok(value) => return Ok(value),
                Err(error) if retries < MAX && error.is_transient() => pause(retries),
                Err(error) => return Err(error),
            };
            retries += 1;
            tokio::time::sleep(pause).await;
        }
    }

    // A copy of the function above, because a function that is called from two places is compiled differently.
    pub(super) async fn by_hand_with_delay(&self, prompt: &str) -> Result<u64, ModelError> {
        let mut retries = 0;
        loop {
            let pause = match async { self.send(prompt).await }.await {
                Ok(value) => return Ok(value),
                Err(error) if retries < MAX && error.is_transient() => pause(retries),
                Err(error) => return Err(error),
            };
            retries += 1;
            tokio::time::sleep(pause).await;
        }
    }

    pub(super) async fn by_hand_without_key(&self, prompt: &str) -> Result<u64, ModelError> {
        let mut retries = 0;
        loop {
            let pause = match async { self.send(prompt).await }.await {
                Ok(value) => return Ok(value),
                Err(error) if retries < MAX && error.is_transient() => pause(retries),
                Err(error) => return Err(error),
            };
            retries += 1;
            tokio::time::sleep(pause).await;
        }
    }

    pub(super) async fn by_hand_large(&self, prompt: &str) -> Result<Page, ModelError> {
        let mut retries = 0;
        loop {
            let pause = match self.send_large(prompt).await {
                Ok(value) => return Ok(value),
                Err(error) if retries < MAX && error.is_transient() => pause(retries),
                Err(error) => return Err(error),
            };
            retries += 1;
            tokio::time::sleep(pause).await;
        }
    }

    pub(super) async fn by_hand_in_block_large(&self, prompt: &str) -> Result<Page, ModelError> {
        let mut retries = 0;
        loop {
            let pause = match async { self.send_large(prompt).await }.await {
                Ok(value) => return Ok(value),
                Err(error) if retries < MAX && error.is_transient() => pause(retries),
                Err(error) => return Err(error),
            };
            retries += 1;
            tokio::time::sleep(pause).await;
        }
    }

    pub(super) fn by_hand_blocking(&self, prompt: &str) -> Result<u64, ModelError> {
        let mut retries = 0;
        loop {
            let pause = match self.answer(prompt) {
                Ok(value) => return Ok(value),
                Err(error) if retries < MAX && error.is_transient() => pause(retries),
                Err(error) => return Err(error),
            };
            retries += 1;
            std::thread::sleep(pause);
        }
    }

    pub(super) fn by_hand_in_block_blocking(&self, prompt: &str) -> Result<u64, ModelError> {
        let mut retries = 0;
        loop {
            let attempt = || -> Result<u64, ModelError> { self.answer(prompt) };
            let pause = match attempt() {
                Ok(value) => return Ok(value),
                Err(error) if retries < MAX && error.is_transient() => pause(retries),
                Err(error) => return Err(error),
            };
            retries += 1;
            std::thread::sleep(pause);
        }
    }

    pub(super) async fn by_hand_at_once(&self, prompt: &str) -> Result<u64, ModelError> {
        let mut retries = 0;
        loop {
            match self.send(prompt).await {
                Ok(value) => return Ok(value),
                Err(error) if retries < MAX && error.is_transient() => {}
                Err(error) => return Err(error),
            }
            retries += 1;
            tokio::time::sleep(Duration::ZERO).await;
        }
    }

    pub(super) async fn by_hand_in_block_at_once(&self, prompt: &str) -> Result<u64, ModelError> {
        let mut retries = 0;
        loop {
            match async { self.send(prompt).await }.await {
                Ok(value) => return Ok(value),
                Err(error) if retries < MAX && error.is_transient() => {}
                Err(error) => return Err(error),
            }
            retries += 1;
            tokio::time::sleep(Duration::ZERO).await;
        }
    }
}
