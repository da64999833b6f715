use std::io;

use retry_runtime::retry;

struct Request {
    messages: Vec<String>,
    sizes: [usize; 2],
}

async fn send(request: &Request) -> io::Result<()> {
    assert_ne!(request.messages.len(), request.sizes[0]);
    Ok(())
}

#[retry(max = 3)]
async fn moves(mut request: Request, all: &[String]) -> io::Result<()> {
    for message in request.messages {
        println!("{message}");
    }
    request.messages = all.to_vec();
    send(&Request { ..request.clone() }).await
}

#[retry(max = 3)]
async fn copies(mut request: Request) -> io::Result<()> {
    for size in request.sizes {
        println!("{size}");
    }
    request.sizes = [0, 1];
    request.send().await
}

#[retry(max = 3)]
async fn moves_its_own(mut request: Request, all: &[String]) -> io::Result<()> {
    let mut request = request.clone();
    for message in request.messages {
        println!("{message}");
    }
    request.messages = all.to_vec();
    request.send().await
}

#[retry(max = 3, clone(request))]
async fn owns(mut request: Request, all: &[String]) -> io::Result<()> {
    for message in request.messages {
        println!("{message}");
    }
    request.messages = all.to_vec();
    request.send().await
}

impl Clone for Request {
    fn clone(&self) -> Self {
        Self { messages: self.messages.clone(), ..*self }
    }
}

impl Request {
    async fn send(&self) -> io::Result<()> {
        send(self).await
    }
}

fn main() {}
