use std::io;

use retry_runtime::{Policy, DefaultTimer};

struct Client;

impl Client {
    async fn send(&mut self) -> io::Result<u32> {
        Ok(1)
    }
}

async fn by_classify(client: &mut Client) -> io::Result<u32> {
    Policy::new().call(async || client.send().await).await
}

async fn by_function(client: &mut Client) -> io::Result<u32> {
    let policy = Policy::new().on(|_: &io::Error| true);
    policy.call(async || client.send().await).await
}

async fn with_a_timer(client: &mut Client) -> io::Result<u32> {
    let policy = Policy::new().on(|_: &io::Error| true);
    policy.timer(DefaultTimer).call(async || client.send().await).await
}

fn main() {}
