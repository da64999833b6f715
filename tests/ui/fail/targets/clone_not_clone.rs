use retry_runtime::{retry, retrying};

struct Connection;

async fn send(_: Connection) -> std::io::Result<u32> {
    Ok(1)
}

#[retry(clone(connection))]
async fn function(connection: Connection) -> std::io::Result<u32> {
    send(connection).await
}

async fn expression(connection: Connection) -> std::io::Result<u32> {
    retrying!(clone(connection), async { send(connection).await }).await
}

fn main() {}
