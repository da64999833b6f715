use futures::future::BoxFuture;
use retry_runtime::retry;

struct Client(String);

struct Request {
    id: u32,
}

impl Client {
    #[retry(on = |_| true)]
    fn boxed(&self) -> BoxFuture<'static, Result<u32, String>> {
        let name = self.0.clone();
        Box::pin(async move { Err(name) })
    }

    #[retry(on = |_| true)]
    fn opaque(name: &str) -> impl Future<Output = Result<u32, String>> + 'static {
        let name = name.to_owned();
        async move { Err(name) }
    }

    #[retry(on = |_| true)]
    fn unused(id: &str) -> BoxFuture<'static, Result<u32, String>> {
        let request = Request { id: 3 };
        Box::pin(async move { Err(request.id.to_string()) })
    }

    #[retry(on = |_| true)]
    fn of_statics(name: &'static str) -> BoxFuture<'static, Result<u32, String>> {
        Box::pin(async move { Err(name.to_owned()) })
    }
}

fn main() {}
