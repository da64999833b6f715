use std::pin::Pin;

use futures::future::BoxFuture;
use retry_runtime::{retry, retrying};

#[retry(on = |_| true)]
fn opaque() -> Result<impl Future<Output = Result<u32, String>>, String> {
    Ok(async { Ok(3) })
}

#[retry(on = |_| true)]
async fn awaited() -> std::io::Result<BoxFuture<'static, std::io::Result<u32>>> {
    Ok(Box::pin(async { Ok(3) }))
}

#[retry(on = |_| true)]
fn later() -> Pin<Box<dyn Future<Output = Result<Pin<Box<dyn Future<Output = Result<u32, String>>>>, String>>>> {
    Box::pin(async { Ok(opened()) })
}

#[retry(on = |_| true)]
async fn cannot_fail() -> Result<impl Future<Output = u32>, String> {
    Ok(async { 3 })
}

type RedisFuture<'a, T> = BoxFuture<'a, Result<T, String>>;

#[retry(on = |_| true)]
fn alias() -> Result<RedisFuture<'static, u32>, String> {
    Ok(opened())
}

struct ShutdownFuture;

#[retry(on = |_| true)]
fn seems_to_be_one() -> Result<ShutdownFuture, String> {
    Ok(ShutdownFuture)
}

#[retry(on = |_| true)]
fn parameter<Fut: Future<Output = u32>>(open: impl Fn() -> Fut) -> Result<Fut, String> {
    Ok(open())
}

#[retry(on = |_| true)]
fn in_a_tuple() -> Result<(u32, BoxFuture<'static, Result<u32, String>>), String> {
    Ok((3, opened()))
}

#[retry(on = |_| true)]
fn in_an_option() -> Result<Option<BoxFuture<'static, Result<u32, String>>>, String> {
    Ok(Some(opened()))
}

#[retry(on = |_| true)]
fn made_later() -> Result<impl IntoFuture<Output = Result<u32, String>>, String> {
    Ok(opened())
}

#[retry(on = |_| true)]
fn in_a_list() -> Result<Vec<BoxFuture<'static, Result<u32, String>>>, String> {
    Ok(vec![opened()])
}

#[retry(on = |_| true)]
fn not_pinned() -> Result<Box<dyn Future<Output = Result<u32, String>> + Unpin>, String> {
    Ok(Box::new(opened()))
}

#[retry(on = |_| true)]
fn ready() -> Result<std::future::Ready<Result<u32, String>>, String> {
    Ok(std::future::ready(Ok(3)))
}

struct Client;

#[retry(on = |_| true)]
impl Client {
    async fn method(&self) -> Result<BoxFuture<'_, Result<u32, String>>, String> {
        Ok(Box::pin(async { Ok(3) }))
    }
}

fn main() {
    let _ = retrying!(on = |_| true, async -> Result<BoxFuture<'static, Result<u32, String>>, String> {
        Ok(opened())
    });
}
